// The AscendCL runtime of the stand-in: memory and streams behave as a device's, and mistakes do not pass.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <future>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>

#include "acl/acl.h"
#include "check.h"
#include "vnpu.h"

namespace {

constexpr aclrtMemMallocPolicy kPolicy = ACL_MEM_MALLOC_HUGE_FIRST;

// A device memory of some bytes, with the context that every call needs.
struct Memory {
    explicit Memory(size_t size) : bytes(size) {
        CHECK_EQ(aclrtSetDevice(0), ACL_SUCCESS);
        void* address = nullptr;
        CHECK_EQ(aclrtMalloc(&address, bytes, kPolicy), ACL_SUCCESS);
        device = static_cast<uint8_t*>(address);
    }
    ~Memory() { aclrtFree(device); }

    size_t bytes;
    uint8_t* device;
};

struct Stream {
    Stream() {
        CHECK_EQ(aclrtSetDevice(0), ACL_SUCCESS);
        CHECK_EQ(aclrtCreateStream(&handle), ACL_SUCCESS);
    }
    ~Stream() { aclrtDestroyStream(handle); }

    aclrtStream handle = nullptr;
};

// Holds a stream until it is opened.
struct Gate {
    explicit Gate(aclrtStream stream) {
        CHECK_EQ(vnpu::Enqueue(stream,
                               [wait = opened.get_future().share()] {
                                   wait.wait();
                                   return 0;
                               }),
                 ACL_SUCCESS);
    }
    ~Gate() { Open(); }

    void Open() {
        if (!isOpen) opened.set_value();
        isOpen = true;
    }

    std::promise<void> opened;
    bool isOpen = false;
};

int ToDevice(Memory& to, size_t offset, const void* from, size_t count) {
    return aclrtMemcpy(to.device + offset, count, from, count, ACL_MEMCPY_HOST_TO_DEVICE);
}

int ToHost(void* to, const uint8_t* from, size_t count) {
    return aclrtMemcpy(to, count, from, count, ACL_MEMCPY_DEVICE_TO_HOST);
}

// The signal that ends a child that does this; 0 when it ends by itself.
template <typename F>
int SignalOf(F f) {
    const pid_t child = fork();
    if (child == 0) {
        signal(SIGSEGV, SIG_DFL);  // a sanitizer has a handler of its own
        f();
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

std::string LastError() {
    const char* const text = aclGetRecentErrMsg();
    return text == nullptr ? "" : text;
}

bool Has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

// What the exit of a child that does this leaves in its report.
template <typename F>
std::string ExitReportOf(F f) {
    char path[] = "/tmp/exit_reportXXXXXX";
    close(mkstemp(path));
    std::fflush(stdout);  // the child flushes what it inherits
    const pid_t child = fork();
    if (child == 0) {
        setenv("VIRTUAL_NPU_EXIT_REPORT", path, 1);
        f();
        std::exit(0);
    }
    waitpid(child, nullptr, 0);
    std::stringstream text;
    text << std::ifstream(path).rdbuf();
    unlink(path);
    return text.str();
}

}  // namespace

TEST(copies_there_and_back) {
    Memory memory(1000);
    std::vector<uint8_t> sent(1000);
    for (size_t i = 0; i < sent.size(); ++i) sent[i] = static_cast<uint8_t>(i * 7);
    CHECK_EQ(ToDevice(memory, 0, sent.data(), 1000), ACL_SUCCESS);
    Memory other(1000);
    CHECK_EQ(aclrtMemcpy(other.device, 1000, memory.device, 1000, ACL_MEMCPY_DEVICE_TO_DEVICE), ACL_SUCCESS);
    std::vector<uint8_t> received(1000);
    CHECK_EQ(aclrtMemcpy(received.data(), 1000, other.device, 1000, ACL_MEMCPY_DEFAULT), ACL_SUCCESS);
    CHECK(sent == received);
    CHECK_EQ(aclrtMemset(memory.device + 10, 990, 0x5A, 3), ACL_SUCCESS);
    CHECK_EQ(ToHost(received.data(), memory.device + 9, 5), ACL_SUCCESS);
    CHECK_EQ(int(received[0]), int(sent[9]));
    CHECK_EQ(int(received[3]), 0x5A);
    CHECK_EQ(int(received[4]), int(sent[13]));
    CHECK_EQ(aclrtMemcpy(received.data(), 0, nullptr, 0, ACL_MEMCPY_HOST_TO_HOST), ACL_SUCCESS);
}

TEST(addresses_are_multiples_of_512_and_of_no_more) {
    for (const size_t bytes : {1, 31, 4096, 100000}) {
        Memory memory(bytes);
        CHECK_EQ(reinterpret_cast<uintptr_t>(memory.device) % 1024, uintptr_t{512});
    }
}

TEST(new_memory_reads_as_nan) {
    Memory memory(10 << 20);
    for (const size_t offset : {size_t{0}, size_t{4}, size_t{8 << 20}, memory.bytes - 4}) {
        float single = 0;
        CHECK_EQ(ToHost(&single, memory.device + offset, 4), ACL_SUCCESS);
        CHECK(std::isnan(single));
        uint16_t bits = 0;
        CHECK_EQ(ToHost(&bits, memory.device + offset, 2), ACL_SUCCESS);
        CHECK(std::isnan(aclFloat16ToFloat(bits)));
        CHECK((bits & 0x7F80) == 0x7F80 && (bits & 0x7F) != 0);  // as bfloat16
    }
}

TEST(host_cannot_touch_device_memory) {
    Memory memory(64);
    volatile uint8_t* const device = memory.device;
    CHECK_EQ(SignalOf([&] { return device[0]; }), SIGSEGV);
    CHECK_EQ(SignalOf([&] { device[0] = 1; }), SIGSEGV);
    CHECK_EQ(SignalOf([&] { vnpu::HostAlias(memory.device)[0] = 1; }), 0);
}

TEST(kinds_must_fit_the_addresses) {
    Memory memory(64);
    uint8_t host[64] = {};
    const auto refuse = [&](void* to, const void* from, aclrtMemcpyKind kind, const char* reason) {
        CHECK_EQ(aclrtMemcpy(to, 64, from, 64, kind), ACL_ERROR_RT_PARAM_INVALID);
        CHECK(Has(LastError(), reason));
    };
    refuse(host, host, ACL_MEMCPY_HOST_TO_DEVICE, "dst");
    refuse(host, host, ACL_MEMCPY_DEVICE_TO_HOST, "src");
    refuse(memory.device, memory.device, ACL_MEMCPY_HOST_TO_DEVICE, "is a device address where host memory");
    refuse(memory.device, memory.device, ACL_MEMCPY_DEVICE_TO_HOST, "is a device address where host memory");
    refuse(host, memory.device, ACL_MEMCPY_HOST_TO_HOST, "src");
    refuse(memory.device, host, ACL_MEMCPY_DEVICE_TO_DEVICE, "is not a device address");
    CHECK_EQ(aclrtMemset(host, 64, 0, 64), ACL_ERROR_RT_PARAM_INVALID);
}

TEST(copies_stay_inside_to_the_byte) {
    Memory memory(100);
    std::vector<uint8_t> host(200);
    CHECK_EQ(ToDevice(memory, 0, host.data(), 101), ACL_ERROR_RT_PARAM_INVALID);
    CHECK(Has(LastError(), "has 100 bytes left"));
    CHECK_EQ(ToDevice(memory, 1, host.data(), 100), ACL_ERROR_RT_PARAM_INVALID);
    CHECK_EQ(ToDevice(memory, 1, host.data(), 99), ACL_SUCCESS);
    CHECK_EQ(ToHost(host.data(), memory.device + 99, 2), ACL_ERROR_RT_PARAM_INVALID);
    CHECK_EQ(ToHost(host.data(), memory.device - 1, 1), ACL_ERROR_RT_PARAM_INVALID);
    CHECK_EQ(aclrtMemset(memory.device, 200, 0, 101), ACL_ERROR_RT_PARAM_INVALID);
    CHECK_EQ(aclrtMemcpy(memory.device, 50, host.data(), 51, ACL_MEMCPY_HOST_TO_DEVICE),
             ACL_ERROR_RT_PARAM_INVALID);
    void* pinned = nullptr;
    CHECK_EQ(aclrtMallocHost(&pinned, 10), ACL_SUCCESS);
    CHECK_EQ(ToHost(pinned, memory.device, 11), ACL_ERROR_RT_PARAM_INVALID);
    CHECK_EQ(aclrtFreeHost(pinned), ACL_SUCCESS);
}

TEST(freeing_is_checked) {
    Memory memory(100);
    CHECK_EQ(aclrtFree(memory.device + 1), ACL_ERROR_RT_PARAM_INVALID);
    CHECK_EQ(aclrtFree(nullptr), ACL_ERROR_RT_PARAM_INVALID);
    CHECK_EQ(aclrtFree(memory.device), ACL_SUCCESS);
    CHECK_EQ(aclrtFree(memory.device), ACL_ERROR_RT_PARAM_INVALID);
    CHECK(Has(LastError(), "is not allocated"));
    CHECK_EQ(aclrtFreeHost(&memory), ACL_ERROR_RT_PARAM_INVALID);
}

TEST(freed_memory_is_dead) {
    Memory memory(100);
    Stream stream;
    const uint8_t zeros[100] = {};
    CHECK_EQ(ToDevice(memory, 0, zeros, 100), ACL_SUCCESS);
    const uint8_t* const alias = vnpu::HostAlias(memory.device);
    CHECK_EQ(vnpu::LiveBytes(memory.device + 40), size_t{60});
    Gate gate(stream.handle);
    CHECK_EQ(aclrtMemsetAsync(memory.device, 100, 0, 100, stream.handle), ACL_SUCCESS);
    CHECK_EQ(aclrtFree(memory.device), ACL_SUCCESS);
    CHECK(vnpu::HostAlias(memory.device) == nullptr);
    CHECK_EQ(vnpu::LiveBytes(memory.device), size_t{0});
    CHECK(alias[0] != 0);  // poison again, for work that was already running
    uint8_t host[100];
    CHECK_EQ(ToHost(host, memory.device, 100), ACL_ERROR_RT_PARAM_INVALID);
    CHECK(Has(LastError(), "is no live device memory"));
    gate.Open();
    CHECK_EQ(aclrtSynchronizeStream(stream.handle), ACL_ERROR_RT_SYS_DMA);
    // The address does not come back for the next user of it.
    Memory next(100);
    CHECK(next.device != memory.device);
}

TEST(sizes_that_cannot_be) {
    Memory memory(1);
    void* address = nullptr;
    CHECK_EQ(aclrtMalloc(&address, 0, kPolicy), ACL_ERROR_INVALID_PARAM);
    size_t free = 0;
    size_t total = 0;
    CHECK_EQ(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total), ACL_SUCCESS);
    CHECK_EQ(aclrtMalloc(&address, free + 1, kPolicy), ACL_ERROR_RT_MEMORY_ALLOCATION);
    CHECK_EQ(aclrtMalloc(&address, SIZE_MAX, kPolicy), ACL_ERROR_RT_MEMORY_ALLOCATION);
    CHECK_EQ(aclrtMalloc(&address, free, kPolicy), ACL_SUCCESS);
    CHECK_EQ(aclrtFree(address), ACL_SUCCESS);
}

TEST(a_thread_needs_a_context) {
    Memory memory(4);
    std::thread([&] {
        void* address = nullptr;
        CHECK_EQ(aclrtMalloc(&address, 4, kPolicy), ACL_ERROR_RT_CONTEXT_NULL);
        CHECK(Has(LastError(), "aclrtSetDevice"));
        CHECK_EQ(aclrtCreateStream(&address), ACL_ERROR_RT_CONTEXT_NULL);
        CHECK_EQ(aclrtSynchronizeDevice(), ACL_ERROR_RT_CONTEXT_NULL);
        CHECK_EQ(aclrtMemcpy(memory.device, 4, &address, 4, ACL_MEMCPY_HOST_TO_DEVICE),
                 ACL_ERROR_RT_CONTEXT_NULL);
        CHECK_EQ(aclrtSetDevice(1), ACL_ERROR_RT_INVALID_DEVICEID);
    }).join();
}

TEST(a_stream_belongs_to_its_context) {
    Stream stream;
    aclrtContext first = nullptr;
    CHECK_EQ(aclrtGetCurrentContext(&first), ACL_SUCCESS);
    aclrtContext second = nullptr;
    CHECK_EQ(aclrtCreateContext(&second, 0), ACL_SUCCESS);
    CHECK_EQ(aclrtSynchronizeStream(stream.handle), ACL_ERROR_RT_STREAM_CONTEXT);
    CHECK_EQ(aclrtDestroyContext(second), ACL_SUCCESS);
    CHECK_EQ(aclrtDestroyContext(second), ACL_ERROR_RT_PARAM_INVALID);
    CHECK_EQ(aclrtSetCurrentContext(second), ACL_ERROR_RT_PARAM_INVALID);
    CHECK_EQ(aclrtSetCurrentContext(first), ACL_SUCCESS);
    CHECK_EQ(aclrtSynchronizeStream(stream.handle), ACL_SUCCESS);
}

TEST(work_runs_later_and_in_order) {
    Stream stream;
    std::vector<int> done;
    Gate gate(stream.handle);
    for (int i = 0; i < 100; ++i) {
        CHECK_EQ(vnpu::Enqueue(stream.handle,
                               [&done, i] {
                                   done.push_back(i);
                                   return 0;
                               }),
                 ACL_SUCCESS);
    }
    aclrtStreamStatus status = ACL_STREAM_STATUS_COMPLETE;
    CHECK_EQ(aclrtStreamQuery(stream.handle, &status), ACL_SUCCESS);
    CHECK_EQ(status, ACL_STREAM_STATUS_NOT_READY);
    CHECK_EQ(aclrtSynchronizeStreamWithTimeout(stream.handle, 10), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
    CHECK(done.empty());
    gate.Open();
    CHECK_EQ(aclrtSynchronizeStream(stream.handle), ACL_SUCCESS);
    CHECK_EQ(done.size(), size_t{100});
    for (int i = 0; i < 100; ++i) CHECK_EQ(done[static_cast<size_t>(i)], i);
}

TEST(a_copy_without_synchronizing_comes_too_early) {
    Stream stream;
    Memory memory(4);
    int host = 0;
    CHECK_EQ(ToDevice(memory, 0, &host, 4), ACL_SUCCESS);
    Gate gate(stream.handle);
    CHECK_EQ(aclrtMemsetAsync(memory.device, 4, 1, 4, stream.handle), ACL_SUCCESS);
    CHECK_EQ(ToHost(&host, memory.device, 4), ACL_SUCCESS);
    CHECK_EQ(host, 0);
    gate.Open();
    CHECK_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);
    CHECK_EQ(ToHost(&host, memory.device, 4), ACL_SUCCESS);
    CHECK_EQ(host, 0x01010101);
}

TEST(asynchronous_copies) {
    Stream stream;
    Memory memory(4);
    void* pinned = nullptr;
    CHECK_EQ(aclrtMallocHost(&pinned, 4), ACL_SUCCESS);
    auto* const value = static_cast<int*>(pinned);
    *value = 1;
    {
        Gate gate(stream.handle);
        CHECK_EQ(aclrtMemcpyAsync(memory.device, 4, pinned, 4, ACL_MEMCPY_HOST_TO_DEVICE, stream.handle),
                 ACL_SUCCESS);
        *value = 2;  // the copy has not read it yet
    }
    // With pageable memory the call returns when the copy is done.
    int host = 0;
    CHECK_EQ(aclrtMemcpyAsync(&host, 4, memory.device, 4, ACL_MEMCPY_DEVICE_TO_HOST, stream.handle),
             ACL_SUCCESS);
    CHECK_EQ(host, 2);
    CHECK_EQ(aclrtMemcpyAsync(&host, 4, pinned, 4, ACL_MEMCPY_HOST_TO_HOST, stream.handle),
             ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    CHECK_EQ(aclrtFreeHost(pinned), ACL_SUCCESS);
}

TEST(a_stream_waits_for_the_event_of_another) {
    Stream first;
    Stream second;
    aclrtEvent event = nullptr;
    CHECK_EQ(aclrtCreateEvent(&event), ACL_SUCCESS);
    std::atomic<int> step{0};
    Gate gate(first.handle);
    vnpu::Enqueue(first.handle, [&] { return step.exchange(1); });
    CHECK_EQ(aclrtRecordEvent(event, first.handle), ACL_SUCCESS);
    CHECK_EQ(aclrtStreamWaitEvent(second.handle, event), ACL_SUCCESS);
    vnpu::Enqueue(second.handle, [&] { return step == 1 ? 0 : 507035; });
    CHECK_EQ(aclrtSynchronizeStreamWithTimeout(second.handle, 10), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
    aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_COMPLETE;
    CHECK_EQ(aclrtQueryEventStatus(event, &status), ACL_SUCCESS);
    CHECK_EQ(status, ACL_EVENT_RECORDED_STATUS_NOT_READY);
    CHECK_EQ(aclrtSynchronizeEventWithTimeout(event, 10), ACL_ERROR_RT_EVENT_SYNC_TIMEOUT);
    uint64_t time = 0;
    CHECK_EQ(aclrtEventGetTimestamp(event, &time), ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID);
    gate.Open();
    CHECK_EQ(aclrtSynchronizeEvent(event), ACL_SUCCESS);
    CHECK_EQ(aclrtSynchronizeStream(second.handle), ACL_SUCCESS);
    CHECK_EQ(aclrtDestroyEvent(event), ACL_SUCCESS);
    CHECK_EQ(aclrtRecordEvent(event, first.handle), ACL_ERROR_RT_PARAM_INVALID);
}

TEST(events_measure_time) {
    Stream stream;
    aclrtEvent events[2];
    for (aclrtEvent& event : events) {
        CHECK_EQ(aclrtCreateEventWithFlag(&event, ACL_EVENT_TIME_LINE), ACL_SUCCESS);
        CHECK_EQ(aclrtRecordEvent(event, stream.handle), ACL_SUCCESS);
        vnpu::Enqueue(stream.handle, [] { return usleep(20000); });
    }
    CHECK_EQ(aclrtSynchronizeStream(stream.handle), ACL_SUCCESS);
    float milliseconds = 0;
    CHECK_EQ(aclrtEventElapsedTime(&milliseconds, events[0], events[1]), ACL_SUCCESS);
    CHECK(milliseconds >= 20);
    for (aclrtEvent event : events) CHECK_EQ(aclrtDestroyEvent(event), ACL_SUCCESS);
}

TEST(a_failed_task_stays_with_its_stream) {
    Stream stream;
    Stream other;
    bool ran = false;
    vnpu::Enqueue(stream.handle, [] { return ACL_ERROR_RT_VECTOR_CORE_EXCEPTION; });
    vnpu::Enqueue(stream.handle, [&ran] {
        ran = true;
        return 0;
    });
    for (int i = 0; i < 2; ++i) {
        CHECK_EQ(aclrtSynchronizeStream(stream.handle), ACL_ERROR_RT_VECTOR_CORE_EXCEPTION);
        CHECK_EQ(aclrtSynchronizeDevice(), ACL_ERROR_RT_VECTOR_CORE_EXCEPTION);
    }
    aclrtStreamStatus status = ACL_STREAM_STATUS_RESERVED;
    CHECK_EQ(aclrtStreamQuery(stream.handle, &status), ACL_ERROR_RT_VECTOR_CORE_EXCEPTION);
    CHECK(ran);
    CHECK_EQ(aclrtSynchronizeStream(other.handle), ACL_SUCCESS);
}

TEST(a_task_that_throws_fails) {
    Stream stream;
    vnpu::Enqueue(stream.handle, []() -> int { throw std::out_of_range("index 9"); });
    CHECK_EQ(aclrtSynchronizeStream(stream.handle), ACL_ERROR_RT_VECTOR_CORE_EXCEPTION);
    CHECK(Has(LastError(), "index 9"));
}

TEST(stop_on_failure_skips_the_rest) {
    aclrtContext context = nullptr;
    CHECK_EQ(aclrtCreateContext(&context, 0), ACL_SUCCESS);
    aclrtStream stream = nullptr;
    CHECK_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
    CHECK_EQ(aclrtSetStreamFailureMode(stream, ACL_STOP_ON_FAILURE), ACL_SUCCESS);
    bool ran = false;
    vnpu::Enqueue(stream, [] { return ACL_ERROR_RT_VECTOR_CORE_EXCEPTION; });
    vnpu::Enqueue(stream, [&ran] {
        ran = true;
        return 0;
    });
    CHECK_EQ(aclrtSynchronizeStream(stream), ACL_ERROR_RT_VECTOR_CORE_EXCEPTION);
    CHECK(!ran);
    CHECK_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
    CHECK_EQ(aclrtDestroyContext(context), ACL_SUCCESS);
}

TEST(the_default_stream_is_the_contexts) {
    CHECK_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    bool ran = false;
    CHECK_EQ(vnpu::Enqueue(nullptr,
                           [&ran] {
                               ran = true;
                               return 0;
                           }),
             ACL_SUCCESS);
    CHECK_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
    CHECK(ran);
    CHECK_EQ(aclrtDestroyStream(nullptr), ACL_ERROR_INVALID_PARAM);
}

TEST(a_destroyed_stream_is_refused) {
    Stream stream;
    std::atomic<bool> ran{false};
    vnpu::Enqueue(stream.handle, [&ran] {
        usleep(1000);
        ran = true;
        return 0;
    });
    CHECK_EQ(aclrtDestroyStream(stream.handle), ACL_SUCCESS);
    CHECK(ran.load());
    CHECK_EQ(aclrtSynchronizeStream(stream.handle), ACL_ERROR_RT_INVALID_HANDLE);
    CHECK_EQ(vnpu::Enqueue(stream.handle, [] { return 0; }), ACL_ERROR_RT_INVALID_HANDLE);
    CHECK(Has(LastError(), "is not a live stream"));
}

TEST(callbacks_run_on_the_thread_that_subscribed) {
    Stream stream;
    static std::thread::id ran;
    const auto callback = [](void* done) {
        ran = std::this_thread::get_id();
        *static_cast<std::atomic<bool>*>(done) = true;
    };
    std::atomic<bool> done{false};
    CHECK_EQ(aclrtLaunchCallback(callback, &done, ACL_CALLBACK_BLOCK, stream.handle),
             ACL_ERROR_RT_STREAM_NO_CB_REG);
    CHECK_EQ(aclrtProcessReport(1), ACL_ERROR_RT_THREAD_SUBSCRIBE);
    const auto self = static_cast<uint64_t>(pthread_self());
    CHECK_EQ(aclrtSubscribeReport(self, stream.handle), ACL_SUCCESS);
    CHECK_EQ(aclrtProcessReport(1), ACL_ERROR_RT_REPORT_TIMEOUT);
    CHECK_EQ(aclrtLaunchCallback(callback, &done, ACL_CALLBACK_BLOCK, stream.handle), ACL_SUCCESS);
    // Blocked until the callback has run.
    vnpu::Enqueue(stream.handle, [&done] { return done ? 0 : 507035; });
    CHECK_EQ(aclrtSynchronizeStreamWithTimeout(stream.handle, 10), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
    CHECK_EQ(aclrtProcessReport(-1), ACL_SUCCESS);
    CHECK_EQ(aclrtSynchronizeStream(stream.handle), ACL_SUCCESS);
    CHECK(ran == std::this_thread::get_id());
    CHECK_EQ(aclrtUnSubscribeReport(self, stream.handle), ACL_SUCCESS);
}

TEST(init_and_finalize_are_paired) {
    CHECK_EQ(aclFinalize(), ACL_ERROR_REPEAT_FINALIZE);
    CHECK_EQ(aclInit(nullptr), ACL_SUCCESS);
    CHECK_EQ(aclInit(nullptr), ACL_ERROR_REPEAT_INITIALIZE);
    CHECK_EQ(aclFinalize(), ACL_SUCCESS);
}

TEST(the_soc_is_that_of_the_platform) { CHECK_EQ(std::string(aclrtGetSocName()), "Ascend910B1"); }

TEST(float16_conversion) {
    CHECK_EQ(aclFloat16ToFloat(0x3C01), 1.0009765625f);
    CHECK_EQ(aclFloatToFloat16(1.0009765625f), 0x3C01);
    CHECK_EQ(aclFloatToFloat16(65520.0f), 0x7C00);
    CHECK_EQ(aclFloatToFloat16(5.9604645e-8f), 1);
}

TEST(leaks_are_counted_at_exit) {
    Memory memory(4);  // before the fork, so that the context is there
    const std::string clean = ExitReportOf([&] { aclrtFree(memory.device); });
    CHECK(Has(clean, "\"deviceAllocations\": 0, \"deviceBytes\": 0, \"hostAllocations\": 0"));
    const std::string leaking = ExitReportOf([&] {
        void* leaked = nullptr;
        aclrtMalloc(&leaked, 100, kPolicy);
        aclrtMallocHost(&leaked, 100);
        aclrtCreateEvent(&leaked);
    });
    CHECK(Has(leaking,
              "\"events\": 1, \"deviceAllocations\": 2, \"deviceBytes\": 104, \"hostAllocations\": 1"));
}
