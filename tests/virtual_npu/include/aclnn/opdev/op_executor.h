// The executor: what a two-phase operator collects in phase 1 and runs in phase 2.
#ifndef OPDEV_OP_EXECUTOR_H
#define OPDEV_OP_EXECUTOR_H

#include <memory>
#include <vector>

#include "aclnn/acl_meta.h"
#include "opdev/common_types.h"
#include "opdev/data_type_utils.h"
#include "opdev/object.h"
#include "opdev/op_arg_def.h"
#include "opdev/op_dfx.h"
#include "opdev/op_errno.h"
#include "opdev/op_log.h"

namespace op {

// A task of an executor. Launch takes the addresses that the tensors have in phase 2 and enqueues the work.
class KernelLauncher {
public:
    virtual ~KernelLauncher() = default;
    virtual aclnnStatus Launch(aclrtStream stream) = 0;
    // The tensors that the task reads or writes.
    virtual const std::vector<const aclTensor*>& Tensors() const = 0;
};

}  // namespace op

namespace vnpu {
struct ExecutorState;
}

struct aclOpExecutor : public op::Object {
public:
    aclOpExecutor();
    ~aclOpExecutor() override;

    // Tensors in the workspace that phase 2 is given; nullptr on failure.
    aclTensor* AllocTensor(const op::Shape& shape, op::DataType dataType,
                           op::Format format = op::Format::FORMAT_ND);
    // A contiguous view of the tensor's storage; offset in elements.
    aclTensor* CreateView(const aclTensor* tensor, const op::Shape& shape, int64_t offset);

    void AddToKernelLauncherList(op::KernelLauncher* launcher);  // takes it over
    // From now on middle has the address of out, in repeated runs too.
    void AddTensorRelation(const aclTensor* out, const aclTensor* middle);
    void AbandonCache(bool disableRepeat = false);
    // Bytes of workspace that phase 2 needs.
    uint64_t GetWorkspaceSize() const;
    aclnnStatus SetRepeatable();
    bool IsRepeatable() const;

    vnpu::ExecutorState& State() const { return *state_; }

private:
    std::unique_ptr<vnpu::ExecutorState> state_;
};

class UniqueExecutor {
public:
    explicit UniqueExecutor(const char* funcName);
    // Without ReleaseTo the executor goes, and the error 561102 is logged.
    ~UniqueExecutor();
    UniqueExecutor(const UniqueExecutor&) = delete;
    UniqueExecutor& operator=(const UniqueExecutor&) = delete;
    aclOpExecutor* get() const { return executor_.get(); }
    aclOpExecutor* operator->() const { return executor_.get(); }
    void ReleaseTo(aclOpExecutor** executor);

private:
    const char* funcName_;
    std::unique_ptr<aclOpExecutor> executor_;
};

// 161001 for a null executor, and for a null workspace where one is needed; 161002 for one that is too small.
// The executor is gone afterwards unless it is repeatable.
aclnnStatus CommonOpExecutorRun(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                aclrtStream stream);
aclnnStatus CreatAiCoreKernelLauncher(const char* l0Name, uint32_t opType, aclOpExecutor* executor,
                                      const op::OpArgContext& args);
#endif
