#include "core.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace vnpu {
namespace {

constexpr uint32_t kMaxBuffers = 64;         // of a pipe
constexpr uint32_t kMaxPositionBuffers = 8;  // of all queues at one position

struct Ends {
    const char* name;
    pipe_t from;
    pipe_t to;
};
// In the order of HardEvent.
constexpr std::array<Ends, kEventKinds> kEvents = {{
    {"MTE2_V", PIPE_MTE2, PIPE_V},
    {"V_MTE2", PIPE_V, PIPE_MTE2},
    {"MTE3_V", PIPE_MTE3, PIPE_V},
    {"V_MTE3", PIPE_V, PIPE_MTE3},
    {"V_V", PIPE_V, PIPE_V},
    {"MTE3_MTE2", PIPE_MTE3, PIPE_MTE2},
    {"MTE2_MTE3", PIPE_MTE2, PIPE_MTE3},
    {"S_V", PIPE_S, PIPE_V},
    {"V_S", PIPE_V, PIPE_S},
    {"S_MTE2", PIPE_S, PIPE_MTE2},
    {"MTE2_S", PIPE_MTE2, PIPE_S},
    {"S_MTE3", PIPE_S, PIPE_MTE3},
    {"MTE3_S", PIPE_MTE3, PIPE_S},
}};
constexpr const char* kPipeNames[kPipes] = {"S", "V", "MTE2", "MTE3"};

const Ends& EndsOf(HardEvent event) { return kEvents[static_cast<size_t>(event)]; }

void Join(Clock& clock, const Clock& other) {
    for (uint32_t pipe = 0; pipe < kPipes; ++pipe) clock[pipe] = std::max(clock[pipe], other[pipe]);
}

uint64_t Begin(const GmRange& range) { return reinterpret_cast<uint64_t>(range.device); }
int64_t Offset(uint64_t address, uint64_t begin) { return static_cast<int64_t>(address - begin); }

thread_local Core* g_core = nullptr;

}  // namespace

const std::vector<std::string>& Rules() {
    static const std::vector<std::string> rules = {
#define VNPU_RULE_ID(name, id) id,
        VNPU_RULES(VNPU_RULE_ID)
#undef VNPU_RULE_ID
    };
    return rules;
}

Core& Current() {
    if (g_core == nullptr) {
        std::fprintf(stderr, "virtual NPU: device code was called outside a launch\n");
        std::abort();
    }
    return *g_core;
}

void SetCurrent(Core* core) { g_core = core; }

Run::Run(const Launch& description) : launch(description) {
    record.kernel = launch.kernel;
    record.opType = launch.opType;
    record.tilingKey = launch.tilingKey;
    record.blockDim = launch.blockDim;
    record.tilingBytes = static_cast<uint32_t>(launch.tilingData.size());
    record.ubBytes = std::min<uint64_t>(CurrentPlatform().ubBytes, kUbBytes - kSystemBytes);
    const uint64_t physical = record.ubBytes + kSystemBytes;
    selectScratch =
        static_cast<uint32_t>(physical < kSelectReserve ? 0 : physical - kSelectReserve) / kBlock * kBlock;
}

void Core::Start(Run& run, uint32_t index) {
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

void Core::Finish() {
    CheckLeaks("end of the kernel");
    for (size_t kind = 0; kind < kEventKinds; ++kind) {
        for (int32_t id = 0; id < kEventIds; ++id) {
            if (flags_[kind][id].set) {
                Fail(Rule::FlagLeak, "end of the kernel", "flag ", kEvents[kind].name, " id ", id,
                     " is still set");
            }
        }
    }
    if (!kernelTypeGiven_) {
        Fail(Rule::KernelType, "end of the kernel", "the kernel's type was not given: it must be AIV only");
    }
}

// ---- Kernel entry

void Core::SetKernelType(KernelMetaType type) {
    if (type != KERNEL_TYPE_AIV_ONLY) {
        Fail(Rule::KernelType, "KERNEL_TASK_TYPE_DEFAULT", "type ", static_cast<int>(type),
             ": only vector cores (KERNEL_TYPE_AIV_ONLY) run here");
    }
    kernelTypeGiven_ = true;
}

void Core::FetchTiling(void* destination, size_t bytes, const uint8_t* tiling) {
    const char* call = "GET_TILING_DATA";
    const size_t given = run_->launch.tilingData.size();
    if (tiling != run_->tiling.data()) {
        Fail(Rule::TilingFetch, call, "the argument is not the kernel's tiling parameter");
    }
    if (bytes != given) {
        Fail(Rule::TilingSize, call, "the struct has ", bytes, " bytes, the tiling data ", given);
    }
    // On the device the data passes through the first bytes of UB, whatever lies there.
    const uint32_t passing = static_cast<uint32_t>(AlignUp(bytes, kBlock));
    for (uint32_t at = 0; at < passing; ++at) {
        if (valid_[at] != 0) {
            Fail(Rule::TilingFetch, call, "byte ", at, " of UB holds data that the fetch would overwrite");
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

// ---- Pipe, queues, buffers

void Core::PipeConstruct() {
    if (pipeAlive_) Fail(Rule::PipeLife, "TPipe::TPipe", "another TPipe is alive");
    CheckLeaks("TPipe::TPipe");
    pipeAlive_ = true;
    pipeEnd_ = 0;
    buffers_.clear();
    queues_.clear();
    reserved_ = {};
}

void Core::PipeDestroy() {
    for (Buffer& buffer : buffers_) {
        if (buffer.state == State::Free && buffer.freeEvent >= 0) {
            const size_t kind = static_cast<size_t>(queues_[buffer.queue].FreeEvent());
            flags_[kind][buffer.freeEvent].set = false;
        }
    }
    Barrier(PIPE_ALL);
    pipeAlive_ = false;
}

int32_t Core::QueueInit(TPosition source, TPosition destination, int32_t depth, uint8_t num, uint32_t bytes) {
    const char* call = "TPipe::InitBuffer(queue)";
    if (num == 0) Fail(Rule::BufferInit, call, "num is 0");
    Queue queue = {source, destination, depth, static_cast<int32_t>(buffers_.size()), num, 0, {}};
    const TPosition position = queue.Inbound() ? destination : source;
    uint32_t atPosition = num;
    for (const Buffer& buffer : buffers_) atPosition += buffer.queue >= 0 && buffer.position == position;
    if (atPosition > kMaxPositionBuffers) {
        Fail(Rule::PositionBuffers, call, atPosition, " queue buffers at one position, which has ",
             kMaxPositionBuffers, " event ids");
    }
    for (int32_t i = 0; i < num; ++i) AddBuffer(call, position, static_cast<int32_t>(queues_.size()), bytes);
    queues_.push_back(queue);
    return static_cast<int32_t>(queues_.size()) - 1;
}

int32_t Core::BufferInit(TPosition position, uint32_t bytes) {
    return AddBuffer("TPipe::InitBuffer(TBuf)", position, -1, bytes);
}

UbTensor Core::QueueAlloc(int32_t id) {
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
    Fail(Rule::QueueAlloc, call, "none of the queue's ", queue.count,
         " buffers is free: the core would wait forever");
}

void Core::QueueEnQue(int32_t id, const UbTensor& tensor) {
    const char* call = "EnQue";
    Queue& queue = FindQueue(call, id);
    Buffer& buffer = QueueBuffer(Rule::QueueState, call, queue, tensor);
    if (static_cast<int32_t>(queue.enqueued.size()) >= queue.depth) {
        Fail(Rule::QueueDepth, call, "the queue of depth ", queue.depth, " is full");
    }
    if (buffer.state == State::Enqueued) Fail(Rule::QueueState, call, "the tensor is in the queue already");
    buffer.state = State::Enqueued;
    buffer.enqueueEvent = AllocEvent(queue.EnqueueEvent());
    SetFlag(queue.EnqueueEvent(), buffer.enqueueEvent);
    queue.enqueued.push_back(tensor.buffer);
}

UbTensor Core::QueueDeQue(int32_t id) {
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

void Core::QueueFree(int32_t id, const UbTensor& tensor) {
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

bool Core::QueueHasIdleBuffer(int32_t id) {
    const Queue& queue = FindQueue("TQue", id);
    return std::any_of(buffers_.begin() + queue.first, buffers_.begin() + queue.first + queue.count,
                       [](const Buffer& buffer) { return buffer.state == State::Free; });
}

UbTensor Core::BufferGet(const char* call, int32_t index, uint32_t offset, uint64_t bytes) {
    const Buffer& buffer = FindBuffer(call, index);
    if (bytes == 0 || bytes % kBlock != 0 || offset + bytes > buffer.bytes) {
        Fail(Rule::BufferGet, call, bytes, " bytes from byte ", offset, " of a buffer of ", buffer.bytes,
             " bytes: whole 32-byte blocks inside it are needed");
    }
    UbTensor tensor = Tensor(index);
    tensor.address += offset;
    tensor.bytes = static_cast<uint32_t>(bytes);
    return tensor;
}

// ---- Synchronisation

AscendC::TEventID Core::FetchEvent(HardEvent event) {
    const auto& used = reserved_[static_cast<size_t>(event)];
    for (int8_t id = 0; id < kEventIds; ++id) {
        if (!used[id]) return id;
    }
    Fail(Rule::EventIds, "AllocEventID", "all ", kEventIds, " ids of ", EndsOf(event).name, " are taken");
}

AscendC::TEventID Core::AllocEvent(HardEvent event) {
    const AscendC::TEventID id = FetchEvent(event);
    reserved_[static_cast<size_t>(event)][id] = true;
    return id;
}

void Core::ReleaseEvent(HardEvent event, int32_t id) {
    CheckEventId("ReleaseEventID", event, id);
    reserved_[static_cast<size_t>(event)][id] = false;
}

void Core::SetFlag(HardEvent event, int32_t id) {
    CheckEventId("SetFlag", event, id);
    if (event == HardEvent::V_V) {
        Barrier(PIPE_V);
        return;
    }
    Flag& flag = flags_[static_cast<size_t>(event)][id];
    if (flag.set) {
        Fail(Rule::FlagDouble, "SetFlag", EndsOf(event).name, " id ", id, " is set already");
    }
    const pipe_t from = EndsOf(event).from;
    flag.set = true;
    flag.clock = known_[from];
    flag.clock[from] = issued_[from];
}

void Core::WaitFlag(HardEvent event, int32_t id) {
    CheckEventId("WaitFlag", event, id);
    if (event == HardEvent::V_V) return;
    Flag& flag = flags_[static_cast<size_t>(event)][id];
    if (!flag.set) {
        Fail(Rule::FlagWait, "WaitFlag", EndsOf(event).name, " id ", id,
             " was not set: the core would wait forever");
    }
    flag.set = false;
    const pipe_t to = EndsOf(event).to;
    if (to == PIPE_S) {  // the scalar unit issues for every pipe: nothing after this starts before it
        for (Clock& clock : known_) Join(clock, flag.clock);
    } else {
        Join(known_[to], flag.clock);
    }
}

void Core::Barrier(pipe_t pipe) {
    if (pipe == PIPE_ALL) {
        known_.fill(issued_);
    } else {
        known_[pipe][pipe] = issued_[pipe];
    }
}

// ---- Scalar access

void Core::Slice(const UbTensor& tensor, uint64_t offset) {
    if (offset >= tensor.bytes) {
        Fail(Rule::TensorBounds, "LocalTensor::operator[]", "offset ", offset, " of ", tensor.bytes,
             " bytes");
    }
}

void Core::ReadUb(const UbTensor& tensor, uint64_t offset, void* value, uint32_t bytes) {
    const char* call = "LocalTensor::GetValue";
    const UbTensor element = Element(call, tensor, offset, bytes);
    Issue(PIPE_S);
    CheckAccess(call, PIPE_S, {"tensor", element, bytes}, false);
    CheckValid(call, "tensor", element.address, bytes);
    MarkRead(PIPE_S, element.address, bytes);
    std::memcpy(value, data_ + element.address, bytes);
}

void Core::WriteUb(const UbTensor& tensor, uint64_t offset, const void* value, uint32_t bytes) {
    const char* call = "LocalTensor::SetValue";
    const UbTensor element = Element(call, tensor, offset, bytes);
    Issue(PIPE_S);
    CheckAccess(call, PIPE_S, {"tensor", element, bytes}, true);
    MarkWritten(PIPE_S, element.address, bytes);
    std::memset(&valid_[element.address], 0xFF, bytes);
    std::memcpy(data_ + element.address, value, bytes);
}

void Core::ReadGm(const GmTensor& tensor, void* value, uint32_t bytes) {
    const char* call = "GlobalTensor::GetValue";
    CheckGmAlignment(call, tensor.address, bytes);
    Issue(PIPE_S);
    std::memcpy(value, Gm(call, PIPE_S, tensor, tensor.address, bytes, false), bytes);
    counters_->bytesRead += bytes;
    ++run_->record.scalarGmAccesses;
}

void Core::WriteGm(const GmTensor& tensor, const void* value, uint32_t bytes) {
    const char* call = "GlobalTensor::SetValue";
    CheckGmAlignment(call, tensor.address, bytes);
    Issue(PIPE_S);
    std::memcpy(Gm(call, PIPE_S, tensor, tensor.address, bytes, true), value, bytes);
    counters_->bytesWritten += bytes;
    ++counters_->elementsWritten;
    ++run_->record.scalarGmAccesses;
}

// ---- Copies

void Core::CopyIn(const char* call, const UbTensor& dst, const GmTensor& src, const Copy& copy) {
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

void Core::CopyOut(const char* call, const GmTensor& dst, const UbTensor& src, const Copy& copy) {
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

// ---- Vector instructions

void Core::Vector(const char* call, const Operand& dst, std::initializer_list<Operand> sources,
                  uint64_t elements, uint32_t widestBytes, bool inPlace) {
    Issue(PIPE_V);
    for (const Operand& source : sources) {
        CheckAccess(call, PIPE_V, source, false);
        const bool apart = source.tensor.address + source.bytes <= dst.tensor.address ||
                           dst.tensor.address + dst.bytes <= source.tensor.address;
        const bool same = source.tensor.address == dst.tensor.address && source.bytes == dst.bytes;
        if (!apart && !(inPlace && same)) {
            Fail(Rule::OperandOverlap, call, "dst [", dst.tensor.address, ", ",
                 dst.tensor.address + dst.bytes, ") and ", source.name, " [", source.tensor.address, ", ",
                 source.tensor.address + source.bytes, ") overlap");
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

void Core::SelectScratch(const void* value, uint32_t bytes) {
    const uint32_t scratch = run_->selectScratch;
    if (pipeEnd_ > scratch) {
        Fail(Rule::SelectReserve, "Select", "the pipe's buffers end at byte ", pipeEnd_,
             " of UB; Select writes from byte ", scratch, " on");
    }
    for (uint32_t i = 0; i < kBlock; ++i) std::memcpy(data_ + scratch + i * bytes, value, bytes);
}

void Core::CheckValid(const char* call, const char* name, uint32_t address, uint64_t bytes) {
    if (const uint32_t at = FirstInvalid(address, bytes); at != kUbBytes) {
        Fail(Rule::UbUninitialised, call, name, ": byte ", at, " of UB (", at - address,
             " from the operand's start) was never written");
    }
}

uint32_t Core::FirstInvalid(uint32_t address, uint64_t bytes) const {
    uint32_t at = address;
    const uint32_t end = address + static_cast<uint32_t>(bytes);
    for (uint64_t word; at + sizeof(word) <= end; at += sizeof(word)) {
        std::memcpy(&word, &valid_[at], sizeof(word));
        if (word != ~uint64_t{0}) break;
    }
    while (at < end && valid_[at] == 0xFF) ++at;
    return at < end ? at : kUbBytes;
}

// ---- What they share

void Core::Forget(uint32_t begin, uint32_t end) {
    std::memset(data_ + begin, kPoison, end - begin);
    std::memset(valid_.data() + begin, 0, end - begin);
    for (uint32_t pipe = 0; pipe < kPipes; ++pipe) {
        std::fill(reads_[pipe].begin() + begin / kBlock, reads_[pipe].begin() + end / kBlock, 0);
        std::fill(writes_[pipe].begin() + begin / kBlock, writes_[pipe].begin() + end / kBlock, 0);
    }
}

int32_t Core::AddBuffer(const char* call, TPosition position, int32_t queue, uint32_t bytes) {
    if (!pipeAlive_) Fail(Rule::PipeLife, call, "no TPipe is alive");
    if (bytes == 0) Fail(Rule::BufferInit, call, "len is 0");
    if (buffers_.size() == kMaxBuffers) {
        Fail(Rule::BufferCount, call, "more than ", kMaxBuffers, " buffers");
    }
    const uint64_t end = pipeEnd_ + AlignUp(bytes, kBlock);
    if (end > run_->record.ubBytes) {
        Fail(Rule::UbCapacity, call, "the buffers take ", end, " bytes of ", run_->record.ubBytes);
    }
    buffers_.push_back({pipeEnd_, static_cast<uint32_t>(AlignUp(bytes, kBlock)), position, queue});
    buffers_.back().generation = ++generation_;
    pipeEnd_ = static_cast<uint32_t>(end);
    dirty_ = std::max(dirty_, pipeEnd_);
    run_->record.ubHighWater = std::max(run_->record.ubHighWater, end);
    return static_cast<int32_t>(buffers_.size()) - 1;
}

Queue& Core::FindQueue(const char* call, int32_t id) {
    if (!pipeAlive_ || id < 0 || static_cast<size_t>(id) >= queues_.size()) {
        Fail(Rule::PipeLife, call, "the queue has no buffers of the TPipe that is alive");
    }
    return queues_[id];
}

Buffer& Core::FindBuffer(const char* call, int32_t index) {
    if (!pipeAlive_ || index < 0 || static_cast<size_t>(index) >= buffers_.size()) {
        Fail(Rule::PipeLife, call, "the buffer does not belong to the TPipe that is alive");
    }
    return buffers_[index];
}

Buffer& Core::QueueBuffer(Rule rule, const char* call, const Queue& queue, const UbTensor& tensor) {
    if (tensor.buffer < queue.first || tensor.buffer >= queue.first + queue.count) {
        Fail(rule, call, "the tensor is not of this queue");
    }
    Buffer& buffer = buffers_[tensor.buffer];
    if (buffer.state == State::Free || buffer.generation != tensor.generation) {
        Fail(rule, call, "the tensor was freed already");
    }
    return buffer;
}

UbTensor Core::Tensor(int32_t index) const {
    const Buffer& buffer = buffers_[index];
    return {buffer.address, buffer.bytes, buffer.generation, index, buffer.position};
}

void Core::WaitAndRelease(HardEvent event, int32_t& id) {
    if (id < 0) return;
    WaitFlag(event, id);
    ReleaseEvent(event, id);
    id = -1;
}

void Core::CheckEventId(const char* call, HardEvent event, int32_t id) {
    if (id < 0 || id >= kEventIds) {
        Fail(Rule::FlagRange, call, EndsOf(event).name, " id ", id, "; there are 0 to ", kEventIds - 1);
    }
}

void Core::CheckLeaks(const char* call) {
    for (const Buffer& buffer : buffers_) {
        if (buffer.queue >= 0 && buffer.state != State::Free) {
            Fail(Rule::QueueLeak, call, "the queue buffer at byte ", buffer.address,
                 " of UB was allocated and not freed");
        }
    }
}

UbTensor Core::Element(const char* call, const UbTensor& tensor, uint64_t offset, uint32_t bytes) {
    if (offset + bytes > tensor.bytes) {
        Fail(Rule::TensorBounds, call, "bytes [", offset, ", ", offset + bytes, ") of ", tensor.bytes);
    }
    UbTensor element = tensor;
    element.address += static_cast<uint32_t>(offset);
    element.bytes -= static_cast<uint32_t>(offset);
    return element;
}

void Core::Issue(pipe_t pipe) {
    ++issued_[pipe];
    if (pipe == PIPE_S) known_[PIPE_S][PIPE_S] = issued_[PIPE_S];  // the scalar unit waits for itself
}

void Core::CheckAccess(const char* call, pipe_t pipe, const Operand& operand, bool write, uint32_t row,
                       uint64_t step) {
    const UbTensor& tensor = operand.tensor;
    const Buffer& buffer = FindBuffer(call, tensor.buffer);
    if (buffer.queue >= 0) CheckQueueAccess(call, pipe, operand, write, buffer);
    if (pipe != PIPE_S && tensor.address % kBlock != 0) {
        Fail(Rule::UbAlignment, call, operand.name, " starts at byte ", tensor.address,
             " of UB, not on a 32-byte boundary");
    }
    if (operand.bytes > tensor.bytes || tensor.address + operand.bytes > buffer.address + buffer.bytes) {
        Fail(Rule::TensorBounds, call, operand.name, ": ", operand.bytes,
             " bytes are accessed; the tensor has ", tensor.bytes, ", its buffer ",
             buffer.address + buffer.bytes - tensor.address, " from there");
    }
    if (row == 0) {
        CheckOrder(call, pipe, operand.name, tensor.address, operand.bytes, write);
    } else {
        for (uint64_t at = 0; at < operand.bytes; at += step) {
            CheckOrder(call, pipe, operand.name, tensor.address + static_cast<uint32_t>(at), row, write);
        }
    }
}

void Core::CheckQueueAccess(const char* call, pipe_t pipe, const Operand& operand, bool write,
                            const Buffer& buffer) {
    const Queue& queue = queues_[buffer.queue];
    const auto fail = [&](const char* reason) {
        Fail(Rule::QueueAccess, call, operand.name, " (byte ", operand.tensor.address, " of UB): ", reason);
    };
    if (buffer.state == State::Free || buffer.generation != operand.tensor.generation)
        fail("used after FreeTensor");
    if (buffer.state == State::Enqueued) fail("used between EnQue and DeQue");
    const bool filling = pipe == PIPE_MTE2 && write;
    if (queue.Outbound()) {
        if (buffer.state == State::Occupied && pipe == PIPE_MTE3) fail("copied out before EnQue and DeQue");
        if (buffer.state == State::Dequeued && write) fail("written after EnQue");
    } else {
        if (buffer.state == State::Occupied && !filling) fail("used before EnQue and DeQue");
        if (buffer.state == State::Dequeued && filling) fail("copied into after DeQue");
        if (!queue.Inbound() && buffer.state == State::Dequeued && pipe != PIPE_MTE3) {
            fail("a pass-through queue hands its tensor to the copy out only");
        }
    }
}

void Core::CheckOrder(const char* call, pipe_t pipe, const char* name, uint32_t address, uint64_t bytes,
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
            Fail(write ? Rule::SyncWaw : Rule::SyncRaw, call, name, ": bytes ", block * kBlock,
                 ".. of UB are written by pipe ", kPipeNames[other], ", which pipe ", kPipeNames[pipe],
                 " has not waited for");
        }
        if (!write) continue;
        if (const uint32_t block = pending(reads_[other]); block != end) {
            Fail(Rule::SyncWar, call, name, ": bytes ", block * kBlock, ".. of UB may still be read by pipe ",
                 kPipeNames[other], ", which pipe ", kPipeNames[pipe], " has not waited for");
        }
    }
}

void Core::MarkRead(pipe_t pipe, uint32_t address, uint64_t bytes) {
    Mark(reads_[pipe], address, bytes, issued_[pipe]);
}

void Core::MarkWritten(pipe_t pipe, uint32_t address, uint64_t bytes) {
    for (uint32_t other = 0; other < kPipes; ++other) {
        Mark(reads_[other], address, bytes, 0);
        Mark(writes_[other], address, bytes, other == static_cast<uint32_t>(pipe) ? issued_[pipe] : 0);
    }
}

void Core::Mark(std::vector<uint32_t>& sequences, uint32_t address, uint64_t bytes, uint32_t value) {
    std::fill(sequences.begin() + address / kBlock,
              sequences.begin() + static_cast<uint32_t>(AlignUp(address + bytes, kBlock)) / kBlock, value);
}

void Core::CheckCopy(const char* call, const Copy& copy, uint64_t gm) {
    if (copy.wrapped)
        Fail(Rule::CopyWrap, call, "a value did not fit its parameter, which kept the low bits");
    if (!copy.padded) {
        if (copy.blockBytes % kBlock != 0) {
            Fail(Rule::CopyGranularity, call, copy.blockBytes, " bytes: the last ", copy.blockBytes % kBlock,
                 " would silently not be copied");
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

void Core::CheckCopyPosition(const char* call, const UbTensor& tensor) {
    if (tensor.position == TPosition::VECCALC) {
        Fail(Rule::Position, call, "a copy between GM and UB takes VECIN or VECOUT, not VECCALC");
    }
}

void Core::CheckGmAlignment(const char* call, uint64_t address, uint32_t bytes) {
    if (address % bytes != 0) {
        Fail(Rule::GmAlignment, call, "the GM address is ", address % bytes,
             " bytes past a multiple of the element's ", bytes);
    }
}

uint8_t* Core::Gm(const char* call, pipe_t pipe, const GmTensor& tensor, uint64_t address, uint64_t bytes,
                  bool write) {
    const uint64_t end = address + bytes;
    if (tensor.end != 0 && (address < tensor.begin || end > tensor.end)) {
        Fail(Rule::GmTensorBounds, call, "bytes [", Offset(address, tensor.begin), ", ",
             Offset(end, tensor.begin), ") of a GlobalTensor of ", tensor.end - tensor.begin);
    }
    // The result may lie on an input: a read means the input, a write the result.
    const GmRange* range = nullptr;
    const GmRange* nearest = nullptr;
    uint64_t distance = ~uint64_t{0};
    bool isReadOnly = false;
    for (const GmRange& candidate : run_->launch.arguments) {
        const uint64_t begin = Begin(candidate);
        const uint64_t away =
            end <= begin ? begin - end : address - std::min(address, begin + candidate.bytes);
        if (candidate.bytes > 0 && away < distance) {
            nearest = &candidate;
            distance = away;
        }
        if (address < begin || end > begin + candidate.bytes) continue;
        if (write && !candidate.writable) {
            isReadOnly = true;
        } else if (range == nullptr || !candidate.writable) {
            range = &candidate;
        }
    }
    if (range == nullptr) {
        if (nearest == nullptr) Fail(Rule::GmBounds, call, "the launch has no tensor");
        Fail(isReadOnly ? Rule::GmReadOnly : Rule::GmBounds, call, write ? "write" : "read", " of bytes [",
             Offset(address, Begin(*nearest)), ", ", Offset(end, Begin(*nearest)), ") of ", nearest->name,
             ", which has ", nearest->bytes);
    }
    if (write) {
        RecordWrite(call, pipe, *range, address, end);
    } else {
        CheckReadOfWritten(call, pipe, *range, address, end);
    }
    return range->host + (address - Begin(*range));
}

std::map<uint64_t, Written>::iterator Core::FirstWritten(uint64_t address) {
    auto at = run_->written.upper_bound(address);
    if (at != run_->written.begin() && std::prev(at)->second.end > address) --at;
    return at;
}

void Core::RecordWrite(const char* call, pipe_t pipe, const GmRange& range, uint64_t address, uint64_t end) {
    const auto at = FirstWritten(address);
    if (at != run_->written.end() && at->first < end) {
        Fail(Rule::GmWrittenTwice, call, "bytes from ", std::max(at->first, address) - Begin(range), " of ",
             range.name, " were written by core ", at->second.core, " already");
    }
    run_->written.emplace_hint(at, address, Written{end, index_, pipe, issued_[pipe]});
}

void Core::CheckReadOfWritten(const char* call, pipe_t pipe, const GmRange& range, uint64_t address,
                              uint64_t end) {
    const uint64_t begin = Begin(range);
    uint64_t covered = address;
    for (auto at = FirstWritten(address); at != run_->written.end() && at->first < end; ++at) {
        const Written& written = at->second;
        if (!range.writable || written.core != index_) {
            Fail(Rule::GmReadWritten, call, "bytes from ", std::max(at->first, address) - begin, " of ",
                 range.name, " were written by core ", written.core, " in this launch");
        }
        if (known_[pipe][written.pipe] < written.sequence) {
            Fail(Rule::GmSync, call, range.name, " is read by pipe ", kPipeNames[pipe],
                 ", which has not waited for the write by pipe ", kPipeNames[written.pipe]);
        }
        if (at->first > covered) break;
        covered = written.end;
    }
    if (range.writable && covered < end) {
        Fail(Rule::GmReadUnwritten, call, "byte ", covered - begin, " of ", range.name,
             " is read before it was written");
    }
}

}  // namespace vnpu
