// The AscendCL runtime: one device whose memory the host cannot read, and streams that run on threads of
// their own.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <sstream>
#include <thread>

#include "acl/acl.h"
#include "vnpu.h"

struct aclDataBuffer {
    void* data;
    size_t size;
};

namespace vnpu {
namespace {

constexpr size_t kPage = 4096;
constexpr size_t kReserved = size_t{1} << 42;   // addresses, never used twice
constexpr size_t kCapacity = size_t{16} << 30;  // bytes that can be live at once
constexpr size_t kPatternBytes = size_t{8} << 20;
constexpr size_t kLead =
    512;  // an address is a multiple of 512 and of nothing larger, as the device's may be
constexpr size_t kQuarantine = 256;   // freed allocations that read as poison before they become inaccessible
constexpr uint16_t kPoison = 0xFFC1;  // a NaN as float16, as bfloat16 and, doubled, as float32

using Task = std::function<int()>;

thread_local std::string errorMessage;

struct Context;

struct Stream {
    explicit Stream(Context* owner) : context(owner), worker([this] { Run(); }) {}

    void Push(Task task) {
        std::lock_guard<std::mutex> lock(mutex);
        tasks.push_back(std::move(task));
        changed.notify_all();
    }

    bool Idle() const { return tasks.empty() && !running; }

    // False when the time is over; negative milliseconds wait for ever.
    bool Wait(int32_t milliseconds) {
        std::unique_lock<std::mutex> lock(mutex);
        if (milliseconds < 0) {
            changed.wait(lock, [this] { return Idle(); });
            return true;
        }
        return changed.wait_for(lock, std::chrono::milliseconds(milliseconds), [this] { return Idle(); });
    }

    // The error of the stream's first failed task, whose message becomes that of the calling thread.
    int Error() {
        std::lock_guard<std::mutex> lock(mutex);
        if (error != ACL_SUCCESS) {
            SetErrorMessage(failure);
        }
        return error;
    }

    void Close() {
        {
            std::lock_guard<std::mutex> lock(mutex);
            closing = true;
            changed.notify_all();
        }
        worker.join();
    }

    void Run();

    Context* const context;
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<Task> tasks;
    bool running = false;
    bool closing = false;
    int error = ACL_SUCCESS;
    std::string failure;
    std::thread worker;
};

struct Context {
    explicit Context(int32_t deviceId) : device(deviceId), defaultStream(std::make_shared<Stream>(this)) {}

    const int32_t device;
    std::atomic<bool> stopOnFailure{false};
    std::shared_ptr<Stream> defaultStream;
};

// A task that throws fails as a kernel does that takes an exception.
int RunTask(const Task& task) {
    try {
        return task();
    } catch (const std::exception& error) {
        SetErrorMessage(error.what());
        return ACL_ERROR_RT_VECTOR_CORE_EXCEPTION;
    }
}

void Stream::Run() {
    std::unique_lock<std::mutex> lock(mutex);
    while (true) {
        changed.wait(lock, [this] { return closing || !tasks.empty(); });
        if (tasks.empty()) {
            return;
        }
        Task task = std::move(tasks.front());
        tasks.pop_front();
        if (error == ACL_SUCCESS || !context->stopOnFailure) {
            running = true;
            lock.unlock();
            const int result = RunTask(task);
            task = nullptr;
            lock.lock();
            running = false;
            if (error == ACL_SUCCESS && result != ACL_SUCCESS) {
                error = result;
                failure.swap(errorMessage);
                // Not every caller asks for the message.
                std::fprintf(stderr, "virtual NPU: error %d on a stream: %s\n", error, failure.c_str());
            }
            errorMessage.clear();
        }
        changed.notify_all();
    }
}

struct Event {
    std::mutex mutex;
    std::condition_variable changed;
    uint64_t issued = 0;  // records asked for and records that their stream has reached
    uint64_t completed = 0;
    std::chrono::steady_clock::time_point time;

    bool WaitFor(uint64_t record, int32_t milliseconds) {
        std::unique_lock<std::mutex> lock(mutex);
        const auto reached = [&] { return completed >= record; };
        if (milliseconds < 0) {
            changed.wait(lock, reached);
            return true;
        }
        return changed.wait_for(lock, std::chrono::milliseconds(milliseconds), reached);
    }
};

struct Callbacks {
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<std::function<void()>> pending;
};

// What is alive in the process. Never destroyed, since streams may still run while the process exits.
struct Machine {
    std::mutex mutex;
    bool initialized = false;
    std::unique_ptr<Context> defaultContext;
    std::map<void*, std::unique_ptr<Context>> contexts;  // made by the user
    std::map<void*, std::shared_ptr<Stream>> streams;
    std::map<void*, std::shared_ptr<Event>> events;
    std::map<void*, uint64_t> subscribers;  // thread that runs the callbacks of a stream
    std::map<uint64_t, std::shared_ptr<Callbacks>> callbacks;

    uint8_t* device = nullptr;  // what the host sees, inaccessible
    uint8_t* alias = nullptr;
    size_t used = 0;  // of the reserved addresses
    size_t liveBytes = 0;
    std::map<uintptr_t, size_t> allocations;
    std::deque<std::pair<uint8_t*, size_t>> freed;  // pages that still read as poison
    std::map<uintptr_t, size_t> pinned;
    int pattern = -1;

    static uint8_t* Reserve() {
        void* range = mmap(nullptr, kReserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        return range == MAP_FAILED ? nullptr : static_cast<uint8_t*>(range);
    }

    bool Open() {
        if (pattern >= 0) {
            return true;
        }
        device = Reserve();
        alias = Reserve();
        const int file = memfd_create("virtual_npu_poison", MFD_CLOEXEC);
        if (device == nullptr || alias == nullptr || file < 0) {
            return false;
        }
        const std::vector<uint16_t> poison(kPatternBytes / sizeof(kPoison), kPoison);
        if (write(file, poison.data(), kPatternBytes) != static_cast<ssize_t>(kPatternBytes)) {
            return false;
        }
        pattern = file;
        return true;
    }

    // Pages that read as poison until they are written, which costs memory only for what is touched.
    bool MapPoison(uint8_t* start, size_t bytes) {
        for (size_t done = 0; done < bytes; done += kPatternBytes) {
            const size_t piece = std::min(kPatternBytes, bytes - done);
            if (mmap(start + done, piece, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE,
                     pattern, 0) == MAP_FAILED) {
                return false;
            }
        }
        return true;
    }

    static void Close(uint8_t* start, size_t bytes) {
        mmap(start, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    }

    bool OnDevice(const void* address) const {
        return device != nullptr && static_cast<const uint8_t*>(address) >= device &&
               static_cast<const uint8_t*>(address) < device + kReserved;
    }

    // The allocation that holds the address, or null.
    static const std::pair<const uintptr_t, size_t>* Find(const std::map<uintptr_t, size_t>& map,
                                                          const void* address) {
        const auto key = reinterpret_cast<uintptr_t>(address);
        auto after = map.upper_bound(key);
        if (after == map.begin()) {
            return nullptr;
        }
        --after;
        return key < after->first + after->second ? &*after : nullptr;
    }
};

Machine& machine() {
    static Machine* const instance = new Machine;
    return *instance;
}

thread_local Context* currentContext = nullptr;

int Fail(int code, const std::string& message) {
    SetErrorMessage(message);
    return code;
}

std::string Hex(const void* address) {
    std::ostringstream text;
    text << address;
    return text.str();
}

size_t Pages(size_t bytes) { return (kLead + bytes + kPage - 1) / kPage * kPage; }

// The live stream behind a handle, a null handle being the current context's default stream.
int FindStream(void* handle, std::shared_ptr<Stream>& stream) {
    Machine& all = machine();
    std::lock_guard<std::mutex> lock(all.mutex);
    if (handle != nullptr) {
        const auto found = all.streams.find(handle);
        if (found == all.streams.end()) {
            return ACL_ERROR_RT_INVALID_HANDLE;
        }
        stream = found->second;
        return ACL_SUCCESS;
    }
    if (currentContext == nullptr) {
        return ACL_ERROR_RT_CONTEXT_NULL;
    }
    stream = currentContext->defaultStream;
    return ACL_SUCCESS;
}

int StreamOrFail(const char* call, void* handle, std::shared_ptr<Stream>& stream) {
    const int code = FindStream(handle, stream);
    if (code == ACL_ERROR_RT_INVALID_HANDLE) {
        return Fail(code, std::string(call) + ": " + Hex(handle) + " is not a live stream");
    }
    if (code != ACL_SUCCESS) {
        return Fail(code, std::string(call) + ": the thread has no context; call aclrtSetDevice first");
    }
    if (currentContext != nullptr && stream->context != currentContext) {
        return Fail(ACL_ERROR_RT_STREAM_CONTEXT,
                    std::string(call) + ": the stream belongs to another context");
    }
    return ACL_SUCCESS;
}

int EventOrFail(const char* call, void* handle, std::shared_ptr<Event>& event) {
    Machine& all = machine();
    std::unique_lock<std::mutex> lock(all.mutex);
    const auto found = all.events.find(handle);
    if (found == all.events.end()) {
        lock.unlock();
        return Fail(ACL_ERROR_RT_PARAM_INVALID,
                    std::string(call) + ": " + Hex(handle) + " is not a live event");
    }
    event = found->second;
    return ACL_SUCCESS;
}

int NeedContext(const char* call) {
    if (currentContext != nullptr) {
        return ACL_SUCCESS;
    }
    return Fail(ACL_ERROR_RT_CONTEXT_NULL,
                std::string(call) + ": the thread has no context; call aclrtSetDevice first");
}

std::vector<std::shared_ptr<Stream>> StreamsOf(Context* context) {
    Machine& all = machine();
    std::lock_guard<std::mutex> lock(all.mutex);
    std::vector<std::shared_ptr<Stream>> streams{context->defaultStream};
    for (const auto& entry : all.streams) {
        if (entry.second->context == context) {
            streams.push_back(entry.second);
        }
    }
    return streams;
}

// One end of a copy: where the host may really read or write `count` bytes, or null with the reason.
uint8_t* CopyEnd(const char* call, const char* name, const void* address, size_t count, bool device) {
    Machine& all = machine();
    std::unique_lock<std::mutex> lock(all.mutex);
    const bool isDevice = all.OnDevice(address);
    const auto* allocation = Machine::Find(isDevice ? all.allocations : all.pinned, address);
    std::string problem;
    if (isDevice != device) {
        problem = device ? " is not a device address" : " is a device address where host memory is expected";
    } else if (isDevice && allocation == nullptr) {
        problem = " is no live device memory";
    } else if (allocation != nullptr) {
        const size_t rest = allocation->first + allocation->second - reinterpret_cast<uintptr_t>(address);
        if (rest < count) {
            problem = " has " + std::to_string(rest) + " bytes left in its allocation, " +
                      std::to_string(count) + " are asked for";
        }
    }
    if (!problem.empty()) {
        lock.unlock();
        SetErrorMessage(std::string(call) + ": " + name + " " + Hex(address) + problem);
        return nullptr;
    }
    auto* bytes = static_cast<uint8_t*>(const_cast<void*>(address));
    return isDevice ? all.alias + (bytes - all.device) : bytes;
}

bool Pinned(const void* address) {
    Machine& all = machine();
    std::lock_guard<std::mutex> lock(all.mutex);
    return Machine::Find(all.pinned, address) != nullptr;
}

struct Copy {
    const char* call;
    void* to;
    const void* from;
    size_t count;
    bool toDevice;
    bool fromDevice;

    int Run() const {
        uint8_t* const target = CopyEnd(call, "dst", to, count, toDevice);
        const uint8_t* const source =
            target == nullptr ? nullptr : CopyEnd(call, "src", from, count, fromDevice);
        if (source == nullptr) {
            return ACL_ERROR_RT_SYS_DMA;
        }
        std::memmove(target, source, count);
        return ACL_SUCCESS;
    }
};

int MakeCopy(const char* call, void* to, size_t room, const void* from, size_t count, aclrtMemcpyKind kind,
             Copy& copy) {
    Machine& all = machine();
    if (to == nullptr || from == nullptr) {
        return Fail(ACL_ERROR_INVALID_PARAM, std::string(call) + ": dst and src must not be null");
    }
    if (count > room) {
        return Fail(ACL_ERROR_RT_PARAM_INVALID, std::string(call) + ": count " + std::to_string(count) +
                                                    " is larger than destMax " + std::to_string(room));
    }
    if (kind < ACL_MEMCPY_HOST_TO_HOST || kind > ACL_MEMCPY_DEFAULT) {
        return Fail(ACL_ERROR_INVALID_PARAM, std::string(call) + ": unknown kind " + std::to_string(kind));
    }
    const bool given = kind != ACL_MEMCPY_DEFAULT;
    const bool toDevice =
        given ? kind == ACL_MEMCPY_HOST_TO_DEVICE || kind == ACL_MEMCPY_DEVICE_TO_DEVICE : all.OnDevice(to);
    const bool fromDevice =
        given ? kind == ACL_MEMCPY_DEVICE_TO_HOST || kind == ACL_MEMCPY_DEVICE_TO_DEVICE : all.OnDevice(from);
    copy = {call, to, from, count, toDevice, fromDevice};
    const bool good = CopyEnd(call, "dst", to, count, toDevice) != nullptr &&
                      CopyEnd(call, "src", from, count, fromDevice) != nullptr;
    return good ? ACL_SUCCESS : ACL_ERROR_RT_PARAM_INVALID;
}

int SetBytes(const char* call, void* target, int32_t value, size_t count) {
    uint8_t* const bytes = CopyEnd(call, "devPtr", target, count, true);
    if (bytes == nullptr) {
        return ACL_ERROR_RT_SYS_DMA;
    }
    std::memset(bytes, value, count);
    return ACL_SUCCESS;
}

int CheckSet(const char* call, void* target, size_t room, size_t count) {
    if (target == nullptr || count > room) {
        return Fail(ACL_ERROR_INVALID_PARAM,
                    std::string(call) + ": devPtr must not be null, nor count larger than maxCount");
    }
    return CopyEnd(call, "devPtr", target, count, true) == nullptr ? ACL_ERROR_RT_PARAM_INVALID : ACL_SUCCESS;
}

int Malloc(const char* call, void** address, size_t size) {
    if (address == nullptr || size == 0) {
        return Fail(ACL_ERROR_INVALID_PARAM, std::string(call) + ": devPtr must not be null, nor size 0");
    }
    if (const int code = NeedContext(call)) {
        return code;
    }
    Machine& all = machine();
    std::unique_lock<std::mutex> lock(all.mutex);
    // A page of its own on either side keeps neighbours apart.
    const size_t pages = size > kCapacity ? 0 : Pages(size);
    const bool fits = size <= kCapacity - all.liveBytes && all.used + pages + kPage <= kReserved;
    if (!fits || !all.Open() || !all.MapPoison(all.alias + all.used + kPage, pages)) {
        lock.unlock();
        return Fail(ACL_ERROR_RT_MEMORY_ALLOCATION,
                    std::string(call) + ": no room for " + std::to_string(size) + " bytes");
    }
    uint8_t* const start = all.device + all.used + kPage + kLead;
    all.used += kPage + pages;
    all.liveBytes += size;
    all.allocations.emplace(reinterpret_cast<uintptr_t>(start), size);
    *address = start;
    return ACL_SUCCESS;
}

std::string ExitReport() {
    Machine& all = machine();
    const Objects objects = LiveObjects();
    std::lock_guard<std::mutex> lock(all.mutex);
    std::ostringstream text;
    text << "{\"tensors\": " << objects.tensors << ", \"scalars\": " << objects.scalars
         << ", \"executors\": " << objects.executors << ", \"streams\": " << all.streams.size()
         << ", \"events\": " << all.events.size() << ", \"deviceAllocations\": " << all.allocations.size()
         << ", \"deviceBytes\": " << all.liveBytes << ", \"hostAllocations\": " << all.pinned.size() << "}";
    return text.str();
}

// Says what the process left alive: in the file that VIRTUAL_NPU_EXIT_REPORT names, else on stderr when there
// is anything.
struct AtExit {
    ~AtExit() {
        const std::string report = ExitReport();
        const char* const path = std::getenv("VIRTUAL_NPU_EXIT_REPORT");
        if (path == nullptr) {
            if (report.find_first_of("123456789") != std::string::npos) {
                std::fprintf(stderr, "virtual NPU: left alive at exit: %s\n", report.c_str());
            }
            return;
        }
        if (FILE* const file = std::fopen(path, "w")) {
            std::fprintf(file, "%s\n", report.c_str());
            std::fclose(file);
        }
    }
} atExit;

}  // namespace

uint8_t* HostAlias(const void* device) {
    Machine& all = machine();
    std::lock_guard<std::mutex> lock(all.mutex);
    if (Machine::Find(all.allocations, device) == nullptr) {
        return nullptr;
    }
    return all.alias + (static_cast<const uint8_t*>(device) - all.device);
}

size_t LiveBytes(const void* device) {
    Machine& all = machine();
    std::lock_guard<std::mutex> lock(all.mutex);
    const auto* allocation = Machine::Find(all.allocations, device);
    return allocation == nullptr
               ? 0
               : allocation->first + allocation->second - reinterpret_cast<uintptr_t>(device);
}

int Enqueue(void* handle, std::function<int()> work) {
    std::shared_ptr<Stream> stream;
    if (const int code = StreamOrFail("launch", handle, stream)) {
        return code;
    }
    stream->Push(std::move(work));
    return ACL_SUCCESS;
}

void SetErrorMessage(const std::string& message) { errorMessage = message; }

}  // namespace vnpu

using namespace vnpu;

extern "C" {

aclDataBuffer* aclCreateDataBuffer(void* data, size_t size) { return new aclDataBuffer{data, size}; }

aclError aclDestroyDataBuffer(const aclDataBuffer* dataBuffer) {
    delete dataBuffer;
    return ACL_SUCCESS;
}

aclError aclUpdateDataBuffer(aclDataBuffer* dataBuffer, void* data, size_t size) {
    *dataBuffer = {data, size};
    return ACL_SUCCESS;
}

void* aclGetDataBufferAddr(const aclDataBuffer* dataBuffer) { return dataBuffer->data; }

size_t aclGetDataBufferSizeV2(const aclDataBuffer* dataBuffer) { return dataBuffer->size; }

size_t aclDataTypeSize(aclDataType dataType) {
    switch (dataType) {
        case ACL_INT8:
        case ACL_UINT8:
        case ACL_BOOL:
            return 1;
        case ACL_FLOAT16:
        case ACL_BF16:
        case ACL_INT16:
        case ACL_UINT16:
            return 2;
        case ACL_FLOAT:
        case ACL_INT32:
        case ACL_UINT32:
        case ACL_COMPLEX32:
            return 4;
        case ACL_INT64:
        case ACL_UINT64:
        case ACL_DOUBLE:
        case ACL_COMPLEX64:
            return 8;
        case ACL_COMPLEX128:
            return 16;
        default:
            return 0;
    }
}

float aclFloat16ToFloat(aclFloat16 value) {
    _Float16 half;
    std::memcpy(&half, &value, sizeof(half));
    return static_cast<float>(half);
}

aclFloat16 aclFloatToFloat16(float value) {
    const auto half = static_cast<_Float16>(value);
    aclFloat16 bits;
    std::memcpy(&bits, &half, sizeof(bits));
    return bits;
}

const char* aclrtGetSocName() {
    // "ascend910b1" reads "Ascend910B1" here.
    static thread_local std::string name;
    name = CurrentPlatform().soc;
    for (char& letter : name) {
        letter = static_cast<char>(std::toupper(letter));
    }
    const std::string family = "Ascend";
    name.replace(0, family.size(), family);
    return name.c_str();
}

aclError aclInit(const char*) {
    Machine& all = machine();
    std::unique_lock<std::mutex> lock(all.mutex);
    if (all.initialized) {
        lock.unlock();
        return Fail(ACL_ERROR_REPEAT_INITIALIZE, "aclInit: called twice");
    }
    all.initialized = true;
    return ACL_SUCCESS;
}

aclError aclFinalize() {
    Machine& all = machine();
    std::unique_lock<std::mutex> lock(all.mutex);
    if (!all.initialized) {
        lock.unlock();
        return Fail(ACL_ERROR_REPEAT_FINALIZE, "aclFinalize: aclInit was not called");
    }
    all.initialized = false;
    return ACL_SUCCESS;
}

const char* aclGetRecentErrMsg() {
    static thread_local std::string last;
    last.swap(errorMessage);
    errorMessage.clear();
    return last.empty() ? nullptr : last.c_str();
}

aclError aclrtSetDevice(int32_t deviceId) {
    if (deviceId != 0) {
        return Fail(ACL_ERROR_RT_INVALID_DEVICEID, "aclrtSetDevice: there is device 0 only");
    }
    Machine& all = machine();
    std::lock_guard<std::mutex> lock(all.mutex);
    if (all.defaultContext == nullptr) {
        all.defaultContext = std::make_unique<Context>(deviceId);
    }
    currentContext = all.defaultContext.get();
    return ACL_SUCCESS;
}

aclError aclrtResetDevice(int32_t deviceId) {
    if (deviceId != 0) {
        return Fail(ACL_ERROR_RT_INVALID_DEVICEID, "aclrtResetDevice: there is device 0 only");
    }
    Machine& all = machine();
    std::lock_guard<std::mutex> lock(all.mutex);
    if (currentContext == all.defaultContext.get()) {
        currentContext = nullptr;
    }
    return ACL_SUCCESS;
}

aclError aclrtGetDevice(int32_t* deviceId) {
    if (const int code = NeedContext("aclrtGetDevice")) {
        return code;
    }
    *deviceId = currentContext->device;
    return ACL_SUCCESS;
}

aclError aclrtGetDeviceCount(uint32_t* count) {
    *count = 1;
    return ACL_SUCCESS;
}

aclError aclrtGetRunMode(aclrtRunMode* runMode) {
    *runMode = ACL_HOST;
    return ACL_SUCCESS;
}

aclError aclrtSynchronizeDevice() { return aclrtSynchronizeDeviceWithTimeout(-1); }

aclError aclrtSynchronizeDeviceWithTimeout(int32_t timeout) {
    if (const int code = NeedContext("aclrtSynchronizeDevice")) {
        return code;
    }
    int error = ACL_SUCCESS;
    for (const auto& stream : StreamsOf(currentContext)) {
        if (!stream->Wait(timeout)) {
            return Fail(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, "aclrtSynchronizeDevice: time is over");
        }
        error = error == ACL_SUCCESS ? stream->Error() : error;
    }
    return error;
}

aclError aclrtCreateContext(aclrtContext* context, int32_t deviceId) {
    if (deviceId != 0) {
        return Fail(ACL_ERROR_RT_INVALID_DEVICEID, "aclrtCreateContext: there is device 0 only");
    }
    auto made = std::make_unique<Context>(deviceId);
    Machine& all = machine();
    std::lock_guard<std::mutex> lock(all.mutex);
    currentContext = made.get();
    *context = made.get();
    all.contexts.emplace(*context, std::move(made));
    return ACL_SUCCESS;
}

aclError aclrtDestroyContext(aclrtContext context) {
    Machine& all = machine();
    std::unique_lock<std::mutex> lock(all.mutex);
    const auto found = all.contexts.find(context);
    if (found == all.contexts.end()) {
        lock.unlock();
        return Fail(ACL_ERROR_RT_PARAM_INVALID,
                    "aclrtDestroyContext: not a context made by aclrtCreateContext");
    }
    const std::unique_ptr<Context> gone = std::move(found->second);
    all.contexts.erase(found);
    lock.unlock();
    gone->defaultStream->Close();
    if (currentContext == gone.get()) {
        currentContext = nullptr;
    }
    return ACL_SUCCESS;
}

aclError aclrtSetCurrentContext(aclrtContext context) {
    Machine& all = machine();
    std::unique_lock<std::mutex> lock(all.mutex);
    if (context != all.defaultContext.get() && all.contexts.count(context) == 0) {
        lock.unlock();
        return Fail(ACL_ERROR_RT_PARAM_INVALID, "aclrtSetCurrentContext: not a live context");
    }
    currentContext = static_cast<Context*>(context);
    return ACL_SUCCESS;
}

aclError aclrtGetCurrentContext(aclrtContext* context) {
    if (const int code = NeedContext("aclrtGetCurrentContext")) {
        return code;
    }
    *context = currentContext;
    return ACL_SUCCESS;
}

aclError aclrtCreateStream(aclrtStream* stream) { return aclrtCreateStreamWithConfig(stream, 0, 0); }

aclError aclrtCreateStreamWithConfig(aclrtStream* stream, uint32_t, uint32_t) {
    if (const int code = NeedContext("aclrtCreateStream")) {
        return code;
    }
    auto made = std::make_shared<Stream>(currentContext);
    Machine& all = machine();
    std::lock_guard<std::mutex> lock(all.mutex);
    *stream = made.get();
    all.streams.emplace(*stream, std::move(made));
    return ACL_SUCCESS;
}

aclError aclrtDestroyStream(aclrtStream stream) {
    std::shared_ptr<Stream> gone;
    if (stream == nullptr) {
        return Fail(ACL_ERROR_INVALID_PARAM, "aclrtDestroyStream: the default stream cannot be destroyed");
    }
    if (const int code = StreamOrFail("aclrtDestroyStream", stream, gone)) {
        return code;
    }
    Machine& all = machine();
    {
        std::lock_guard<std::mutex> lock(all.mutex);
        all.streams.erase(stream);
        all.subscribers.erase(stream);
    }
    gone->Close();
    return ACL_SUCCESS;
}

aclError aclrtDestroyStreamForce(aclrtStream stream) { return aclrtDestroyStream(stream); }

aclError aclrtSynchronizeStream(aclrtStream stream) { return aclrtSynchronizeStreamWithTimeout(stream, -1); }

aclError aclrtSynchronizeStreamWithTimeout(aclrtStream stream, int32_t timeout) {
    std::shared_ptr<Stream> live;
    if (const int code = StreamOrFail("aclrtSynchronizeStream", stream, live)) {
        return code;
    }
    if (!live->Wait(timeout)) {
        return Fail(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, "aclrtSynchronizeStream: time is over");
    }
    return live->Error();
}

aclError aclrtStreamQuery(aclrtStream stream, aclrtStreamStatus* status) {
    std::shared_ptr<Stream> live;
    if (const int code = StreamOrFail("aclrtStreamQuery", stream, live)) {
        return code;
    }
    *status = live->Wait(0) ? ACL_STREAM_STATUS_COMPLETE : ACL_STREAM_STATUS_NOT_READY;
    return live->Error();
}

aclError aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event) {
    std::shared_ptr<Stream> live;
    std::shared_ptr<Event> awaited;
    if (const int code = StreamOrFail("aclrtStreamWaitEvent", stream, live)) {
        return code;
    }
    if (const int code = EventOrFail("aclrtStreamWaitEvent", event, awaited)) {
        return code;
    }
    std::lock_guard<std::mutex> lock(awaited->mutex);
    live->Push([awaited, record = awaited->issued] {
        awaited->WaitFor(record, -1);
        return ACL_SUCCESS;
    });
    return ACL_SUCCESS;
}

aclError aclrtSetStreamFailureMode(aclrtStream stream, uint64_t mode) {
    std::shared_ptr<Stream> live;
    if (const int code = StreamOrFail("aclrtSetStreamFailureMode", stream, live)) {
        return code;
    }
    if (mode > ACL_STOP_ON_FAILURE) {
        return Fail(ACL_ERROR_INVALID_PARAM,
                    "aclrtSetStreamFailureMode: unknown mode " + std::to_string(mode));
    }
    live->context->stopOnFailure = mode == ACL_STOP_ON_FAILURE;
    return ACL_SUCCESS;
}

aclError aclrtCreateEvent(aclrtEvent* event) { return aclrtCreateEventExWithFlag(event, ACL_EVENT_SYNC); }

aclError aclrtCreateEventWithFlag(aclrtEvent* event, uint32_t flag) {
    return aclrtCreateEventExWithFlag(event, flag);
}

aclError aclrtCreateEventExWithFlag(aclrtEvent* event, uint32_t) {
    if (const int code = NeedContext("aclrtCreateEvent")) {
        return code;
    }
    auto made = std::make_shared<Event>();
    Machine& all = machine();
    std::lock_guard<std::mutex> lock(all.mutex);
    *event = made.get();
    all.events.emplace(*event, std::move(made));
    return ACL_SUCCESS;
}

aclError aclrtDestroyEvent(aclrtEvent event) {
    std::shared_ptr<Event> gone;
    if (const int code = EventOrFail("aclrtDestroyEvent", event, gone)) {
        return code;
    }
    Machine& all = machine();
    std::lock_guard<std::mutex> lock(all.mutex);
    all.events.erase(event);
    return ACL_SUCCESS;
}

aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream) {
    std::shared_ptr<Stream> live;
    std::shared_ptr<Event> recorded;
    if (const int code = StreamOrFail("aclrtRecordEvent", stream, live)) {
        return code;
    }
    if (const int code = EventOrFail("aclrtRecordEvent", event, recorded)) {
        return code;
    }
    std::lock_guard<std::mutex> lock(recorded->mutex);
    live->Push([recorded, record = ++recorded->issued] {
        std::lock_guard<std::mutex> reached(recorded->mutex);
        recorded->completed = std::max(recorded->completed, record);
        recorded->time = std::chrono::steady_clock::now();
        recorded->changed.notify_all();
        return ACL_SUCCESS;
    });
    return ACL_SUCCESS;
}

aclError aclrtQueryEventStatus(aclrtEvent event, aclrtEventRecordedStatus* status) {
    std::shared_ptr<Event> live;
    if (const int code = EventOrFail("aclrtQueryEventStatus", event, live)) {
        return code;
    }
    std::lock_guard<std::mutex> lock(live->mutex);
    *status = live->completed == live->issued ? ACL_EVENT_RECORDED_STATUS_COMPLETE
                                              : ACL_EVENT_RECORDED_STATUS_NOT_READY;
    return ACL_SUCCESS;
}

aclError aclrtSynchronizeEvent(aclrtEvent event) { return aclrtSynchronizeEventWithTimeout(event, -1); }

aclError aclrtSynchronizeEventWithTimeout(aclrtEvent event, int32_t timeout) {
    std::shared_ptr<Event> live;
    if (const int code = EventOrFail("aclrtSynchronizeEvent", event, live)) {
        return code;
    }
    uint64_t record = 0;
    {
        std::lock_guard<std::mutex> lock(live->mutex);
        record = live->issued;
    }
    if (!live->WaitFor(record, timeout)) {
        return Fail(ACL_ERROR_RT_EVENT_SYNC_TIMEOUT, "aclrtSynchronizeEvent: time is over");
    }
    return ACL_SUCCESS;
}

aclError aclrtEventElapsedTime(float* ms, aclrtEvent startEvent, aclrtEvent endEvent) {
    uint64_t start = 0;
    uint64_t end = 0;
    if (const int code = aclrtEventGetTimestamp(startEvent, &start)) {
        return code;
    }
    if (const int code = aclrtEventGetTimestamp(endEvent, &end)) {
        return code;
    }
    *ms = static_cast<float>(static_cast<double>(end) - static_cast<double>(start)) / 1000;
    return ACL_SUCCESS;
}

aclError aclrtEventGetTimestamp(aclrtEvent event, uint64_t* timestamp) {
    std::shared_ptr<Event> live;
    if (const int code = EventOrFail("aclrtEventGetTimestamp", event, live)) {
        return code;
    }
    std::unique_lock<std::mutex> lock(live->mutex);
    if (live->issued == 0 || live->completed != live->issued) {
        lock.unlock();
        return Fail(ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID,
                    "aclrtEventGetTimestamp: the record is not complete");
    }
    *timestamp = static_cast<uint64_t>(
        std::chrono::duration_cast<std::chrono::microseconds>(live->time.time_since_epoch()).count());
    return ACL_SUCCESS;
}

aclError aclrtSubscribeReport(uint64_t threadId, aclrtStream stream) {
    std::shared_ptr<Stream> live;
    if (const int code = StreamOrFail("aclrtSubscribeReport", stream, live)) {
        return code;
    }
    Machine& all = machine();
    std::lock_guard<std::mutex> lock(all.mutex);
    all.subscribers[live.get()] = threadId;
    all.callbacks.emplace(threadId, std::make_shared<Callbacks>());
    return ACL_SUCCESS;
}

aclError aclrtUnSubscribeReport(uint64_t, aclrtStream stream) {
    std::shared_ptr<Stream> live;
    if (const int code = StreamOrFail("aclrtUnSubscribeReport", stream, live)) {
        return code;
    }
    Machine& all = machine();
    std::lock_guard<std::mutex> lock(all.mutex);
    all.subscribers.erase(live.get());
    return ACL_SUCCESS;
}

aclError aclrtLaunchCallback(aclrtCallback fn, void* userData, aclrtCallbackBlockType blockType,
                             aclrtStream stream) {
    std::shared_ptr<Stream> live;
    if (const int code = StreamOrFail("aclrtLaunchCallback", stream, live)) {
        return code;
    }
    Machine& all = machine();
    std::unique_lock<std::mutex> lock(all.mutex);
    const auto found = all.subscribers.find(live.get());
    if (found == all.subscribers.end()) {
        lock.unlock();
        return Fail(ACL_ERROR_RT_STREAM_NO_CB_REG, "aclrtLaunchCallback: no thread subscribed to the stream");
    }
    live->Push([queue = all.callbacks[found->second], fn, userData, blockType] {
        std::unique_lock<std::mutex> inner(queue->mutex);
        const auto done = std::make_shared<bool>(false);
        queue->pending.push_back([queue, fn, userData, done] {
            fn(userData);
            std::lock_guard<std::mutex> finished(queue->mutex);
            *done = true;
            queue->changed.notify_all();
        });
        queue->changed.notify_all();
        if (blockType == ACL_CALLBACK_BLOCK) {
            queue->changed.wait(inner, [&] { return *done; });
        }
        return ACL_SUCCESS;
    });
    return ACL_SUCCESS;
}

aclError aclrtProcessReport(int32_t timeout) {
    Machine& all = machine();
    std::shared_ptr<Callbacks> queue;
    {
        std::lock_guard<std::mutex> lock(all.mutex);
        const auto found = all.callbacks.find(static_cast<uint64_t>(pthread_self()));
        if (found != all.callbacks.end()) {
            queue = found->second;
        }
    }
    if (queue == nullptr) {
        return Fail(ACL_ERROR_RT_THREAD_SUBSCRIBE, "aclrtProcessReport: the thread subscribed to no stream");
    }
    std::function<void()> callback;
    {
        std::unique_lock<std::mutex> lock(queue->mutex);
        const auto any = [&] { return !queue->pending.empty(); };
        if (timeout < 0) {
            queue->changed.wait(lock, any);
        } else if (!queue->changed.wait_for(lock, std::chrono::milliseconds(timeout), any)) {
            return ACL_ERROR_RT_REPORT_TIMEOUT;
        }
        callback = std::move(queue->pending.front());
        queue->pending.pop_front();
    }
    callback();
    return ACL_SUCCESS;
}

aclError aclrtMalloc(void** devPtr, size_t size, aclrtMemMallocPolicy) {
    return Malloc("aclrtMalloc", devPtr, size);
}

aclError aclrtMallocAlign32(void** devPtr, size_t size, aclrtMemMallocPolicy) {
    return Malloc("aclrtMallocAlign32", devPtr, size);
}

aclError aclrtFree(void* devPtr) {
    if (const int code = NeedContext("aclrtFree")) {
        return code;
    }
    Machine& all = machine();
    std::unique_lock<std::mutex> lock(all.mutex);
    const auto found = all.allocations.find(reinterpret_cast<uintptr_t>(devPtr));
    if (found == all.allocations.end()) {
        lock.unlock();
        return Fail(ACL_ERROR_RT_PARAM_INVALID, "aclrtFree: " + Hex(devPtr) + " is not allocated");
    }
    // Work that still runs reads poison; work that starts later finds the address dead.
    uint8_t* const start = all.alias + (static_cast<uint8_t*>(devPtr) - all.device) - kLead;
    const size_t pages = Pages(found->second);
    all.liveBytes -= found->second;
    all.allocations.erase(found);
    all.MapPoison(start, pages);
    all.freed.emplace_back(start, pages);
    if (all.freed.size() > kQuarantine) {
        Machine::Close(all.freed.front().first, all.freed.front().second);
        all.freed.pop_front();
    }
    return ACL_SUCCESS;
}

aclError aclrtMallocHost(void** hostPtr, size_t size) {
    if (hostPtr == nullptr || size == 0) {
        return Fail(ACL_ERROR_INVALID_PARAM, "aclrtMallocHost: hostPtr must not be null, nor size 0");
    }
    if (const int code = NeedContext("aclrtMallocHost")) {
        return code;
    }
    *hostPtr = std::aligned_alloc(kPage, (size + kPage - 1) / kPage * kPage);
    if (*hostPtr == nullptr) {
        return Fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "aclrtMallocHost: no room");
    }
    Machine& all = machine();
    std::lock_guard<std::mutex> lock(all.mutex);
    all.pinned.emplace(reinterpret_cast<uintptr_t>(*hostPtr), size);
    return ACL_SUCCESS;
}

aclError aclrtFreeHost(void* hostPtr) {
    Machine& all = machine();
    std::unique_lock<std::mutex> lock(all.mutex);
    if (all.pinned.erase(reinterpret_cast<uintptr_t>(hostPtr)) == 0) {
        lock.unlock();
        return Fail(ACL_ERROR_RT_PARAM_INVALID, "aclrtFreeHost: " + Hex(hostPtr) + " is not allocated");
    }
    std::free(hostPtr);
    return ACL_SUCCESS;
}

aclError aclrtMemcpy(void* dst, size_t destMax, const void* src, size_t count, aclrtMemcpyKind kind) {
    if (count == 0) {
        return ACL_SUCCESS;
    }
    if (const int code = NeedContext("aclrtMemcpy")) {
        return code;
    }
    Copy copy;
    const int code = MakeCopy("aclrtMemcpy", dst, destMax, src, count, kind, copy);
    return code == ACL_SUCCESS ? copy.Run() : code;
}

aclError aclrtMemcpyAsync(void* dst, size_t destMax, const void* src, size_t count, aclrtMemcpyKind kind,
                          aclrtStream stream) {
    if (count == 0) {
        return ACL_SUCCESS;
    }
    std::shared_ptr<Stream> live;
    if (const int code = StreamOrFail("aclrtMemcpyAsync", stream, live)) {
        return code;
    }
    Copy copy;
    if (const int code = MakeCopy("aclrtMemcpyAsync", dst, destMax, src, count, kind, copy)) {
        return code;
    }
    if (!copy.toDevice && !copy.fromDevice) {
        return Fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "aclrtMemcpyAsync: cannot copy from host to host");
    }
    live->Push([copy] { return copy.Run(); });
    // With pageable host memory the call returns after the copy.
    const bool pageable = (!copy.toDevice && !Pinned(dst)) || (!copy.fromDevice && !Pinned(src));
    if (pageable) {
        live->Wait(-1);
    }
    return ACL_SUCCESS;
}

aclError aclrtMemset(void* devPtr, size_t maxCount, int32_t value, size_t count) {
    if (count == 0) {
        return ACL_SUCCESS;
    }
    const int code = CheckSet("aclrtMemset", devPtr, maxCount, count);
    return code == ACL_SUCCESS ? SetBytes("aclrtMemset", devPtr, value, count) : code;
}

aclError aclrtMemsetAsync(void* devPtr, size_t maxCount, int32_t value, size_t count, aclrtStream stream) {
    if (count == 0) {
        return ACL_SUCCESS;
    }
    std::shared_ptr<Stream> live;
    if (const int code = StreamOrFail("aclrtMemsetAsync", stream, live)) {
        return code;
    }
    if (const int code = CheckSet("aclrtMemsetAsync", devPtr, maxCount, count)) {
        return code;
    }
    live->Push([=] { return SetBytes("aclrtMemsetAsync", devPtr, value, count); });
    return ACL_SUCCESS;
}

aclError aclrtGetMemInfo(aclrtMemAttr, size_t* free, size_t* total) {
    Machine& all = machine();
    std::lock_guard<std::mutex> lock(all.mutex);
    *free = kCapacity - all.liveBytes;
    *total = kCapacity;
    return ACL_SUCCESS;
}

}  // extern "C"
