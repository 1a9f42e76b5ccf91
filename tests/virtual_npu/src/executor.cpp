// Executors, the two phases, and the copies between contiguous tensors and views.
#include <algorithm>
#include <cstring>

#include "acl/acl.h"
#include "aclnn_kernels/contiguous.h"
#include "host.h"
#include "opdev/op_dfx.h"
#include "opdev/platform.h"
#include "opdev/tensor_view_utils.h"

namespace vnpu {

// A tensor of the user: gone when another serial, or none, is at its address.
struct TensorRef {
    const aclTensor* tensor;
    uint64_t serial;
};

struct ExecutorState {
    enum class Repeat { NotAsked, Asked, Impossible };
    std::string api;
    std::vector<TensorRef> inputs;  // of the phase-1 call
    std::vector<TensorRef> outputs;
    std::vector<std::unique_ptr<op::KernelLauncher>> tasks;
    std::vector<std::unique_ptr<aclTensor>> tensors;
    std::vector<std::pair<const aclTensor*, const aclTensor*>> relations;  // out, middle
    Repeat repeat = Repeat::NotAsked;
};

}  // namespace vnpu

namespace {

using vnpu::ExecutorState;
using vnpu::TensorRef;

struct Phase1 {
    std::string api;
    std::vector<TensorRef> inputs;
    std::vector<TensorRef> outputs;
};

Phase1& phase1() {
    static thread_local Phase1 it;
    return it;
}

std::vector<TensorRef> Refs(const std::vector<const aclTensor*>& tensors) {
    std::vector<TensorRef> refs;
    for (const aclTensor* tensor : tensors) {
        refs.push_back({tensor, tensor == nullptr ? 0 : vnpu::SerialOf(vnpu::Kind::Tensor, tensor)});
    }
    return refs;
}

// Reports the first tensor that was destroyed since; null tensors do not count.
bool AllLive(const std::vector<TensorRef>& refs, const std::string& call) {
    for (const TensorRef& ref : refs) {
        if (ref.tensor != nullptr &&
            (ref.serial == 0 || ref.serial != vnpu::SerialOf(vnpu::Kind::Tensor, ref.tensor))) {
            OP_LOGE(ACLNN_ERR_PARAM_INVALID, "%s: aclTensor %p was destroyed.", call.c_str(),
                    static_cast<const void*>(ref.tensor));
            return false;
        }
    }
    return true;
}

// Offsets of the workspace's tensors, counted as CANN does: 32 bytes more each, in steps of 512.
uint64_t PlanWorkspace(const ExecutorState& state) {
    constexpr uint64_t kMargin = 32;
    constexpr uint64_t kStep = 512;
    std::vector<const aclStorage*> planned;
    uint64_t size = 0;
    for (const auto& task : state.tasks) {
        for (const aclTensor* tensor : task->Tensors()) {
            const aclStorage* storage = tensor->GetStorage().get();
            if (!tensor->IsFromWorkspace() || std::count(planned.begin(), planned.end(), storage) != 0) {
                continue;
            }
            planned.push_back(storage);
            tensor->SetWorkspaceOffset(size);
            const uint64_t bytes =
                static_cast<uint64_t>(tensor->Size()) * op::TypeSize(tensor->GetDataType());
            size += (bytes + kMargin + kStep - 1) / kStep * kStep;
        }
    }
    return size;
}

bool CanRun(const ExecutorState& state, uint64_t workspaceSize) {
    // Where nothing is launched, nothing is looked at.
    if (!state.tasks.empty() && (!AllLive(state.inputs, state.api) || !AllLive(state.outputs, state.api))) {
        return false;
    }
    const uint64_t needed = PlanWorkspace(state);
    if (workspaceSize < needed) {
        OP_LOGE(ACLNN_ERR_PARAM_INVALID, "The workspace has %lu bytes, phase 1 asked for %lu.", workspaceSize,
                needed);
    }
    return workspaceSize >= needed;
}

int Poison(uint8_t* workspace, uint64_t bytes) {
    uint8_t* const alias = vnpu::HostAlias(workspace);
    if (alias == nullptr || vnpu::LiveBytes(workspace) < bytes) {
        vnpu::SetErrorMessage("the workspace is no live device memory of " + std::to_string(bytes) +
                              " bytes");
        return ACL_ERROR_RT_VECTOR_CORE_EXCEPTION;
    }
    std::memset(alias, 0xFF, bytes);
    return ACL_SUCCESS;
}

aclnnStatus RunTasks(const aclOpExecutor& executor, void* workspace, aclrtStream stream) {
    const ExecutorState& state = executor.State();
    if (executor.IsRepeatable()) {
        for (const auto& [out, middle] : state.relations) {
            middle->SetStorageAddr(out->GetStorageAddr());
        }
    }
    for (const auto& tensor : state.tensors) {
        if (tensor->IsFromWorkspace()) {
            tensor->SetStorageAddr(workspace);
        }
    }
    if (const uint64_t bytes = executor.GetWorkspaceSize(); bytes != 0) {
        auto* const start = static_cast<uint8_t*>(workspace);
        if (vnpu::Enqueue(stream, [start, bytes] { return Poison(start, bytes); }) != ACL_SUCCESS) {
            return ACLNN_ERR_RUNTIME_ERROR;
        }
    }
    for (const auto& task : state.tasks) {
        if (const aclnnStatus status = task->Launch(stream)) {
            return status;
        }
    }
    return ACLNN_SUCCESS;
}

void Delete(aclOpExecutor* executor) {
    vnpu::Untrack(vnpu::Kind::Executor, executor, "phase 2");
    delete executor;
}

class HostLauncher : public op::KernelLauncher {
public:
    HostLauncher(const char* name, std::vector<const aclTensor*> tensors, vnpu::HostTask task)
        : name_(name), tensors_(std::move(tensors)), task_(std::move(task)) {}

    const std::vector<const aclTensor*>& Tensors() const override { return tensors_; }

    aclnnStatus Launch(aclrtStream stream) override {
        vnpu::LogCall(name_);
        std::vector<vnpu::Operand> operands;
        for (const aclTensor* tensor : tensors_) {
            operands.push_back({static_cast<uint8_t*>(tensor->GetData()), tensor->GetDataType(),
                                tensor->GetViewShape(), tensor->GetViewStrides()});
        }
        const auto work = [name = name_, task = task_, operands = std::move(operands)]() mutable {
            for (vnpu::Operand& operand : operands) {
                if (!Resolve(operand)) {
                    vnpu::SetErrorMessage(name + ": an operand lies outside live device memory");
                    return ACL_ERROR_RT_VECTOR_CORE_EXCEPTION;
                }
            }
            return task(operands);
        };
        return vnpu::Enqueue(stream, work) == ACL_SUCCESS ? ACLNN_SUCCESS : ACLNN_ERR_RUNTIME_ERROR;
    }

private:
    // From the device's address of the first element to the host's.
    static bool Resolve(vnpu::Operand& operand) {
        const auto size = static_cast<int64_t>(op::TypeSize(operand.dataType));
        int64_t below = 0;
        int64_t above = size;
        for (size_t i = 0; i < operand.strides.size(); ++i) {
            if (operand.shape[i] == 0) {
                return true;
            }
            const int64_t reach = operand.strides[i] * (operand.shape[i] - 1) * size;
            (reach < 0 ? below : above) += reach;
        }
        const uint8_t* const first = operand.data + below;
        uint8_t* const alias = vnpu::HostAlias(first);
        if (alias == nullptr || vnpu::LiveBytes(first) < static_cast<size_t>(above - below)) {
            return false;
        }
        operand.data = alias - below;
        return true;
    }

    std::string name_;
    std::vector<const aclTensor*> tensors_;
    vnpu::HostTask task_;
};

// Copies all elements from dimension dim on.
void CopyElements(const vnpu::Operand& from, const vnpu::Operand& to, size_t dim, int64_t fromOffset,
                  int64_t toOffset) {
    const auto size = static_cast<int64_t>(op::TypeSize(from.dataType));
    if (dim == from.shape.GetDimNum()) {
        std::memcpy(to.data + toOffset * size, from.data + fromOffset * size, static_cast<size_t>(size));
        return;
    }
    for (int64_t i = 0; i < from.shape[dim]; ++i) {
        CopyElements(from, to, dim + 1, fromOffset + i * from.strides[dim], toOffset + i * to.strides[dim]);
    }
}

void AddCopy(aclOpExecutor* executor, const char* name, const aclTensor* from, const aclTensor* to) {
    vnpu::AddHostTask(executor, name, {from, to}, [](const std::vector<vnpu::Operand>& operands) {
        CopyElements(operands[0], operands[1], 0, 0, 0);
        return ACL_SUCCESS;
    });
}

aclnnStatus SetAddress(aclOpExecutor* executor, const std::vector<TensorRef>& tensors, size_t index,
                       aclTensor* tensor, void* address) {
    if (!executor->IsRepeatable()) {
        OP_LOGE(ACLNN_ERR_INNER, "Addresses can be set once the executor is repeatable.");
        return ACLNN_ERR_INNER;
    }
    if (index >= tensors.size() || tensors[index].tensor != tensor ||
        !AllLive({tensors[index]}, "set address")) {
        OP_LOGE(ACLNN_ERR_PARAM_INVALID, "Index %zu of %zu is not this tensor's.", index, tensors.size());
        return ACLNN_ERR_PARAM_INVALID;
    }
    tensor->SetStorageAddr(address);
    return OK;
}

aclnnStatus CheckExecutor(const aclOpExecutor* executor, const void* argument, const char* call) {
    if (executor == nullptr || argument == nullptr) {
        return ACLNN_ERR_INNER_NULLPTR;
    }
    if (vnpu::SerialOf(vnpu::Kind::Executor, executor) == 0) {
        OP_LOGE(ACLNN_ERR_INNER, "%s: the executor was run or destroyed before.", call);
        return ACLNN_ERR_INNER;
    }
    return OK;
}

std::vector<TensorRef> AllTensors(const aclOpExecutor& executor) {
    std::vector<TensorRef> tensors = executor.State().inputs;
    tensors.insert(tensors.end(), executor.State().outputs.begin(), executor.State().outputs.end());
    return tensors;
}

}  // namespace

namespace vnpu {

void AddHostTask(aclOpExecutor* executor, const char* name, std::vector<const aclTensor*> tensors,
                 HostTask task) {
    executor->AddToKernelLauncherList(new HostLauncher(name, std::move(tensors), std::move(task)));
}

}  // namespace vnpu

aclOpExecutor::aclOpExecutor() : state_(std::make_unique<ExecutorState>()) {
    state_->api = phase1().api;
    state_->inputs = std::move(phase1().inputs);
    state_->outputs = std::move(phase1().outputs);
}

aclOpExecutor::~aclOpExecutor() = default;

aclTensor* aclOpExecutor::AllocTensor(const op::Shape& shape, op::DataType dataType, op::Format format) {
    op::Strides strides;
    op::ToContiguousStrides(shape, strides);
    auto storage = std::make_shared<aclStorage>();
    storage->fromWorkspace = true;
    state_->tensors.push_back(
        std::make_unique<aclTensor>(shape, strides, 0, shape, dataType, format, std::move(storage)));
    return state_->tensors.back().get();
}

aclTensor* aclOpExecutor::CreateView(const aclTensor* tensor, const op::Shape& shape, int64_t offset) {
    op::Strides strides;
    op::ToContiguousStrides(shape, strides);
    state_->tensors.push_back(std::make_unique<aclTensor>(
        shape, strides, offset, shape, tensor->GetDataType(), tensor->GetViewFormat(), tensor->GetStorage()));
    return state_->tensors.back().get();
}

void aclOpExecutor::AddToKernelLauncherList(op::KernelLauncher* launcher) {
    state_->tasks.emplace_back(launcher);
}

void aclOpExecutor::AddTensorRelation(const aclTensor* out, const aclTensor* middle) {
    state_->relations.emplace_back(out, middle);
}

void aclOpExecutor::AbandonCache(bool disableRepeat) {
    if (disableRepeat) {
        state_->repeat = ExecutorState::Repeat::Impossible;
    }
}

uint64_t aclOpExecutor::GetWorkspaceSize() const { return PlanWorkspace(*state_); }

aclnnStatus aclOpExecutor::SetRepeatable() {
    if (state_->repeat == ExecutorState::Repeat::Impossible) {
        OP_LOGE(ACLNN_ERR_INNER, "%s: the executor cannot be repeated.", state_->api.c_str());
        return ACLNN_ERR_INNER;
    }
    state_->repeat = ExecutorState::Repeat::Asked;
    return OK;
}

bool aclOpExecutor::IsRepeatable() const { return state_->repeat == ExecutorState::Repeat::Asked; }

UniqueExecutor::UniqueExecutor(const char* funcName)
    : funcName_(funcName), executor_(std::make_unique<aclOpExecutor>()) {}

UniqueExecutor::~UniqueExecutor() {
    if (executor_ != nullptr) {
        OP_LOGE_WITHOUT_REPORT(ACLNN_ERR_INNER_NOT_TRANS_EXECUTOR, "%s ends without ReleaseTo.", funcName_);
    }
}

void UniqueExecutor::ReleaseTo(aclOpExecutor** executor) {
    if (executor != nullptr) {
        *executor = executor_.release();
        vnpu::Track(vnpu::Kind::Executor, *executor);
    }
}

aclnnStatus CommonOpExecutorRun(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                aclrtStream stream) {
    if (executor == nullptr) {
        OP_LOGE(ACLNN_ERR_PARAM_NULLPTR, "The executor is null.");
        return ACLNN_ERR_PARAM_NULLPTR;
    }
    if (const aclnnStatus status = CheckExecutor(executor, executor, "phase 2")) {
        return status;
    }
    if (workspaceSize > 0 && workspace == nullptr) {
        OP_LOGE(ACLNN_ERR_PARAM_NULLPTR, "The workspace is null.");
        Delete(executor);
        return ACLNN_ERR_PARAM_NULLPTR;
    }
    const bool canRun = CanRun(executor->State(), workspaceSize);
    const aclnnStatus status = canRun ? RunTasks(*executor, workspace, stream) : ACLNN_ERR_PARAM_INVALID;
    if (!executor->IsRepeatable()) {
        Delete(executor);
    }
    return status;
}

namespace op {
namespace internal {

aclnnStatus CheckPhase1Params(aclOpExecutor** executor, uint64_t* workspaceSize) {
    if (executor == nullptr || workspaceSize == nullptr) {
        OP_LOGE(ACLNN_ERR_PARAM_NULLPTR, "workspaceSize or executor is null.");
        return ACLNN_ERR_PARAM_NULLPTR;
    }
    return ACLNN_SUCCESS;
}

aclnnStatus BeginPhase1(const char* api, const std::vector<const aclTensor*>& inputs,
                        const std::vector<const aclTensor*>& outputs) {
    vnpu::CallErrors().clear();
    vnpu::LogCall(std::string(api) + "GetWorkspaceSize");
    phase1() = {api, Refs(inputs), Refs(outputs)};
    return AllLive(phase1().inputs, api) && AllLive(phase1().outputs, api) ? ACLNN_SUCCESS
                                                                           : ACLNN_ERR_PARAM_INVALID;
}

void BeginPhase2(const char* api) {
    vnpu::CallErrors().clear();
    vnpu::LogCall(api);
}

}  // namespace internal
}  // namespace op

namespace l0op {

const aclTensor* Contiguous(const aclTensor* x, aclOpExecutor* executor) {
    L0_DFX(Contiguous, x);
    if (op::IsContiguous(x)) {
        const op::Shape& shape = x->GetViewShape();
        return x->GetStorageShape() == shape ? x : executor->CreateView(x, shape, x->GetViewOffset());
    }
    if (!op::Validate(x)) {
        return nullptr;
    }
    aclTensor* const copy = executor->AllocTensor(x->GetViewShape(), x->GetDataType(), x->GetViewFormat());
    AddCopy(executor, "AsStrided", x, copy);
    return copy;
}

const aclTensor* ViewCopy(const aclTensor* x, const aclTensor* y, aclOpExecutor* executor) {
    L0_DFX(ViewCopy, x, y);
    const bool sameShape = x->GetViewShape() == y->GetViewShape() || (x->Numel() == 1 && y->Numel() == 1);
    if (y->IsFromWorkspace() || x->GetDataType() != y->GetDataType() || !sameShape) {
        OP_LOGE(ACLNN_ERR_PARAM_INVALID, "ViewCopy: %s does not fit %s.", x->ToString().GetString(),
                y->ToString().GetString());
        return nullptr;
    }
    if (!op::IsContiguous(x) || !op::IsContiguous(y)) {
        if (!op::Validate(y)) {
            return nullptr;
        }
        AddCopy(executor, "ViewCopy", x, y);
        return y;
    }
    if (!x->IsFromWorkspace()) {
        if (x->GetData() == y->GetData()) {
            executor->AbandonCache(true);
        } else {
            AddCopy(executor, "TensorMove", x,
                    executor->CreateView(y, x->GetViewShape(), y->GetViewOffset()));
        }
        return y;
    }
    // Whatever computes x writes into y.
    auto* const middle = const_cast<aclTensor*>(x);
    middle->SetFromWorkspace(false);
    middle->SetStorageAddr(y->GetStorageAddr());
    middle->SetStorageOffset(y->GetViewOffset() + y->GetStorageOffset());
    executor->AddTensorRelation(y, middle);
    return y;
}

}  // namespace l0op

extern "C" {

aclnnStatus aclnnInit(const char*) { return OK; }

aclnnStatus aclnnFinalize() { return OK; }

aclnnStatus aclSetAclOpExecutorRepeatable(aclOpExecutor* executor) {
    const aclnnStatus status = CheckExecutor(executor, executor, __func__);
    return status == OK ? executor->SetRepeatable() : status;
}

aclnnStatus aclDestroyAclOpExecutor(aclOpExecutor* executor) {
    if (const aclnnStatus status = CheckExecutor(executor, executor, __func__)) {
        return status;
    }
    Delete(executor);
    return OK;
}

aclnnStatus aclSetTensorAddr(aclOpExecutor* executor, const size_t index, aclTensor* tensor, void* addr) {
    const aclnnStatus status = CheckExecutor(executor, tensor, __func__);
    return status == OK ? SetAddress(executor, AllTensors(*executor), index, tensor, addr) : status;
}

aclnnStatus aclSetInputTensorAddr(aclOpExecutor* executor, const size_t index, aclTensor* tensor,
                                  void* addr) {
    const aclnnStatus status = CheckExecutor(executor, tensor, __func__);
    return status == OK ? SetAddress(executor, executor->State().inputs, index, tensor, addr) : status;
}

aclnnStatus aclSetOutputTensorAddr(aclOpExecutor* executor, const size_t index, aclTensor* tensor,
                                   void* addr) {
    const aclnnStatus status = CheckExecutor(executor, tensor, __func__);
    return status == OK ? SetAddress(executor, executor->State().outputs, index, tensor, addr) : status;
}

}  // extern "C"
