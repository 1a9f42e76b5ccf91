// The virtual vector core: its unified buffer, pipes, flags and queues, and the rules under which a kernel
// runs.
#include "engine.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <random>

#include "ascendc/engine.h"
#include "virtual_npu.h"
#include "vnpu.h"

namespace vnpu {
namespace {

using AscendC::CMPMODE;
using AscendC::HardEvent;
using AscendC::RoundMode;
using AscendC::SELMODE;
using AscendC::TPosition;
using device::Copy;
using device::GmTensor;
using device::Type;
using device::UbTensor;

constexpr int kVectorCoreException = 507035;
constexpr uint32_t kUbBytes = 196608;      // of a vector core
constexpr uint32_t kSystemBytes = 256;     // of these, not reported by the platform
constexpr uint32_t kSelectReserve = 8192;  // at the end of UB
constexpr uint32_t kBlock = 32;
constexpr uint32_t kRepeat = 256;
constexpr uint32_t kMaxTilingBytes = 2048;
constexpr int32_t kEventIds = 8;             // per kind of event
constexpr uint32_t kMaxBuffers = 64;         // of a pipe
constexpr uint32_t kMaxPositionBuffers = 8;  // of all queues at one position
constexpr uint8_t kPoison = 0xC7;
constexpr uint32_t kPipes = 4;

enum class Rule : uint8_t {
    KernelLoad,
    KernelType,
    Arguments,
    BlockDim,
    TilingKey,
    TilingSize,
    TilingFetch,
    PipeLife,
    BufferInit,
    BufferCount,
    PositionBuffers,
    UbCapacity,
    SelectReserve,
    BufferGet,
    Position,
    UbAlignment,
    TensorBounds,
    QueueAlloc,
    QueueDepth,
    QueueEmpty,
    QueueState,
    QueueFree,
    QueueAccess,
    QueueLeak,
    EventIds,
    FlagRange,
    FlagDouble,
    FlagWait,
    FlagLeak,
    SyncRaw,
    SyncWar,
    SyncWaw,
    UbUninitialised,
    CopyWrap,
    CopyGranularity,
    CopyParams,
    GmAlignment,
    GmBounds,
    GmTensorBounds,
    GmReadOnly,
    GmWrittenTwice,
    GmUnwritten,
    GmReadUnwritten,
    GmReadWritten,
    GmSync,
    CompareGranularity,
    InstructionDtype,
    CastMode,
    SelectMode,
    OperandOverlap,
    ElementCount,
    Count,
};

constexpr std::array<const char*, static_cast<size_t>(Rule::Count)> kRuleNames = {
    "kernel-load",       "kernel-type",
    "arguments",         "block-dim",
    "tiling-key",        "tiling-size",
    "tiling-fetch",      "pipe-life",
    "buffer-init",       "buffer-count",
    "position-buffers",  "ub-capacity",
    "select-reserve",    "buffer-get",
    "position",          "ub-alignment",
    "tensor-bounds",     "queue-alloc",
    "queue-depth",       "queue-empty",
    "queue-state",       "queue-free",
    "queue-access",      "queue-leak",
    "event-ids",         "flag-range",
    "flag-double",       "flag-wait",
    "flag-leak",         "sync-raw",
    "sync-war",          "sync-waw",
    "ub-uninitialised",  "copy-wrap",
    "copy-granularity",  "copy-params",
    "gm-alignment",      "gm-bounds",
    "gm-tensor-bounds",  "gm-read-only",
    "gm-written-twice",  "gm-unwritten",
    "gm-read-unwritten", "gm-read-written",
    "gm-sync",           "compare-granularity",
    "instruction-dtype", "cast-mode",
    "select-mode",       "operand-overlap",
    "element-count",
};

struct Ends {
    pipe_t from;
    pipe_t to;
};
// In the order of HardEvent.
constexpr Ends kEvents[] = {
    {PIPE_MTE2, PIPE_V}, {PIPE_V, PIPE_MTE2},    {PIPE_MTE3, PIPE_V},    {PIPE_V, PIPE_MTE3},
    {PIPE_V, PIPE_V},    {PIPE_MTE3, PIPE_MTE2}, {PIPE_MTE2, PIPE_MTE3}, {PIPE_S, PIPE_V},
    {PIPE_V, PIPE_S},    {PIPE_S, PIPE_MTE2},    {PIPE_MTE2, PIPE_S},    {PIPE_S, PIPE_MTE3},
    {PIPE_MTE3, PIPE_S},
};
constexpr const char* kEventNames[] = {"MTE2_V",    "V_MTE2",    "MTE3_V", "V_MTE3", "V_V",
                                       "MTE3_MTE2", "MTE2_MTE3", "S_V",    "V_S",    "S_MTE2",
                                       "MTE2_S",    "S_MTE3",    "MTE3_S"};
constexpr const char* kPipeNames[] = {"S", "V", "MTE2", "MTE3"};
constexpr size_t kEventKinds = static_cast<size_t>(HardEvent::MAX);

constexpr uint32_t ElementBytes(Type type) {
    switch (type) {
        case Type::Int8:
        case Type::UInt8:
            return 1;
        case Type::Int16:
        case Type::UInt16:
        case Type::Half:
        case Type::BFloat16:
            return 2;
        case Type::Int32:
        case Type::UInt32:
        case Type::Float:
            return 4;
        default:
            return 8;
    }
}

constexpr uint64_t AlignUp(uint64_t value, uint64_t step) { return (value + step - 1) / step * step; }

__attribute__((format(printf, 1, 2))) std::string Format(const char* format, ...) {
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    return text;
}

// Leaves the kernel after a violation.
struct Stopped {};

// A range of global memory that the launch has written, by its first device address.
struct Written {
    uint64_t end;
    uint32_t core;
    pipe_t pipe;
    uint32_t sequence;
};

// One launch, over all its cores.
struct Run {
    explicit Run(const Launch& description) : launch(description) {
        record.kernel = launch.kernel;
        record.opType = launch.opType;
        record.tilingKey = launch.tilingKey;
        record.blockDim = launch.blockDim;
        record.tilingBytes = static_cast<uint32_t>(launch.tilingData.size());
        record.ubBytes = std::min<uint64_t>(CurrentPlatform().ubBytes, kUbBytes - kSystemBytes);
        selectScratch =
            static_cast<uint32_t>((record.ubBytes + kSystemBytes - kSelectReserve) / kBlock * kBlock);
    }

    [[noreturn]] void Fail(Rule rule, const char* call, int64_t core, const std::string& detail) {
        record.violations.push_back({kRuleNames[static_cast<size_t>(rule)], call, core, detail});
        throw Stopped();
    }

    const Launch& launch;
    LaunchRecord record;
    std::map<uint64_t, Written> written;
    std::vector<uint8_t> tiling;  // what the kernel gets: whole 32-byte blocks, poisoned behind the data
    uint32_t selectScratch;       // first byte of Select's reserve
};

enum class State : uint8_t { Free, Occupied, Enqueued, Dequeued };

struct Buffer {
    uint32_t address;
    uint32_t bytes;
    TPosition position;
    int32_t queue = -1;  // -1: a TBuf
    State state = State::Free;
    uint32_t generation = 0;
    int8_t enqueueEvent = -1;
    int8_t freeEvent = -1;
};

struct Queue {
    TPosition source;
    TPosition destination;
    int32_t depth;
    int32_t first;  // its buffers: [first, first + count)
    int32_t count;
    int32_t next = 0;
    std::vector<int32_t> enqueued;

    bool Inbound() const { return source == TPosition::GM; }
    bool Outbound() const { return destination == TPosition::GM; }
    HardEvent EnqueueEvent() const {
        return Inbound() ? HardEvent::MTE2_V : Outbound() ? HardEvent::V_MTE3 : HardEvent::MTE2_MTE3;
    }
    HardEvent FreeEvent() const {
        return Inbound() ? HardEvent::V_MTE2 : Outbound() ? HardEvent::MTE3_V : HardEvent::MTE3_MTE2;
    }
};

// How many instructions of each pipe are known to be complete.
using Clock = std::array<uint32_t, kPipes>;

void Join(Clock& clock, const Clock& other) {
    for (uint32_t pipe = 0; pipe < kPipes; ++pipe) clock[pipe] = std::max(clock[pipe], other[pipe]);
}

struct Flag {
    bool set = false;
    Clock clock = {};
};

struct Operand {
    const char* name;
    const UbTensor& tensor;
    uint64_t bytes;
};

class Core {
public:
    Core()
        : data_(static_cast<uint8_t*>(::operator new(kUbBytes, std::align_val_t{64}))),
          valid_(kUbBytes, 0),
          dirty_(kUbBytes),
          reads_(kPipes, std::vector<uint32_t>(kUbBytes / kBlock, 0)),
          writes_(kPipes, std::vector<uint32_t>(kUbBytes / kBlock, 0)) {}
    ~Core() { ::operator delete(data_, std::align_val_t{64}); }
    Core(const Core&) = delete;
    Core& operator=(const Core&) = delete;

    void Start(Run& run, uint32_t index) {
        run_ = &run;
        index_ = index;
        Forget(0, dirty_);
        Forget(run.selectScratch, kUbBytes);
        dirty_ = 0;
        issued_ = {};
        known_ = {};
        for (auto& kind : flags_) kind.fill(Flag());
        reserved_ = {};
        buffers_.clear();
        queues_.clear();
        pipeAlive_ = false;
        pipeEnd_ = 0;
        kernelTypeGiven_ = false;
        run.record.cores.emplace_back();
        counters_ = &run.record.cores.back();
        counters_->core = index;
    }

    void Finish() {
        CheckLeaks("end of the kernel");
        for (size_t kind = 0; kind < kEventKinds; ++kind) {
            for (int32_t id = 0; id < kEventIds; ++id) {
                if (flags_[kind][id].set) {
                    Fail(Rule::FlagLeak, "end of the kernel",
                         Format("flag %s id %d is still set", kEventNames[kind], id));
                }
            }
        }
        if (!kernelTypeGiven_) {
            Fail(Rule::KernelType, "end of the kernel",
                 "the kernel's type was not given: it must be AIV only");
        }
    }

    [[noreturn]] void Fail(Rule rule, const char* call, const std::string& detail) {
        run_->Fail(rule, call, index_, detail);
    }

    uint32_t Index() const { return index_; }
    Run& CurrentRun() { return *run_; }

    // --- kernel entry

    void SetKernelType(KernelMetaType type) {
        if (type != KERNEL_TYPE_AIV_ONLY) {
            Fail(
                Rule::KernelType, "KERNEL_TASK_TYPE_DEFAULT",
                Format("type %d: only vector cores (KERNEL_TYPE_AIV_ONLY) run here", static_cast<int>(type)));
        }
        kernelTypeGiven_ = true;
    }

    void FetchTiling(void* destination, size_t bytes, const uint8_t* tiling) {
        const char* call = "GET_TILING_DATA";
        const size_t given = run_->launch.tilingData.size();
        if (tiling != run_->tiling.data()) {
            Fail(Rule::TilingFetch, call, "the argument is not the kernel's tiling parameter");
        }
        if (bytes != given) {
            Fail(Rule::TilingSize, call,
                 Format("the struct has %zu bytes, the tiling data %zu", bytes, given));
        }
        // On the device the data passes through the first bytes of UB, whatever lies there.
        const uint32_t passing = static_cast<uint32_t>(AlignUp(bytes, kBlock));
        for (uint32_t at = 0; at < passing; ++at) {
            if (valid_[at] != 0) {
                Fail(Rule::TilingFetch, call,
                     Format("byte %u of UB holds data that the fetch would overwrite", at));
            }
        }
        SetFlag(HardEvent::MTE2_S, 0);
        WaitFlag(HardEvent::MTE2_S, 0);
        std::memcpy(data_, run_->tiling.data(), passing);
        std::memcpy(destination, data_, bytes);
        dirty_ = std::max(dirty_, passing);
        counters_->tilingBytes += passing;
        Barrier(PIPE_ALL);
    }

    // --- pipe, queues, buffers

    void PipeConstruct() {
        if (pipeAlive_) Fail(Rule::PipeLife, "TPipe::TPipe", "another TPipe is alive");
        CheckLeaks("TPipe::TPipe");
        pipeAlive_ = true;
        pipeEnd_ = 0;
        buffers_.clear();
        queues_.clear();
        reserved_ = {};
    }

    void PipeDestroy() {
        for (Buffer& buffer : buffers_) {
            if (buffer.state == State::Free && buffer.freeEvent >= 0) {
                const size_t kind = static_cast<size_t>(queues_[buffer.queue].FreeEvent());
                flags_[kind][buffer.freeEvent].set = false;
            }
        }
        Barrier(PIPE_ALL);
        pipeAlive_ = false;
    }

    int32_t QueueInit(TPosition source, TPosition destination, int32_t depth, uint8_t num, uint32_t bytes) {
        const char* call = "TPipe::InitBuffer(queue)";
        if (num == 0) Fail(Rule::BufferInit, call, "num is 0");
        Queue queue = {source, destination, depth, static_cast<int32_t>(buffers_.size()), num, 0, {}};
        const TPosition position = queue.Inbound() ? destination : source;
        uint32_t atPosition = num;
        for (const Buffer& buffer : buffers_) atPosition += buffer.queue >= 0 && buffer.position == position;
        if (atPosition > kMaxPositionBuffers) {
            Fail(Rule::PositionBuffers, call,
                 Format("%u queue buffers at one position, which has %u event ids", atPosition,
                        kMaxPositionBuffers));
        }
        for (int32_t i = 0; i < num; ++i)
            AddBuffer(call, position, static_cast<int32_t>(queues_.size()), bytes);
        queues_.push_back(queue);
        return static_cast<int32_t>(queues_.size()) - 1;
    }

    int32_t BufferInit(TPosition position, uint32_t bytes) {
        return AddBuffer("TPipe::InitBuffer(TBuf)", position, -1, bytes);
    }

    UbTensor QueueAlloc(int32_t id) {
        const char* call = "AllocTensor";
        Queue& queue = FindQueue(call, id);
        for (int32_t tried = 0; tried < queue.count; ++tried) {
            const int32_t index = queue.first + queue.next;
            queue.next = (queue.next + 1) % queue.count;
            Buffer& buffer = buffers_[index];
            if (buffer.state != State::Free) continue;
            buffer.state = State::Occupied;
            buffer.generation = ++generation_;
            WaitAndRelease(queue.FreeEvent(), buffer.freeEvent);
            return Tensor(index);
        }
        Fail(Rule::QueueAlloc, call,
             Format("none of the queue's %d buffers is free: the core would wait forever", queue.count));
    }

    void QueueEnQue(int32_t id, const UbTensor& tensor) {
        const char* call = "EnQue";
        Queue& queue = FindQueue(call, id);
        Buffer& buffer = QueueBuffer(Rule::QueueState, call, queue, tensor);
        if (static_cast<int32_t>(queue.enqueued.size()) >= queue.depth) {
            Fail(Rule::QueueDepth, call, Format("the queue of depth %d is full", queue.depth));
        }
        if (buffer.state == State::Enqueued)
            Fail(Rule::QueueState, call, "the tensor is in the queue already");
        buffer.state = State::Enqueued;
        buffer.enqueueEvent = AllocEvent(queue.EnqueueEvent());
        SetFlag(queue.EnqueueEvent(), buffer.enqueueEvent);
        queue.enqueued.push_back(tensor.buffer);
    }

    UbTensor QueueDeQue(int32_t id) {
        const char* call = "DeQue";
        Queue& queue = FindQueue(call, id);
        if (queue.enqueued.empty()) Fail(Rule::QueueEmpty, call, "nothing was enqueued");
        const int32_t index = queue.enqueued.front();
        queue.enqueued.erase(queue.enqueued.begin());
        Buffer& buffer = buffers_[index];
        buffer.state = State::Dequeued;
        WaitAndRelease(queue.EnqueueEvent(), buffer.enqueueEvent);
        return Tensor(index);
    }

    void QueueFree(int32_t id, const UbTensor& tensor) {
        const char* call = "FreeTensor";
        Queue& queue = FindQueue(call, id);
        Buffer& buffer = QueueBuffer(Rule::QueueFree, call, queue, tensor);
        if (buffer.state == State::Enqueued) Fail(Rule::QueueFree, call, "the tensor is still in the queue");
        buffer.freeEvent = AllocEvent(queue.FreeEvent());
        SetFlag(queue.FreeEvent(), buffer.freeEvent);
        buffer.state = State::Free;
        std::memset(data_ + buffer.address, kPoison, buffer.bytes);
        std::memset(&valid_[buffer.address], 0, buffer.bytes);
    }

    uint32_t QueueSize(int32_t id) { return static_cast<uint32_t>(FindQueue("TQue", id).enqueued.size()); }

    bool QueueHasIdleBuffer(int32_t id) {
        const Queue& queue = FindQueue("TQue", id);
        return std::any_of(buffers_.begin() + queue.first, buffers_.begin() + queue.first + queue.count,
                           [](const Buffer& buffer) { return buffer.state == State::Free; });
    }

    uint32_t BufferBytes(int32_t index) { return FindBuffer("TBuf::Get", index).bytes; }

    UbTensor BufferGet(const char* call, int32_t index, uint32_t offset, uint64_t bytes) {
        const Buffer& buffer = FindBuffer(call, index);
        if (bytes == 0 || bytes % kBlock != 0 || offset + bytes > buffer.bytes) {
            Fail(Rule::BufferGet, call,
                 Format("%llu bytes from byte %u of a buffer of %u bytes: whole 32-byte blocks inside it are "
                        "needed",
                        static_cast<unsigned long long>(bytes), offset, buffer.bytes));
        }
        UbTensor tensor = Tensor(index);
        tensor.address += offset;
        tensor.bytes = static_cast<uint32_t>(bytes);
        return tensor;
    }

    // --- synchronisation

    AscendC::TEventID FetchEvent(HardEvent event) {
        const auto& used = reserved_[static_cast<size_t>(event)];
        for (int8_t id = 0; id < kEventIds; ++id) {
            if (!used[id]) return id;
        }
        Fail(Rule::EventIds, "AllocEventID",
             Format("all %d ids of %s are taken", kEventIds, kEventNames[static_cast<size_t>(event)]));
    }

    AscendC::TEventID AllocEvent(HardEvent event) {
        const AscendC::TEventID id = FetchEvent(event);
        reserved_[static_cast<size_t>(event)][id] = true;
        return id;
    }

    void ReleaseEvent(HardEvent event, int32_t id) {
        CheckEventId("ReleaseEventID", event, id);
        reserved_[static_cast<size_t>(event)][id] = false;
    }

    void SetFlag(HardEvent event, int32_t id) {
        CheckEventId("SetFlag", event, id);
        if (event == HardEvent::V_V) {
            Barrier(PIPE_V);
            return;
        }
        Flag& flag = flags_[static_cast<size_t>(event)][id];
        if (flag.set) {
            Fail(Rule::FlagDouble, "SetFlag",
                 Format("%s id %d is set already", kEventNames[static_cast<size_t>(event)], id));
        }
        const pipe_t from = kEvents[static_cast<size_t>(event)].from;
        flag.set = true;
        flag.clock = known_[from];
        flag.clock[from] = issued_[from];
    }

    void WaitFlag(HardEvent event, int32_t id) {
        CheckEventId("WaitFlag", event, id);
        if (event == HardEvent::V_V) return;
        Flag& flag = flags_[static_cast<size_t>(event)][id];
        if (!flag.set) {
            Fail(Rule::FlagWait, "WaitFlag",
                 Format("%s id %d was not set: the core would wait forever",
                        kEventNames[static_cast<size_t>(event)], id));
        }
        flag.set = false;
        const pipe_t to = kEvents[static_cast<size_t>(event)].to;
        if (to == PIPE_S) {  // the scalar unit issues for every pipe: nothing after this starts before it
            for (Clock& clock : known_) Join(clock, flag.clock);
        } else {
            Join(known_[to], flag.clock);
        }
    }

    void Barrier(pipe_t pipe) {
        if (pipe == PIPE_ALL) {
            known_.fill(issued_);
        } else {
            known_[pipe][pipe] = issued_[pipe];
        }
    }

    // --- scalar access

    void Slice(const UbTensor& tensor, uint64_t offset) {
        if (offset >= tensor.bytes) {
            Fail(Rule::TensorBounds, "LocalTensor::operator[]",
                 Format("offset %llu of %u bytes", static_cast<unsigned long long>(offset), tensor.bytes));
        }
    }

    void ReadUb(const UbTensor& tensor, uint64_t offset, void* value, uint32_t bytes) {
        const char* call = "LocalTensor::GetValue";
        const UbTensor element = Element(call, tensor, offset, bytes);
        Issue(PIPE_S);
        CheckAccess(call, PIPE_S, {"tensor", element, bytes}, false);
        CheckValid(call, "tensor", element.address, bytes);
        MarkRead(PIPE_S, element.address, bytes);
        std::memcpy(value, data_ + element.address, bytes);
    }

    void WriteUb(const UbTensor& tensor, uint64_t offset, const void* value, uint32_t bytes) {
        const char* call = "LocalTensor::SetValue";
        const UbTensor element = Element(call, tensor, offset, bytes);
        Issue(PIPE_S);
        CheckAccess(call, PIPE_S, {"tensor", element, bytes}, true);
        MarkWritten(PIPE_S, element.address, bytes);
        std::memset(&valid_[element.address], 0xFF, bytes);
        std::memcpy(data_ + element.address, value, bytes);
    }

    void ReadGm(const GmTensor& tensor, void* value, uint32_t bytes) {
        const char* call = "GlobalTensor::GetValue";
        CheckGmAlignment(call, tensor.address, bytes);
        Issue(PIPE_S);
        std::memcpy(value, Gm(call, PIPE_S, tensor, tensor.address, bytes, false), bytes);
        counters_->bytesRead += bytes;
        ++run_->record.scalarGmAccesses;
    }

    void WriteGm(const GmTensor& tensor, const void* value, uint32_t bytes) {
        const char* call = "GlobalTensor::SetValue";
        CheckGmAlignment(call, tensor.address, bytes);
        Issue(PIPE_S);
        std::memcpy(Gm(call, PIPE_S, tensor, tensor.address, bytes, true), value, bytes);
        counters_->bytesWritten += bytes;
        ++counters_->elementsWritten;
        ++run_->record.scalarGmAccesses;
    }

    // --- copies

    void CopyIn(const char* call, const UbTensor& dst, const GmTensor& src, const Copy& copy) {
        CheckCopy(call, copy, src.address);
        if (copy.blocks == 0 || copy.blockBytes == 0) return;
        const uint32_t left = copy.left * copy.elementBytes;
        const uint32_t used = left + copy.blockBytes + copy.right * copy.elementBytes;
        const uint32_t row = static_cast<uint32_t>(AlignUp(used, kBlock));
        const uint64_t step = row + uint64_t{copy.ubGapBlocks} * kBlock;
        Issue(PIPE_MTE2);
        CheckCopyPosition(call, dst);
        CheckAccess(call, PIPE_MTE2, {"dst", dst, (copy.blocks - 1) * step + row}, true, row, step);
        for (uint32_t block = 0; block < copy.blocks; ++block) {
            const uint64_t from = src.address + block * (uint64_t{copy.blockBytes} + copy.gmGapBytes);
            const uint32_t at = static_cast<uint32_t>(dst.address + block * step);
            const uint8_t* source = Gm(call, PIPE_MTE2, src, from, copy.blockBytes, false);
            std::memcpy(data_ + at + left, source, copy.blockBytes);
            // Without padding the rest of the last 32 bytes is the block's first element; padding that is not
            // filled has no defined value.
            const bool defined = copy.fill || (copy.left == 0 && copy.right == 0);
            const uint64_t pad = copy.fill ? copy.fillValue : 0;
            const uint8_t* element = copy.fill ? reinterpret_cast<const uint8_t*>(&pad) : source;
            const auto complete = [&](uint32_t begin, uint32_t end) {
                for (uint32_t i = begin; i < end; ++i) {
                    data_[at + i] = defined ? element[(i - begin) % copy.elementBytes] : kPoison;
                    valid_[at + i] = defined ? 0xFF : 0;
                }
            };
            complete(0, left);
            complete(left + copy.blockBytes, row);
            std::memset(&valid_[at + left], 0xFF, copy.blockBytes);
            MarkWritten(PIPE_MTE2, at, row);
        }
        const uint64_t bytes = uint64_t{copy.blocks} * copy.blockBytes;
        counters_->bytesRead += bytes;
        ++counters_->copiesIn;
        run_->record.copiesIn.bytes += bytes;
        ++run_->record.copiesIn.sizes[bytes];
    }

    void CopyOut(const char* call, const GmTensor& dst, const UbTensor& src, const Copy& copy) {
        CheckCopy(call, copy, dst.address);
        if (copy.blocks == 0 || copy.blockBytes == 0) return;
        const uint32_t row = static_cast<uint32_t>(AlignUp(copy.blockBytes, kBlock));
        const uint64_t step = row + uint64_t{copy.ubGapBlocks} * kBlock;
        Issue(PIPE_MTE3);
        CheckCopyPosition(call, src);
        CheckAccess(call, PIPE_MTE3, {"src", src, (copy.blocks - 1) * step + row}, false, row, step);
        for (uint32_t block = 0; block < copy.blocks; ++block) {
            const uint64_t to = dst.address + block * (uint64_t{copy.blockBytes} + copy.gmGapBytes);
            const uint32_t at = static_cast<uint32_t>(src.address + block * step);
            CheckValid(call, "src", at, copy.blockBytes);
            std::memcpy(Gm(call, PIPE_MTE3, dst, to, copy.blockBytes, true), data_ + at, copy.blockBytes);
            MarkRead(PIPE_MTE3, at, row);
        }
        const uint64_t bytes = uint64_t{copy.blocks} * copy.blockBytes;
        counters_->bytesWritten += bytes;
        counters_->elementsWritten += bytes / copy.elementBytes;
        ++counters_->copiesOut;
        run_->record.copiesOut.bytes += bytes;
        ++run_->record.copiesOut.sizes[bytes];
    }

    // --- vector instructions

    // Checks the operands of an instruction that reads sources and writes dst, counts it, and takes its place
    // in the vector pipe. The instruction itself then works on Data() and Valid().
    void Vector(const char* call, const Operand& dst, std::initializer_list<Operand> sources,
                uint64_t elements, uint32_t widestBytes, bool inPlace) {
        Issue(PIPE_V);
        for (const Operand& source : sources) {
            CheckAccess(call, PIPE_V, source, false);
            const bool apart = source.tensor.address + source.bytes <= dst.tensor.address ||
                               dst.tensor.address + dst.bytes <= source.tensor.address;
            const bool same = source.tensor.address == dst.tensor.address && source.bytes == dst.bytes;
            if (!apart && !(inPlace && same)) {
                Fail(Rule::OperandOverlap, call,
                     Format("dst [%u, %llu) and %s [%u, %llu) overlap", dst.tensor.address,
                            static_cast<unsigned long long>(dst.tensor.address + dst.bytes), source.name,
                            source.tensor.address,
                            static_cast<unsigned long long>(source.tensor.address + source.bytes)));
            }
        }
        CheckAccess(call, PIPE_V, dst, true);
        for (const Operand& source : sources) MarkRead(PIPE_V, source.tensor.address, source.bytes);
        MarkWritten(PIPE_V, dst.tensor.address, dst.bytes);
        InstructionCounters& counters = run_->record.vector[call];
        const uint64_t repeats = AlignUp(elements * widestBytes, kRepeat) / kRepeat;
        ++counters.instructions;
        counters.elements += elements;
        counters.repeats += repeats;
        counters_->repeats += repeats;
    }

    // Select with a mask that is read element by element works through a scratch in its reserve.
    void SelectScratch(const void* value, uint32_t bytes) {
        const uint32_t scratch = run_->selectScratch;
        if (pipeEnd_ > scratch) {
            Fail(Rule::SelectReserve, "Select",
                 Format("the pipe's buffers end at byte %u of UB; Select writes from byte %u on", pipeEnd_,
                        scratch));
        }
        for (uint32_t i = 0; i < kBlock; ++i) std::memcpy(data_ + scratch + i * bytes, value, bytes);
    }

    void CheckValid(const char* call, const char* name, uint32_t address, uint64_t bytes) {
        if (const uint32_t at = FirstInvalid(address, bytes); at != kUbBytes) {
            Fail(Rule::UbUninitialised, call,
                 Format("%s: byte %u of UB (%u from the operand's start) was never written", name, at,
                        at - address));
        }
    }

    // The first byte of the range with an uninitialised bit, kUbBytes when there is none.
    uint32_t FirstInvalid(uint32_t address, uint64_t bytes) const {
        uint32_t at = address;
        const uint32_t end = address + static_cast<uint32_t>(bytes);
        for (uint64_t word; at + sizeof(word) <= end; at += sizeof(word)) {
            std::memcpy(&word, &valid_[at], sizeof(word));
            if (word != ~uint64_t{0}) break;
        }
        while (at < end && valid_[at] == 0xFF) ++at;
        return at < end ? at : kUbBytes;
    }

    template <typename T>
    T* Data(const UbTensor& tensor) {
        return reinterpret_cast<T*>(data_ + tensor.address);
    }
    // A bit per bit of UB: written since the start or since its buffer was freed, by a value that was.
    uint8_t* Valid(const UbTensor& tensor) { return &valid_[tensor.address]; }

private:
    void Forget(uint32_t begin, uint32_t end) {
        std::memset(data_ + begin, kPoison, end - begin);
        std::memset(valid_.data() + begin, 0, end - begin);
        for (uint32_t pipe = 0; pipe < kPipes; ++pipe) {
            std::fill(reads_[pipe].begin() + begin / kBlock, reads_[pipe].begin() + end / kBlock, 0);
            std::fill(writes_[pipe].begin() + begin / kBlock, writes_[pipe].begin() + end / kBlock, 0);
        }
    }

    int32_t AddBuffer(const char* call, TPosition position, int32_t queue, uint32_t bytes) {
        if (!pipeAlive_) Fail(Rule::PipeLife, call, "no TPipe is alive");
        if (bytes == 0) Fail(Rule::BufferInit, call, "len is 0");
        if (buffers_.size() == kMaxBuffers) {
            Fail(Rule::BufferCount, call, Format("more than %u buffers", kMaxBuffers));
        }
        const uint64_t end = pipeEnd_ + AlignUp(bytes, kBlock);
        if (end > run_->record.ubBytes) {
            Fail(Rule::UbCapacity, call,
                 Format("the buffers take %llu bytes of %llu", static_cast<unsigned long long>(end),
                        static_cast<unsigned long long>(run_->record.ubBytes)));
        }
        buffers_.push_back({pipeEnd_, static_cast<uint32_t>(AlignUp(bytes, kBlock)), position, queue});
        buffers_.back().generation = ++generation_;
        pipeEnd_ = static_cast<uint32_t>(end);
        dirty_ = std::max(dirty_, pipeEnd_);
        run_->record.ubHighWater = std::max(run_->record.ubHighWater, end);
        return static_cast<int32_t>(buffers_.size()) - 1;
    }

    Queue& FindQueue(const char* call, int32_t id) {
        if (!pipeAlive_ || id < 0 || static_cast<size_t>(id) >= queues_.size()) {
            Fail(Rule::PipeLife, call, "the queue has no buffers of the TPipe that is alive");
        }
        return queues_[id];
    }

    Buffer& FindBuffer(const char* call, int32_t index) {
        if (!pipeAlive_ || index < 0 || static_cast<size_t>(index) >= buffers_.size()) {
            Fail(Rule::PipeLife, call, "the buffer does not belong to the TPipe that is alive");
        }
        return buffers_[index];
    }

    Buffer& QueueBuffer(Rule rule, const char* call, const Queue& queue, const UbTensor& tensor) {
        if (tensor.buffer < queue.first || tensor.buffer >= queue.first + queue.count) {
            Fail(rule, call, "the tensor is not of this queue");
        }
        Buffer& buffer = buffers_[tensor.buffer];
        if (buffer.state == State::Free || buffer.generation != tensor.generation) {
            Fail(rule, call, "the tensor was freed already");
        }
        return buffer;
    }

    UbTensor Tensor(int32_t index) const {
        const Buffer& buffer = buffers_[index];
        return {buffer.address, buffer.bytes, buffer.generation, index, buffer.position};
    }

    void WaitAndRelease(HardEvent event, int8_t& id) {
        if (id < 0) return;
        WaitFlag(event, id);
        ReleaseEvent(event, id);
        id = -1;
    }

    void CheckEventId(const char* call, HardEvent event, int32_t id) {
        if (id < 0 || id >= kEventIds) {
            Fail(Rule::FlagRange, call,
                 Format("%s id %d; there are 0 to %d", kEventNames[static_cast<size_t>(event)], id,
                        kEventIds - 1));
        }
    }

    void CheckLeaks(const char* call) {
        for (const Buffer& buffer : buffers_) {
            if (buffer.queue >= 0 && buffer.state != State::Free) {
                Fail(Rule::QueueLeak, call,
                     Format("the queue buffer at byte %u of UB was allocated and not freed", buffer.address));
            }
        }
    }

    UbTensor Element(const char* call, const UbTensor& tensor, uint64_t offset, uint32_t bytes) {
        if (offset + bytes > tensor.bytes) {
            Fail(Rule::TensorBounds, call,
                 Format("bytes [%llu, %llu) of %u", static_cast<unsigned long long>(offset),
                        static_cast<unsigned long long>(offset + bytes), tensor.bytes));
        }
        UbTensor element = tensor;
        element.address += static_cast<uint32_t>(offset);
        element.bytes -= static_cast<uint32_t>(offset);
        return element;
    }

    void Issue(pipe_t pipe) {
        ++issued_[pipe];
        if (pipe == PIPE_S) known_[PIPE_S][PIPE_S] = issued_[PIPE_S];  // the scalar unit waits for itself
    }

    // Whether the instruction just issued on pipe may read or write the operand. With a row, only the first
    // row bytes of every step are touched.
    void CheckAccess(const char* call, pipe_t pipe, const Operand& operand, bool write, uint32_t row = 0,
                     uint64_t step = 0) {
        const UbTensor& tensor = operand.tensor;
        const Buffer& buffer = FindBuffer(call, tensor.buffer);
        if (buffer.queue >= 0) CheckQueueAccess(call, pipe, operand, write, buffer);
        if (pipe != PIPE_S && tensor.address % kBlock != 0) {
            Fail(Rule::UbAlignment, call,
                 Format("%s starts at byte %u of UB, not on a 32-byte boundary", operand.name,
                        tensor.address));
        }
        if (operand.bytes > tensor.bytes || tensor.address + operand.bytes > buffer.address + buffer.bytes) {
            Fail(Rule::TensorBounds, call,
                 Format("%s: %llu bytes are accessed; the tensor has %u, its buffer %u from there",
                        operand.name, static_cast<unsigned long long>(operand.bytes), tensor.bytes,
                        buffer.address + buffer.bytes - tensor.address));
        }
        if (row == 0) {
            CheckOrder(call, pipe, operand.name, tensor.address, operand.bytes, write);
        } else {
            for (uint64_t at = 0; at < operand.bytes; at += step) {
                CheckOrder(call, pipe, operand.name, tensor.address + static_cast<uint32_t>(at), row, write);
            }
        }
    }

    void CheckQueueAccess(const char* call, pipe_t pipe, const Operand& operand, bool write,
                          const Buffer& buffer) {
        const Queue& queue = queues_[buffer.queue];
        const auto fail = [&](const char* reason) {
            Fail(Rule::QueueAccess, call,
                 Format("%s (byte %u of UB): %s", operand.name, operand.tensor.address, reason));
        };
        if (buffer.state == State::Free || buffer.generation != operand.tensor.generation)
            fail("used after FreeTensor");
        if (buffer.state == State::Enqueued) fail("used between EnQue and DeQue");
        const bool filling = pipe == PIPE_MTE2 && write;
        if (queue.Outbound()) {
            if (buffer.state == State::Occupied && pipe == PIPE_MTE3)
                fail("copied out before EnQue and DeQue");
            if (buffer.state == State::Dequeued && write) fail("written after EnQue");
        } else {
            if (buffer.state == State::Occupied && !filling) fail("used before EnQue and DeQue");
            if (buffer.state == State::Dequeued && filling) fail("copied into after DeQue");
            if (!queue.Inbound() && buffer.state == State::Dequeued && pipe != PIPE_MTE3) {
                fail("a pass-through queue hands its tensor to the copy out only");
            }
        }
    }

    // Every instruction that wrote these bytes, and before a write every one that read them, must be known
    // complete.
    void CheckOrder(const char* call, pipe_t pipe, const char* name, uint32_t address, uint64_t bytes,
                    bool write) {
        const uint32_t begin = address / kBlock;
        const uint32_t end = static_cast<uint32_t>(AlignUp(address + bytes, kBlock)) / kBlock;
        for (uint32_t other = 0; other < kPipes; ++other) {
            const uint32_t complete = known_[pipe][other];
            if (issued_[other] - (other == static_cast<uint32_t>(pipe) ? 1 : 0) <= complete) continue;
            const auto pending = [&](const std::vector<uint32_t>& sequences) {
                for (uint32_t block = begin; block < end; ++block) {
                    if (sequences[block] > complete) return block;
                }
                return end;
            };
            if (const uint32_t block = pending(writes_[other]); block != end) {
                Fail(write ? Rule::SyncWaw : Rule::SyncRaw, call,
                     Format("%s: bytes %u.. of UB are written by pipe %s, which pipe %s has not waited for",
                            name, block * kBlock, kPipeNames[other], kPipeNames[pipe]));
            }
            if (!write) continue;
            if (const uint32_t block = pending(reads_[other]); block != end) {
                Fail(
                    Rule::SyncWar, call,
                    Format(
                        "%s: bytes %u.. of UB may still be read by pipe %s, which pipe %s has not waited for",
                        name, block * kBlock, kPipeNames[other], kPipeNames[pipe]));
            }
        }
    }

    void MarkRead(pipe_t pipe, uint32_t address, uint64_t bytes) {
        Mark(reads_[pipe], address, bytes, issued_[pipe]);
    }

    // The write comes after all that was read or written there: only it remains to be waited for.
    void MarkWritten(pipe_t pipe, uint32_t address, uint64_t bytes) {
        for (uint32_t other = 0; other < kPipes; ++other) {
            Mark(reads_[other], address, bytes, 0);
            Mark(writes_[other], address, bytes, other == static_cast<uint32_t>(pipe) ? issued_[pipe] : 0);
        }
    }

    static void Mark(std::vector<uint32_t>& sequences, uint32_t address, uint64_t bytes, uint32_t value) {
        std::fill(sequences.begin() + address / kBlock,
                  sequences.begin() + static_cast<uint32_t>(AlignUp(address + bytes, kBlock)) / kBlock,
                  value);
    }

    void CheckCopy(const char* call, const Copy& copy, uint64_t gm) {
        if (copy.wrapped)
            Fail(Rule::CopyWrap, call, "a value did not fit its parameter, which kept the low bits");
        if (!copy.padded) {
            if (copy.blockBytes % kBlock != 0) {
                Fail(Rule::CopyGranularity, call,
                     Format("%u bytes: the last %u would silently not be copied", copy.blockBytes,
                            copy.blockBytes % kBlock));
            }
            CheckGmAlignment(call, gm, copy.elementBytes);
        }
        const auto require = [&](bool holds, const char* what) {
            if (!holds) Fail(Rule::CopyParams, call, what);
        };
        require(copy.blocks <= 4095, "blockCount exceeds 4095");
        require(copy.blockBytes <= 2097151, "blockLen exceeds 2097151 bytes");
        require(copy.blockBytes % copy.elementBytes == 0, "blockLen is not a multiple of the element size");
        require(copy.left * copy.elementBytes <= kBlock, "leftPadding exceeds 32 bytes");
        require(copy.right * copy.elementBytes <= kBlock, "rightPadding exceeds 32 bytes");
        require(copy.elementBytes < 8 || !copy.fill || copy.fillValue == 0,
                "paddingValue must be 0 for a 64-bit type");
    }

    void CheckCopyPosition(const char* call, const UbTensor& tensor) {
        if (tensor.position == TPosition::VECCALC) {
            Fail(Rule::Position, call, "a copy between GM and UB takes VECIN or VECOUT, not VECCALC");
        }
    }

    void CheckGmAlignment(const char* call, uint64_t address, uint32_t bytes) {
        if (address % bytes != 0) {
            Fail(Rule::GmAlignment, call,
                 Format("GM address %#llx is not a multiple of the element's %u bytes",
                        static_cast<unsigned long long>(address), bytes));
        }
    }

    // The host's view of bytes of global memory that this instruction may read or write.
    uint8_t* Gm(const char* call, pipe_t pipe, const GmTensor& tensor, uint64_t address, uint64_t bytes,
                bool write) {
        const uint64_t end = address + bytes;
        if (tensor.end != 0 && (address < tensor.begin || end > tensor.end)) {
            Fail(Rule::GmTensorBounds, call,
                 Format("bytes [%lld, %lld) of a GlobalTensor of %llu",
                        static_cast<long long>(address - tensor.begin),
                        static_cast<long long>(end - tensor.begin),
                        static_cast<unsigned long long>(tensor.end - tensor.begin)));
        }
        // The result may lie on an input: a read means the input, a write the result.
        const GmRange* range = nullptr;
        std::string nearest = "no tensor is near";
        bool readOnly = false;
        for (const GmRange& candidate : run_->launch.arguments) {
            const uint64_t begin = reinterpret_cast<uint64_t>(candidate.device);
            if (address < begin + candidate.bytes && end > begin) {
                nearest =
                    Format("bytes [%lld, %lld) of %s, which has %zu", static_cast<long long>(address - begin),
                           static_cast<long long>(end - begin), candidate.name, candidate.bytes);
            }
            if (address < begin || end > begin + candidate.bytes) continue;
            if (write && !candidate.writable) {
                readOnly = true;
            } else if (range == nullptr || !candidate.writable) {
                range = &candidate;
            }
        }
        if (range == nullptr) {
            Fail(readOnly ? Rule::GmReadOnly : Rule::GmBounds, call,
                 Format("%s of %llu bytes at %#llx: %s", write ? "write" : "read",
                        static_cast<unsigned long long>(bytes), static_cast<unsigned long long>(address),
                        nearest.c_str()));
        }
        if (write) {
            RecordWrite(call, pipe, *range, address, end);
        } else {
            CheckReadOfWritten(call, pipe, *range, address, end);
        }
        return range->host + (address - reinterpret_cast<uint64_t>(range->device));
    }

    // The first written range that ends behind address.
    std::map<uint64_t, Written>::iterator FirstWritten(uint64_t address) {
        auto at = run_->written.upper_bound(address);
        if (at != run_->written.begin() && std::prev(at)->second.end > address) --at;
        return at;
    }

    void RecordWrite(const char* call, pipe_t pipe, const GmRange& range, uint64_t address, uint64_t end) {
        const auto at = FirstWritten(address);
        if (at != run_->written.end() && at->first < end) {
            Fail(Rule::GmWrittenTwice, call,
                 Format("bytes from %llu of %s were written by core %u already",
                        static_cast<unsigned long long>(std::max(at->first, address) -
                                                        reinterpret_cast<uint64_t>(range.device)),
                        range.name, at->second.core));
        }
        run_->written.emplace_hint(at, address, Written{end, index_, pipe, issued_[pipe]});
    }

    void CheckReadOfWritten(const char* call, pipe_t pipe, const GmRange& range, uint64_t address,
                            uint64_t end) {
        const uint64_t begin = reinterpret_cast<uint64_t>(range.device);
        uint64_t covered = address;
        for (auto at = FirstWritten(address); at != run_->written.end() && at->first < end; ++at) {
            const Written& written = at->second;
            if (!range.writable || written.core != index_) {
                Fail(Rule::GmReadWritten, call,
                     Format("bytes from %llu of %s were written by core %u in this launch",
                            static_cast<unsigned long long>(std::max(at->first, address) - begin), range.name,
                            written.core));
            }
            if (known_[pipe][written.pipe] < written.sequence) {
                Fail(Rule::GmSync, call,
                     Format("%s is read by pipe %s, which has not waited for the write by pipe %s",
                            range.name, kPipeNames[pipe], kPipeNames[written.pipe]));
            }
            if (at->first > covered) break;
            covered = written.end;
        }
        if (range.writable && covered < end) {
            Fail(Rule::GmReadUnwritten, call,
                 Format("byte %llu of %s is read before it was written",
                        static_cast<unsigned long long>(covered - begin), range.name));
        }
    }

    Run* run_ = nullptr;
    uint32_t index_ = 0;
    CoreCounters* counters_ = nullptr;

    uint8_t* data_;
    std::vector<uint8_t> valid_;
    uint32_t dirty_;  // UB used since the last start, apart from Select's reserve
    std::vector<std::vector<uint32_t>>
        reads_;  // per pipe and 32-byte block: the last instruction that read it
    std::vector<std::vector<uint32_t>> writes_;  // ... that wrote it

    Clock issued_ = {};                     // instructions issued per pipe
    std::array<Clock, kPipes> known_ = {};  // per pipe: what is complete before its next instruction starts
    std::array<std::array<Flag, kEventIds>, kEventKinds> flags_;
    std::array<std::array<bool, kEventIds>, kEventKinds> reserved_ = {};

    bool pipeAlive_ = false;
    uint32_t pipeEnd_ = 0;
    std::vector<Buffer> buffers_;
    std::vector<Queue> queues_;
    uint32_t generation_ = 0;
    bool kernelTypeGiven_ = false;
};

thread_local Core* g_core = nullptr;

Core& Current() {
    if (g_core == nullptr) {
        std::fprintf(stderr, "virtual NPU: device code was called outside a launch\n");
        std::abort();
    }
    return *g_core;
}

// --- the arithmetic of the vector instructions

float ToFloat(const half& value) { return value; }
float ToFloat(float value) { return value; }

template <typename T>
bool Holds(CMPMODE mode, T left, T right) {
    switch (mode) {
        case CMPMODE::LT:
            return left < right;
        case CMPMODE::GT:
            return left > right;
        case CMPMODE::EQ:
            return left == right;
        case CMPMODE::LE:
            return left <= right;
        case CMPMODE::GE:
            return left >= right;
        default:
            return left != right;
    }
}

// Bit i of dst: element i of left against right, which has a step of 0 or 1 elements.
template <CMPMODE mode, typename T>
void CompareElements(uint8_t* dst, const T* left, const T* right, uint32_t step, uint32_t count) {
    for (uint32_t i = 0; i < count; i += 8) {
        uint32_t bits = 0;
        for (uint32_t bit = 0; bit < 8; ++bit) {
            if constexpr (std::is_same_v<T, int32_t>) {
                bits |= static_cast<uint32_t>(Holds(mode, left[i + bit], right[(i + bit) * step])) << bit;
            } else {
                bits |= static_cast<uint32_t>(
                            Holds(mode, ToFloat(left[i + bit]), ToFloat(right[(i + bit) * step])))
                        << bit;
            }
        }
        dst[i / 8] = static_cast<uint8_t>(bits);
    }
}

template <typename T>
void CompareElements(CMPMODE mode, uint8_t* dst, const T* left, const T* right, uint32_t step,
                     uint32_t count) {
    switch (mode) {
        case CMPMODE::LT:
            return CompareElements<CMPMODE::LT>(dst, left, right, step, count);
        case CMPMODE::GT:
            return CompareElements<CMPMODE::GT>(dst, left, right, step, count);
        case CMPMODE::EQ:
            return CompareElements<CMPMODE::EQ>(dst, left, right, step, count);
        case CMPMODE::LE:
            return CompareElements<CMPMODE::LE>(dst, left, right, step, count);
        case CMPMODE::GE:
            return CompareElements<CMPMODE::GE>(dst, left, right, step, count);
        case CMPMODE::NE:
            return CompareElements<CMPMODE::NE>(dst, left, right, step, count);
    }
}

bool AllValid(const uint8_t* valid, uint32_t bytes) {
    return std::all_of(valid, valid + bytes, [](uint8_t bits) { return bits == 0xFF; });
}

// src1 is null for a scalar.
void Compare(Core& core, const char* call, const UbTensor& dst, Type maskType, const UbTensor& src0,
             const UbTensor* src1, const void* scalar, Type type, CMPMODE mode, uint32_t count) {
    const bool maskFits = maskType == Type::UInt8 || (src1 != nullptr && maskType == Type::Int8);
    if (!maskFits) core.Fail(Rule::InstructionDtype, call, "dst must be uint8_t");
    if (type == Type::Int32 && mode != CMPMODE::EQ) {
        core.Fail(Rule::InstructionDtype, call, "int32_t is only ever compared for EQ");
    }
    const uint32_t size = ElementBytes(type);
    const uint64_t bytes = uint64_t{count} * size;
    if (bytes % kRepeat != 0) {
        core.Fail(Rule::CompareGranularity, call,
                  Format("%u elements are %llu bytes, not a multiple of 256: the last ones would get no bits",
                         count, static_cast<unsigned long long>(bytes)));
    }
    if (count == 0) return;
    const Operand destination = {"dst", dst, count / 8};
    if (src1 == nullptr) {
        core.Vector(call, destination, {{"src0", src0, bytes}}, count, size, false);
    } else {
        core.Vector(call, destination, {{"src0", src0, bytes}, {"src1", *src1, bytes}}, count, size, false);
    }
    const uint32_t step = src1 == nullptr ? 0 : 1;
    uint8_t* bits = core.Data<uint8_t>(dst);
    const auto compare = [&](auto* left) {
        using T = std::remove_reference_t<decltype(*left)>;
        CompareElements(mode, bits, left, src1 == nullptr ? static_cast<T*>(scalar) : core.Data<T>(*src1),
                        step, count);
    };
    if (type == Type::Float) {
        compare(core.Data<const float>(src0));
    } else if (type == Type::Half) {
        compare(core.Data<const half>(src0));
    } else {
        compare(core.Data<const int32_t>(src0));
    }
    uint8_t* valid = core.Valid(dst);
    if (core.FirstInvalid(src0.address, bytes) == kUbBytes &&
        (src1 == nullptr || core.FirstInvalid(src1->address, bytes) == kUbBytes)) {
        std::memset(valid, 0xFF, count / 8);
        return;
    }
    // A bit is as valid as the elements that made it.
    for (uint32_t i = 0; i < count; ++i) {
        const bool known = AllValid(core.Valid(src0) + i * size, size) &&
                           (src1 == nullptr || AllValid(core.Valid(*src1) + i * size, size));
        const uint8_t bit = static_cast<uint8_t>(1u << (i % 8));
        valid[i / 8] = static_cast<uint8_t>(known ? valid[i / 8] | bit : valid[i / 8] & ~bit);
    }
}

// dst[i] is valid where src[i] is, elements of dstBytes and srcBytes.
void PassValid(Core& core, const UbTensor& dst, uint32_t dstBytes, const UbTensor& src, uint32_t srcBytes,
               uint32_t count) {
    uint8_t* valid = core.Valid(dst);
    if (core.FirstInvalid(src.address, uint64_t{count} * srcBytes) == kUbBytes) {
        std::memset(valid, 0xFF, uint64_t{count} * dstBytes);
        return;
    }
    for (uint32_t i = 0; i < count; ++i) {
        std::memset(valid + i * dstBytes, AllValid(core.Valid(src) + i * srcBytes, srcBytes) ? 0xFF : 0,
                    dstBytes);
    }
}

uint32_t CheckedCount(Core& core, const char* call, int32_t count) {
    if (count < 0) core.Fail(Rule::ElementCount, call, Format("count is %d", count));
    return static_cast<uint32_t>(count);
}

template <typename T>
void SelectElements(T* dst, const uint8_t* mask, uint32_t maskBits, const T* src0, const T* src1,
                    uint32_t step, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) {
        const uint32_t bit = i % maskBits;
        dst[i] = ((mask[bit / 8] >> (bit % 8)) & 1) != 0 ? src0[i] : src1[i * step];
    }
}

// src1 is null for a scalar.
void Select(Core& core, const UbTensor& dst, const UbTensor& mask, Type maskType, const UbTensor& src0,
            const UbTensor* src1, const void* scalar, Type type, SELMODE mode, uint32_t count) {
    const char* call = "Select";
    if (maskType != Type::UInt8 && maskType != Type::UInt16 && maskType != Type::UInt32 &&
        maskType != Type::UInt64) {
        core.Fail(Rule::InstructionDtype, call, "the mask must be unsigned");
    }
    if ((mode == SELMODE::VSEL_TENSOR_SCALAR_MODE) != (src1 == nullptr)) {
        core.Fail(Rule::SelectMode, call,
                  src1 == nullptr
                      ? "a scalar src1 takes VSEL_TENSOR_SCALAR_MODE"
                      : "a tensor src1 takes VSEL_CMPMASK_SPR or VSEL_TENSOR_TENSOR_MODE: nothing would run");
    }
    if (count == 0) core.Fail(Rule::ElementCount, call, "count is 0, for which nothing is specified");
    const uint32_t size = ElementBytes(type);
    const uint64_t bytes = uint64_t{count} * size;
    // Mode 0 keeps the mask of the first repeat for all of them.
    const uint32_t maskBits = mode == SELMODE::VSEL_CMPMASK_SPR ? std::min(count, kRepeat / size) : count;
    const Operand destination = {"dst", dst, bytes};
    const Operand selection = {"selMask", mask, AlignUp(maskBits, 8) / 8};
    if (mode != SELMODE::VSEL_CMPMASK_SPR) {
        const uint32_t maskAddress = mask.address;
        core.SelectScratch(src1 == nullptr ? scalar : &maskAddress,
                           src1 == nullptr ? size : sizeof(maskAddress));
    }
    if (src1 == nullptr) {
        core.Vector(call, destination, {{"src0", src0, bytes}, selection}, count, size, true);
    } else {
        core.Vector(call, destination, {{"src0", src0, bytes}, {"src1", *src1, bytes}, selection}, count,
                    size, true);
        core.CheckValid(call, "src1", src1->address, bytes);
    }
    core.CheckValid(call, "src0", src0.address, bytes);
    core.CheckValid(call, "selMask", mask.address, maskBits / 8);
    if (const uint32_t rest = maskBits % 8; rest != 0) {
        const uint8_t needed = static_cast<uint8_t>((1u << rest) - 1);
        if ((core.Valid(mask)[maskBits / 8] & needed) != needed) {
            core.CheckValid(call, "selMask", mask.address + maskBits / 8, 1);
        }
    }
    const uint32_t step = src1 == nullptr ? 0 : 1;
    const auto select = [&](auto* to) {
        using T = std::remove_reference_t<decltype(*to)>;
        SelectElements<T>(to, core.Data<uint8_t>(mask), maskBits, core.Data<T>(src0),
                          src1 == nullptr ? static_cast<const T*>(scalar) : core.Data<T>(*src1), step, count);
    };
    if (size == 4) {
        select(core.Data<uint32_t>(dst));
    } else {
        select(core.Data<uint16_t>(dst));
    }
    std::memset(core.Valid(dst), 0xFF, bytes);
}

// NaN stays NaN.
template <typename T>
void MinMaxElements(bool max, T* dst, const T* src, T scalar, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) {
        const bool replace = max ? src[i] < scalar : src[i] > scalar;
        dst[i] = replace ? scalar : src[i];
    }
}

void MinMax(const char* call, bool max, const UbTensor& dst, const UbTensor& src, Type type,
            const void* scalar, int32_t signedCount) {
    Core& core = Current();
    const uint32_t count = CheckedCount(core, call, signedCount);
    if (count == 0) return;
    const uint32_t size = ElementBytes(type);
    const uint64_t bytes = uint64_t{count} * size;
    core.Vector(call, {"dst", dst, bytes}, {{"src", src, bytes}}, count, size, true);
    const auto run = [&](auto* to) {
        using T = std::remove_reference_t<decltype(*to)>;
        MinMaxElements<T>(max, to, core.Data<T>(src), *static_cast<const T*>(scalar), count);
    };
    if (type == Type::Float) {
        run(core.Data<float>(dst));
    } else if (type == Type::Half) {
        run(core.Data<half>(dst));
    } else if (type == Type::Int32) {
        run(core.Data<int32_t>(dst));
    } else {
        run(core.Data<int16_t>(dst));
    }
    PassValid(core, dst, size, src, size, count);
}

// --- launches

std::mutex g_mutex;
std::vector<LaunchRecord> g_history;
int g_order = 0;
uint32_t g_seed = 0;

using KernelEntry = void (*)(uint64_t, uint8_t**, uint8_t*);

KernelEntry Load(Run& run) {
    static std::map<std::string, KernelEntry> entries;
    const std::lock_guard<std::mutex> lock(g_mutex);
    const std::string& path = run.launch.kernel;
    if (const auto known = entries.find(path); known != entries.end()) return known->second;
    void* library = dlopen(path.empty() ? nullptr : path.c_str(), RTLD_NOW | RTLD_LOCAL);
    void* symbol = library == nullptr ? nullptr : dlsym(library, "vnpuKernelEntry");
    if (symbol == nullptr) {
        const char* reason = dlerror();
        run.Fail(Rule::KernelLoad, "launch", -1, reason == nullptr ? "vnpuKernelEntry is null" : reason);
    }
    return entries[path] = reinterpret_cast<KernelEntry>(symbol);
}

std::vector<uint32_t> CoreOrder(uint32_t blockDim) {
    std::vector<uint32_t> order(blockDim);
    for (uint32_t core = 0; core < blockDim; ++core) order[core] = core;
    const std::lock_guard<std::mutex> lock(g_mutex);
    if (g_order == 1) std::reverse(order.begin(), order.end());
    if (g_order == 2) std::shuffle(order.begin(), order.end(), std::mt19937(g_seed));
    return order;
}

void PoisonOutputs(const Launch& launch) {
    for (const GmRange& output : launch.arguments) {
        if (!output.writable) continue;
        const bool onInput =
            std::any_of(launch.arguments.begin(), launch.arguments.end(), [&](const GmRange& other) {
                return !other.writable && other.device < output.device + output.bytes &&
                       output.device < other.device + other.bytes;
            });
        if (!onInput && output.bytes > 0) std::memset(output.host, kPoison, output.bytes);
    }
}

void CheckWritten(Run& run) {
    for (const GmRange& range : run.launch.arguments) {
        if (!range.writable || std::strcmp(range.name, "workspace") == 0) continue;
        const uint64_t begin = reinterpret_cast<uint64_t>(range.device);
        uint64_t covered = begin;
        for (auto at = run.written.lower_bound(begin); at != run.written.end() && at->first == covered;
             ++at) {
            covered = at->second.end;
        }
        if (covered < begin + range.bytes) {
            run.Fail(Rule::GmUnwritten, "end of the launch", -1,
                     Format("byte %llu of %s was not written by any core",
                            static_cast<unsigned long long>(covered - begin), range.name));
        }
    }
}

void RunCores(Run& run) {
    const Launch& launch = run.launch;
    const KernelEntry entry = Load(run);
    const uint32_t cores = CurrentPlatform().vectorCores;
    if (launch.blockDim == 0 || launch.blockDim > cores) {
        run.Fail(Rule::BlockDim, "launch", -1,
                 Format("block dim %u; the platform has %u vector cores", launch.blockDim, cores));
    }
    if (launch.tilingData.size() > kMaxTilingBytes) {
        run.Fail(Rule::TilingSize, "launch", -1,
                 Format("%zu bytes of tiling data, more than %u", launch.tilingData.size(), kMaxTilingBytes));
    }
    PoisonOutputs(launch);
    run.tiling.assign(AlignUp(launch.tilingData.size() + 1, kBlock), kPoison);
    std::copy(launch.tilingData.begin(), launch.tilingData.end(), run.tiling.begin());
    std::vector<uint8_t*> arguments;
    for (const GmRange& range : launch.arguments) arguments.push_back(range.device);

    static thread_local std::unique_ptr<Core> core = std::make_unique<Core>();
    run.record.cores.reserve(launch.blockDim);
    g_core = core.get();
    for (const uint32_t index : CoreOrder(launch.blockDim)) {
        core->Start(run, index);
        entry(launch.tilingKey, arguments.data(), run.tiling.data());
        core->Finish();
    }
    CheckWritten(run);
}

// --- report

void AppendQuoted(std::string& json, const std::string& text) {
    json += '"';
    for (const char c : text) {
        if (c == '"' || c == '\\') {
            json += '\\';
            json += c;
        } else if (static_cast<unsigned char>(c) < 0x20) {
            json += Format("\\u%04x", c);
        } else {
            json += c;
        }
    }
    json += '"';
}

class JsonObject {
public:
    explicit JsonObject(std::string& json) : json_(json) { json_ += '{'; }
    ~JsonObject() { json_ += '}'; }
    JsonObject(const JsonObject&) = delete;
    JsonObject& operator=(const JsonObject&) = delete;

    std::string& Key(const std::string& name) {
        if (!first_) json_ += ", ";
        first_ = false;
        AppendQuoted(json_, name);
        json_ += ": ";
        return json_;
    }
    void Number(const std::string& name, int64_t value) { Key(name) += std::to_string(value); }
    void Text(const std::string& name, const std::string& value) { AppendQuoted(Key(name), value); }

private:
    std::string& json_;
    bool first_ = true;
};

template <typename Items, typename Append>
void AppendArray(std::string& json, const Items& items, const Append& append) {
    json += '[';
    bool first = true;
    for (const auto& item : items) {
        if (!first) json += ", ";
        first = false;
        append(item);
    }
    json += ']';
}

void AppendCopies(std::string& json, const CopyCounters& copies) {
    JsonObject object(json);
    object.Number("bytes", static_cast<int64_t>(copies.bytes));
    AppendArray(object.Key("sizes"), copies.sizes, [&](const auto& size) {
        json += Format("[%llu, %llu]", static_cast<unsigned long long>(size.first),
                       static_cast<unsigned long long>(size.second));
    });
}

void AppendLaunch(std::string& json, const LaunchRecord& record) {
    JsonObject launch(json);
    launch.Text("opType", record.opType);
    launch.Text("kernel", record.kernel);
    launch.Number("tilingKey", static_cast<int64_t>(record.tilingKey));
    launch.Number("blockDim", record.blockDim);
    launch.Number("tilingBytes", record.tilingBytes);
    launch.Number("ubBytes", static_cast<int64_t>(record.ubBytes));
    launch.Number("ubHighWater", static_cast<int64_t>(record.ubHighWater));
    launch.Number("scalarGmAccesses", static_cast<int64_t>(record.scalarGmAccesses));
    AppendCopies(launch.Key("copiesIn"), record.copiesIn);
    AppendCopies(launch.Key("copiesOut"), record.copiesOut);
    {
        JsonObject vector(launch.Key("vector"));
        for (const auto& [name, counters] : record.vector) {
            JsonObject instruction(vector.Key(name));
            instruction.Number("instructions", static_cast<int64_t>(counters.instructions));
            instruction.Number("elements", static_cast<int64_t>(counters.elements));
            instruction.Number("repeats", static_cast<int64_t>(counters.repeats));
        }
    }
    AppendArray(launch.Key("cores"), record.cores, [&](const CoreCounters& counters) {
        JsonObject core(json);
        core.Number("core", counters.core);
        core.Number("elements", static_cast<int64_t>(counters.elementsWritten));
        core.Number("bytesRead", static_cast<int64_t>(counters.bytesRead));
        core.Number("bytesWritten", static_cast<int64_t>(counters.bytesWritten));
        core.Number("tilingBytes", static_cast<int64_t>(counters.tilingBytes));
        core.Number("copiesIn", static_cast<int64_t>(counters.copiesIn));
        core.Number("tiles", static_cast<int64_t>(counters.copiesOut));
        core.Number("repeats", static_cast<int64_t>(counters.repeats));
    });
    AppendArray(launch.Key("violations"), record.violations, [&](const Violation& violation) {
        JsonObject object(json);
        object.Text("rule", violation.rule);
        object.Text("call", violation.call);
        object.Number("core", violation.core);
        object.Text("detail", violation.detail);
    });
}

}  // namespace

int RunKernel(const Launch& launch) {
    Run run(launch);
    try {
        RunCores(run);
    } catch (const Stopped&) {
        for (const Violation& violation : run.record.violations) {
            std::fprintf(stderr, "virtual NPU: %s: rule %s: %s on core %lld: %s\n", launch.opType.c_str(),
                         violation.rule.c_str(), violation.call.c_str(),
                         static_cast<long long>(violation.core), violation.detail.c_str());
        }
    }
    g_core = nullptr;
    const int status = run.record.violations.empty() ? 0 : kVectorCoreException;
    const std::lock_guard<std::mutex> lock(g_mutex);
    g_history.push_back(std::move(run.record));
    return status;
}

const std::vector<std::string>& Rules() {
    static const std::vector<std::string> rules(kRuleNames.begin(), kRuleNames.end());
    return rules;
}

LaunchRecord LastLaunch() {
    const std::lock_guard<std::mutex> lock(g_mutex);
    return g_history.empty() ? LaunchRecord() : g_history.back();
}

namespace device {

int64_t BlockIdx() { return Current().Index(); }
int64_t BlockNum() { return Current().CurrentRun().launch.blockDim; }
uint64_t TilingKey() { return Current().CurrentRun().launch.tilingKey; }
void SetKernelType(KernelMetaType type) { Current().SetKernelType(type); }

void CheckArguments(size_t count) {
    Core& core = Current();
    const size_t given = core.CurrentRun().launch.arguments.size();
    if (count != given) {
        core.Fail(
            Rule::Arguments, "launch",
            Format("the kernel takes %zu inputs, outputs and workspace, the launch has %zu", count, given));
    }
}

void UnknownTilingKey() {
    Current().Fail(Rule::TilingKey, "launch",
                   Format("no declared combination of template arguments has tiling key %llu",
                          static_cast<unsigned long long>(TilingKey())));
}

void FetchTiling(void* destination, size_t bytes, const uint8_t* tiling) {
    Current().FetchTiling(destination, bytes, tiling);
}

void PipeConstruct() { Current().PipeConstruct(); }
void PipeDestroy() noexcept { Current().PipeDestroy(); }
int32_t QueueInit(TPosition source, TPosition destination, int32_t depth, uint8_t num, uint32_t bytes) {
    return Current().QueueInit(source, destination, depth, num, bytes);
}
UbTensor QueueAlloc(int32_t queue) { return Current().QueueAlloc(queue); }
void QueueEnQue(int32_t queue, const UbTensor& tensor) { Current().QueueEnQue(queue, tensor); }
UbTensor QueueDeQue(int32_t queue) { return Current().QueueDeQue(queue); }
void QueueFree(int32_t queue, const UbTensor& tensor) { Current().QueueFree(queue, tensor); }
uint32_t QueueSize(int32_t queue) { return Current().QueueSize(queue); }
bool QueueHasIdleBuffer(int32_t queue) { return Current().QueueHasIdleBuffer(queue); }
int32_t BufferInit(TPosition position, uint32_t bytes) { return Current().BufferInit(position, bytes); }
UbTensor BufferGet(const char* call, int32_t buffer, uint32_t offset, uint64_t bytes) {
    return Current().BufferGet(call, buffer, offset, bytes);
}
uint32_t BufferBytes(int32_t buffer) { return Current().BufferBytes(buffer); }

AscendC::TEventID AllocEvent(HardEvent event) { return Current().AllocEvent(event); }
AscendC::TEventID FetchEvent(HardEvent event) { return Current().FetchEvent(event); }
void ReleaseEvent(HardEvent event, AscendC::TEventID id) { Current().ReleaseEvent(event, id); }
void SetFlag(HardEvent event, int32_t id) { Current().SetFlag(event, id); }
void WaitFlag(HardEvent event, int32_t id) { Current().WaitFlag(event, id); }
void Barrier(pipe_t pipe) { Current().Barrier(pipe); }

void Slice(const UbTensor& tensor, uint64_t offsetBytes) { Current().Slice(tensor, offsetBytes); }
void ReadUb(const UbTensor& tensor, uint64_t offsetBytes, void* value, uint32_t bytes) {
    Current().ReadUb(tensor, offsetBytes, value, bytes);
}
void WriteUb(const UbTensor& tensor, uint64_t offsetBytes, const void* value, uint32_t bytes) {
    Current().WriteUb(tensor, offsetBytes, value, bytes);
}
void ReadGm(const GmTensor& tensor, void* value, uint32_t bytes) { Current().ReadGm(tensor, value, bytes); }
void WriteGm(const GmTensor& tensor, const void* value, uint32_t bytes) {
    Current().WriteGm(tensor, value, bytes);
}

void CopyIn(const char* call, const UbTensor& dst, const GmTensor& src, const Copy& copy) {
    Current().CopyIn(call, dst, src, copy);
}
void CopyOut(const char* call, const GmTensor& dst, const UbTensor& src, const Copy& copy) {
    Current().CopyOut(call, dst, src, copy);
}

void Cast(const UbTensor& dst, Type dstType, const UbTensor& src, Type srcType, RoundMode mode,
          uint32_t count) {
    Core& core = Current();
    const bool widening = dstType == Type::Float;
    const bool allowed =
        widening ? mode == RoundMode::CAST_NONE
                 : dstType == Type::Half || (mode != RoundMode::CAST_NONE && mode != RoundMode::CAST_ODD);
    if (!allowed) {
        core.Fail(Rule::CastMode, "Cast",
                  Format("round mode %d does not exist for this pair of types: nothing would run",
                         static_cast<int>(mode)));
    }
    if (count == 0) return;
    const uint32_t dstBytes = ElementBytes(dstType);
    const uint32_t srcBytes = ElementBytes(srcType);
    core.Vector("Cast", {"dst", dst, uint64_t{count} * dstBytes}, {{"src", src, uint64_t{count} * srcBytes}},
                count, std::max(dstBytes, srcBytes), false);
    if (widening) {
        const uint16_t* from = core.Data<uint16_t>(src);
        uint32_t* to = core.Data<uint32_t>(dst);
        if (srcType == Type::Half) {
            for (uint32_t i = 0; i < count; ++i) to[i] = WidenHalf(from[i]);
        } else {
            for (uint32_t i = 0; i < count; ++i) to[i] = static_cast<uint32_t>(from[i]) << 16;
        }
    } else {
        const uint32_t* from = core.Data<uint32_t>(src);
        uint16_t* to = core.Data<uint16_t>(dst);
        const uint32_t mantissaBits = dstType == Type::Half ? 10 : 7;
        for (uint32_t i = 0; i < count; ++i) to[i] = Narrow(from[i], mantissaBits, mode);
    }
    PassValid(core, dst, dstBytes, src, srcBytes, count);
}

void CompareTensor(const UbTensor& dst, Type maskType, const UbTensor& src0, const UbTensor& src1, Type type,
                   CMPMODE mode, uint32_t count) {
    Compare(Current(), "Compare", dst, maskType, src0, &src1, nullptr, type, mode, count);
}

void CompareScalar(const char* call, const UbTensor& dst, Type maskType, const UbTensor& src, Type type,
                   const void* scalar, CMPMODE mode, uint32_t count) {
    Compare(Current(), call, dst, maskType, src, nullptr, scalar, type, mode, count);
}

void BitwiseTensor(Bitwise operation, const UbTensor& dst, const UbTensor& src0, const UbTensor& src1,
                   Type type, int32_t signedCount) {
    Core& core = Current();
    const char* call = operation == Bitwise::And ? "And" : operation == Bitwise::Or ? "Or" : "Not";
    if (type != Type::Int16 && type != Type::UInt16) {
        core.Fail(Rule::InstructionDtype, call,
                  "the instruction works on 16-bit elements and would take count as theirs");
    }
    const uint32_t count = CheckedCount(core, call, signedCount);
    if (count == 0) return;
    const uint64_t bytes = uint64_t{count} * sizeof(uint16_t);
    core.Vector(call, {"dst", dst, bytes}, {{"src0", src0, bytes}, {"src1", src1, bytes}}, count,
                sizeof(uint16_t), true);
    const uint8_t* left = core.Data<uint8_t>(src0);
    const uint8_t* right = core.Data<uint8_t>(src1);
    uint8_t* to = core.Data<uint8_t>(dst);
    for (uint64_t i = 0; i < bytes; ++i) {
        to[i] = static_cast<uint8_t>(operation == Bitwise::And  ? left[i] & right[i]
                                     : operation == Bitwise::Or ? left[i] | right[i]
                                                                : ~left[i]);
        core.Valid(dst)[i] = core.Valid(src0)[i] & core.Valid(src1)[i];
    }
}

void SelectTensor(const UbTensor& dst, const UbTensor& mask, Type maskType, const UbTensor& src0,
                  const UbTensor& src1, Type type, SELMODE mode, uint32_t count) {
    Select(Current(), dst, mask, maskType, src0, &src1, nullptr, type, mode, count);
}

void SelectScalar(const UbTensor& dst, const UbTensor& mask, Type maskType, const UbTensor& src0, Type type,
                  const void* scalar, SELMODE mode, uint32_t count) {
    Select(Current(), dst, mask, maskType, src0, nullptr, scalar, type, mode, count);
}

void DuplicateScalar(const UbTensor& dst, Type type, const void* scalar, int32_t signedCount) {
    Core& core = Current();
    const uint32_t count = CheckedCount(core, "Duplicate", signedCount);
    if (count == 0) return;
    const uint32_t size = ElementBytes(type);
    const uint64_t bytes = uint64_t{count} * size;
    core.Vector("Duplicate", {"dst", dst, bytes}, {}, count, size, true);
    for (uint32_t i = 0; i < count; ++i) std::memcpy(core.Data<uint8_t>(dst) + i * size, scalar, size);
    std::memset(core.Valid(dst), 0xFF, bytes);
}

void MinScalar(const UbTensor& dst, const UbTensor& src, Type type, const void* scalar, int32_t count) {
    MinMax("Mins", false, dst, src, type, scalar, count);
}

void MaxScalar(const UbTensor& dst, const UbTensor& src, Type type, const void* scalar, int32_t count) {
    MinMax("Maxs", true, dst, src, type, scalar, count);
}

}  // namespace device
}  // namespace vnpu

extern "C" void vnpuSetCoreOrder(int order, uint32_t seed) {
    const std::lock_guard<std::mutex> lock(vnpu::g_mutex);
    vnpu::g_order = order;
    vnpu::g_seed = seed;
}

extern "C" const char* vnpuReport(void) {
    static std::string json;
    const std::lock_guard<std::mutex> lock(vnpu::g_mutex);
    json.clear();
    {
        vnpu::JsonObject report(json);
        vnpu::AppendArray(report.Key("launches"), vnpu::g_history,
                          [](const vnpu::LaunchRecord& record) { vnpu::AppendLaunch(json, record); });
    }
    return json.c_str();
}

extern "C" void vnpuReset(void) {
    const std::lock_guard<std::mutex> lock(vnpu::g_mutex);
    vnpu::g_history.clear();
}
