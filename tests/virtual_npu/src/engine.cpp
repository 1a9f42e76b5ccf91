// Launches on virtual vector cores, and the report about them.
#include "engine.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>
#include <random>

#include "core.h"
#include "virtual_npu.h"

namespace vnpu {
namespace {

constexpr int kVectorCoreException = 507035;
constexpr uint32_t kMaxTilingBytes = 2048;

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
            run.Fail(Rule::GmUnwritten, "end of the launch", -1, "byte ", covered - begin, " of ", range.name,
                     " was not written by any core");
        }
    }
}

void RunCores(Run& run) {
    const Launch& launch = run.launch;
    const KernelEntry entry = Load(run);
    const uint32_t cores = CurrentPlatform().vectorCores;
    if (launch.blockDim == 0 || launch.blockDim > cores) {
        run.Fail(Rule::BlockDim, "launch", -1, "block dim ", launch.blockDim, "; the platform has ", cores,
                 " vector cores");
    }
    if (launch.tilingData.size() > kMaxTilingBytes) {
        run.Fail(Rule::TilingSize, "launch", -1, launch.tilingData.size(),
                 " bytes of tiling data, more than ", kMaxTilingBytes);
    }
    PoisonOutputs(launch);
    run.tiling.assign(AlignUp(launch.tilingData.size() + 1, kBlock), kPoison);
    std::copy(launch.tilingData.begin(), launch.tilingData.end(), run.tiling.begin());
    std::vector<uint8_t*> arguments;
    for (const GmRange& range : launch.arguments) arguments.push_back(range.device);

    static thread_local std::unique_ptr<Core> core = std::make_unique<Core>();
    run.record.cores.reserve(launch.blockDim);
    SetCurrent(core.get());
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
            char escaped[8];
            std::snprintf(escaped, sizeof(escaped), "\\u%04x", c);
            json += escaped;
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
    template <typename Integer>
    void Number(const std::string& name, Integer value) {
        Key(name) += std::to_string(value);
    }
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
    object.Number("bytes", copies.bytes);
    AppendArray(object.Key("sizes"), copies.sizes, [&](const auto& size) {
        json += "[" + std::to_string(size.first) + ", " + std::to_string(size.second) + "]";
    });
}

void AppendLaunch(std::string& json, const LaunchRecord& record) {
    JsonObject launch(json);
    launch.Text("opType", record.opType);
    launch.Text("kernel", record.kernel);
    launch.Number("tilingKey", record.tilingKey);
    launch.Number("blockDim", record.blockDim);
    launch.Number("tilingBytes", record.tilingBytes);
    launch.Number("ubBytes", record.ubBytes);
    launch.Number("ubHighWater", record.ubHighWater);
    launch.Number("scalarGmAccesses", record.scalarGmAccesses);
    AppendCopies(launch.Key("copiesIn"), record.copiesIn);
    AppendCopies(launch.Key("copiesOut"), record.copiesOut);
    {
        JsonObject vector(launch.Key("vector"));
        for (const auto& [name, counters] : record.vector) {
            JsonObject instruction(vector.Key(name));
            instruction.Number("instructions", counters.instructions);
            instruction.Number("elements", counters.elements);
            instruction.Number("repeats", counters.repeats);
        }
    }
    AppendArray(launch.Key("cores"), record.cores, [&](const CoreCounters& counters) {
        JsonObject core(json);
        core.Number("core", counters.core);
        core.Number("elements", counters.elementsWritten);
        core.Number("bytesRead", counters.bytesRead);
        core.Number("bytesWritten", counters.bytesWritten);
        core.Number("tilingBytes", counters.tilingBytes);
        core.Number("copiesIn", counters.copiesIn);
        core.Number("tiles", counters.copiesOut);
        core.Number("repeats", counters.repeats);
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
    SetCurrent(nullptr);
    const int status = run.record.violations.empty() ? 0 : kVectorCoreException;
    const std::lock_guard<std::mutex> lock(g_mutex);
    g_history.push_back(std::move(run.record));
    return status;
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
        core.Fail(Rule::Arguments, "launch", "the kernel takes ", count,
                  " inputs, outputs and workspace, the launch has ", given);
    }
}

void UnknownTilingKey() {
    Current().Fail(Rule::TilingKey, "launch", "no declared combination of template arguments has tiling key ",
                   TilingKey());
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
