// The virtual vector core: its unified buffer (UB), pipes, flags and queues, and the rules that hold for
// them.
#ifndef VNPU_CORE_H
#define VNPU_CORE_H

#include <algorithm>
#include <array>
#include <initializer_list>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "ascendc/engine.h"
#include "engine.h"
#include "vnpu.h"

namespace vnpu {

using AscendC::HardEvent;
using AscendC::TPosition;
using device::Copy;
using device::GmTensor;
using device::UbTensor;

constexpr uint32_t kUbBytes = 196608;      // of a vector core
constexpr uint32_t kSystemBytes = 256;     // of these, not reported by the platform
constexpr uint32_t kSelectReserve = 8192;  // at the end of UB
constexpr uint32_t kBlock = 32;
constexpr uint32_t kRepeat = 256;
constexpr int32_t kEventIds = 8;  // per kind of event
constexpr uint8_t kPoison = 0xC7;
constexpr uint32_t kPipes = 4;  // PIPE_S to PIPE_MTE3
constexpr size_t kEventKinds = static_cast<size_t>(HardEvent::MAX);

// Every rule: its name here and the id under which a violation is recorded.
#define VNPU_RULES(RULE)                            \
    RULE(KernelLoad, "kernel-load")                 \
    RULE(KernelType, "kernel-type")                 \
    RULE(Arguments, "arguments")                    \
    RULE(BlockDim, "block-dim")                     \
    RULE(TilingKey, "tiling-key")                   \
    RULE(TilingSize, "tiling-size")                 \
    RULE(TilingFetch, "tiling-fetch")               \
    RULE(PipeLife, "pipe-life")                     \
    RULE(BufferInit, "buffer-init")                 \
    RULE(BufferCount, "buffer-count")               \
    RULE(PositionBuffers, "position-buffers")       \
    RULE(UbCapacity, "ub-capacity")                 \
    RULE(SelectReserve, "select-reserve")           \
    RULE(BufferGet, "buffer-get")                   \
    RULE(Position, "position")                      \
    RULE(UbAlignment, "ub-alignment")               \
    RULE(TensorBounds, "tensor-bounds")             \
    RULE(QueueAlloc, "queue-alloc")                 \
    RULE(QueueDepth, "queue-depth")                 \
    RULE(QueueEmpty, "queue-empty")                 \
    RULE(QueueState, "queue-state")                 \
    RULE(QueueFree, "queue-free")                   \
    RULE(QueueAccess, "queue-access")               \
    RULE(QueueLeak, "queue-leak")                   \
    RULE(EventIds, "event-ids")                     \
    RULE(FlagRange, "flag-range")                   \
    RULE(FlagDouble, "flag-double")                 \
    RULE(FlagWait, "flag-wait")                     \
    RULE(FlagLeak, "flag-leak")                     \
    RULE(SyncRaw, "sync-raw")                       \
    RULE(SyncWar, "sync-war")                       \
    RULE(SyncWaw, "sync-waw")                       \
    RULE(UbUninitialised, "ub-uninitialised")       \
    RULE(CopyWrap, "copy-wrap")                     \
    RULE(CopyGranularity, "copy-granularity")       \
    RULE(CopyParams, "copy-params")                 \
    RULE(GmAlignment, "gm-alignment")               \
    RULE(GmBounds, "gm-bounds")                     \
    RULE(GmTensorBounds, "gm-tensor-bounds")        \
    RULE(GmReadOnly, "gm-read-only")                \
    RULE(GmWrittenTwice, "gm-written-twice")        \
    RULE(GmUnwritten, "gm-unwritten")               \
    RULE(GmReadUnwritten, "gm-read-unwritten")      \
    RULE(GmReadWritten, "gm-read-written")          \
    RULE(GmSync, "gm-sync")                         \
    RULE(CompareGranularity, "compare-granularity") \
    RULE(InstructionDtype, "instruction-dtype")     \
    RULE(CastMode, "cast-mode")                     \
    RULE(SelectMode, "select-mode")                 \
    RULE(OperandOverlap, "operand-overlap")         \
    RULE(ElementCount, "element-count")

enum class Rule : uint8_t {
#define VNPU_RULE_NAME(name, id) name,
    VNPU_RULES(VNPU_RULE_NAME)
#undef VNPU_RULE_NAME
};

constexpr uint64_t AlignUp(uint64_t value, uint64_t step) { return (value + step - 1) / step * step; }

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
    explicit Run(const Launch& description);

    // Records a violation and leaves the kernel; core -1 stands for the launch. The detail is made of its
    // parts.
    template <typename... Parts>
    [[noreturn]] void Fail(Rule rule, const char* call, int64_t core, const Parts&... parts) {
        std::ostringstream detail;
        (detail << ... << parts);
        record.violations.push_back({Rules()[static_cast<size_t>(rule)], call, core, detail.str()});
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
    int32_t enqueueEvent = -1;
    int32_t freeEvent = -1;
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
    // All memory of a core; it serves many launches.
    Core()
        : data_(static_cast<uint8_t*>(::operator new(kUbBytes, std::align_val_t{64}))),
          valid_(kUbBytes, 0),
          dirty_(kUbBytes),
          reads_(kPipes, std::vector<uint32_t>(kUbBytes / kBlock, 0)),
          writes_(kPipes, std::vector<uint32_t>(kUbBytes / kBlock, 0)) {}
    ~Core() { ::operator delete(data_, std::align_val_t{64}); }
    Core(const Core&) = delete;
    Core& operator=(const Core&) = delete;

    // Before and after the kernel runs on it.
    void Start(Run& run, uint32_t index);
    void Finish();

    template <typename... Parts>
    [[noreturn]] void Fail(Rule rule, const char* call, const Parts&... parts) {
        run_->Fail(rule, call, index_, parts...);
    }

    uint32_t Index() const { return index_; }
    Run& CurrentRun() { return *run_; }

    // Kernel entry.
    void SetKernelType(KernelMetaType type);
    void FetchTiling(void* destination, size_t bytes, const uint8_t* tiling);

    // Pipe, queues, buffers.
    void PipeConstruct();
    void PipeDestroy();
    int32_t QueueInit(TPosition source, TPosition destination, int32_t depth, uint8_t num, uint32_t bytes);
    int32_t BufferInit(TPosition position, uint32_t bytes);
    UbTensor QueueAlloc(int32_t id);
    void QueueEnQue(int32_t id, const UbTensor& tensor);
    UbTensor QueueDeQue(int32_t id);
    void QueueFree(int32_t id, const UbTensor& tensor);
    uint32_t QueueSize(int32_t id) { return static_cast<uint32_t>(FindQueue("TQue", id).enqueued.size()); }
    bool QueueHasIdleBuffer(int32_t id);
    uint32_t BufferBytes(int32_t index) { return FindBuffer("TBuf::Get", index).bytes; }
    UbTensor BufferGet(const char* call, int32_t index, uint32_t offset, uint64_t bytes);

    // Synchronisation.
    AscendC::TEventID FetchEvent(HardEvent event);
    AscendC::TEventID AllocEvent(HardEvent event);
    void ReleaseEvent(HardEvent event, int32_t id);
    void SetFlag(HardEvent event, int32_t id);
    void WaitFlag(HardEvent event, int32_t id);
    void Barrier(pipe_t pipe);

    // Scalar access.
    void Slice(const UbTensor& tensor, uint64_t offset);
    void ReadUb(const UbTensor& tensor, uint64_t offset, void* value, uint32_t bytes);
    void WriteUb(const UbTensor& tensor, uint64_t offset, const void* value, uint32_t bytes);
    void ReadGm(const GmTensor& tensor, void* value, uint32_t bytes);
    void WriteGm(const GmTensor& tensor, const void* value, uint32_t bytes);

    // Copies.
    void CopyIn(const char* call, const UbTensor& dst, const GmTensor& src, const Copy& copy);
    void CopyOut(const char* call, const GmTensor& dst, const UbTensor& src, const Copy& copy);

    // Vector instructions.
    // Checks the operands of an instruction that reads sources and writes dst, counts it, and takes its place
    // in the vector pipe. The instruction itself then works on Data() and Valid().
    void Vector(const char* call, const Operand& dst, std::initializer_list<Operand> sources,
                uint64_t elements, uint32_t widestBytes, bool inPlace);
    // Select with a mask that is read element by element works through a scratch in its reserve.
    void SelectScratch(const void* value, uint32_t bytes);
    void CheckValid(const char* call, const char* name, uint32_t address, uint64_t bytes);
    // The first byte of the range with an uninitialised bit, kUbBytes when there is none.
    uint32_t FirstInvalid(uint32_t address, uint64_t bytes) const;

    template <typename T>
    T* Data(const UbTensor& tensor) {
        return reinterpret_cast<T*>(data_ + tensor.address);
    }
    // A bit per bit of UB: written since the start or since its buffer was freed, by a value that was.
    uint8_t* Valid(const UbTensor& tensor) { return &valid_[tensor.address]; }

private:
    void Forget(uint32_t begin, uint32_t end);  // bytes of UB
    int32_t AddBuffer(const char* call, TPosition position, int32_t queue, uint32_t bytes);
    Queue& FindQueue(const char* call, int32_t id);
    Buffer& FindBuffer(const char* call, int32_t index);
    Buffer& QueueBuffer(Rule rule, const char* call, const Queue& queue, const UbTensor& tensor);
    UbTensor Tensor(int32_t index) const;
    void WaitAndRelease(HardEvent event, int32_t& id);
    void CheckEventId(const char* call, HardEvent event, int32_t id);
    void CheckLeaks(const char* call);
    UbTensor Element(const char* call, const UbTensor& tensor, uint64_t offset, uint32_t bytes);
    void Issue(pipe_t pipe);
    // Whether the instruction just issued on pipe may read or write the operand. With a row, only the first
    // row bytes of every step are touched.
    void CheckAccess(const char* call, pipe_t pipe, const Operand& operand, bool write, uint32_t row = 0,
                     uint64_t step = 0);
    void CheckQueueAccess(const char* call, pipe_t pipe, const Operand& operand, bool write,
                          const Buffer& buffer);
    // Every instruction that wrote these bytes, and before a write every one that read them, must be known
    // complete.
    void CheckOrder(const char* call, pipe_t pipe, const char* name, uint32_t address, uint64_t bytes,
                    bool write);
    void MarkRead(pipe_t pipe, uint32_t address, uint64_t bytes);
    // The write comes after all that was read or written there: only it remains to be waited for.
    void MarkWritten(pipe_t pipe, uint32_t address, uint64_t bytes);
    static void Mark(std::vector<uint32_t>& sequences, uint32_t address, uint64_t bytes, uint32_t value);
    void CheckCopy(const char* call, const Copy& copy, uint64_t gm);
    void CheckCopyPosition(const char* call, const UbTensor& tensor);
    void CheckGmAlignment(const char* call, uint64_t address, uint32_t bytes);
    // The host's view of bytes of global memory that this instruction may read or write.
    uint8_t* Gm(const char* call, pipe_t pipe, const GmTensor& tensor, uint64_t address, uint64_t bytes,
                bool write);
    // The first written range that ends behind address.
    std::map<uint64_t, Written>::iterator FirstWritten(uint64_t address);
    void RecordWrite(const char* call, pipe_t pipe, const GmRange& range, uint64_t address, uint64_t end);
    void CheckReadOfWritten(const char* call, pipe_t pipe, const GmRange& range, uint64_t address,
                            uint64_t end);

    Run* run_ = nullptr;
    uint32_t index_ = 0;
    CoreCounters* counters_ = nullptr;

    uint8_t* data_;
    std::vector<uint8_t> valid_;
    uint32_t dirty_;  // UB used since the last start, apart from Select's reserve
    // Per pipe and 32-byte block of UB: the last instruction that read it, that wrote it.
    std::vector<std::vector<uint32_t>> reads_;
    std::vector<std::vector<uint32_t>> writes_;

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

// The core that this thread executes.
Core& Current();
void SetCurrent(Core* core);

}  // namespace vnpu

#endif
