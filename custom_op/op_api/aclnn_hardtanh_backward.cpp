#include "aclnn_hardtanh_backward.h"

#include <initializer_list>

#include "aclnn_kernels/common/op_error_check.h"
#include "aclnn_kernels/contiguous.h"
#include "hardtanh_grad.h"
#include "opdev/common_types.h"
#include "opdev/make_op_executor.h"
#include "opdev/op_dfx.h"
#include "opdev/op_executor.h"
#include "opdev/op_log.h"
#include "opdev/platform.h"

using namespace op;

namespace {

constexpr size_t MAX_DIM = 8;

const std::initializer_list<DataType> DTYPES = {DataType::DT_FLOAT, DataType::DT_FLOAT16, DataType::DT_BF16};
const std::initializer_list<DataType> DTYPES_WITHOUT_BF16 = {DataType::DT_FLOAT, DataType::DT_FLOAT16};

const std::initializer_list<DataType>& SupportedDtypes() {
    const SocVersion soc = GetCurrentPlatformInfo().GetSocVersion();
    return soc >= SocVersion::ASCEND910B && soc <= SocVersion::ASCEND910E ? DTYPES : DTYPES_WITHOUT_BF16;
}

bool CheckNotNull(const aclTensor* gradOutput, const aclTensor* self, const aclScalar* min,
                  const aclScalar* max, const aclTensor* out) {
    OP_CHECK_NULL(gradOutput, return false);
    OP_CHECK_NULL(self, return false);
    OP_CHECK_NULL(min, return false);
    OP_CHECK_NULL(max, return false);
    OP_CHECK_NULL(out, return false);
    return true;
}

bool CheckDtype(const aclTensor* gradOutput, const aclTensor* self, const aclTensor* out) {
    const std::initializer_list<DataType>& supported = SupportedDtypes();
    OP_CHECK_DTYPE_NOT_SUPPORT(gradOutput, supported, return false);
    OP_CHECK_DTYPE_NOT_SUPPORT(self, supported, return false);
    OP_CHECK_DTYPE_NOT_SUPPORT(out, supported, return false);
    OP_CHECK_DTYPE_NOT_SAME(gradOutput, self, return false);
    OP_CHECK_DTYPE_NOT_SAME(out, self, return false);
    return true;
}

bool CheckShape(const aclTensor* gradOutput, const aclTensor* self, const aclTensor* out) {
    OP_CHECK_MAX_DIM(gradOutput, MAX_DIM, return false);
    OP_CHECK_MAX_DIM(self, MAX_DIM, return false);
    OP_CHECK_SHAPE_NOT_EQUAL(gradOutput, self, return false);
    OP_CHECK_SHAPE_NOT_EQUAL(out, self, return false);
    return true;
}

}  // namespace

extern "C" {

aclnnStatus aclnnHardtanhBackwardGetWorkspaceSize(const aclTensor* gradOutput, const aclTensor* self,
                                                  const aclScalar* min, const aclScalar* max, aclTensor* out,
                                                  uint64_t* workspaceSize, aclOpExecutor** executor) {
    L2_DFX_PHASE_1(aclnnHardtanhBackward, DFX_IN(gradOutput, self, min, max), DFX_OUT(out));
    OP_CHECK_COMM_INPUT(workspaceSize, executor);
    CHECK_RET(CheckNotNull(gradOutput, self, min, max, out), ACLNN_ERR_PARAM_NULLPTR);
    CHECK_RET(CheckDtype(gradOutput, self, out), ACLNN_ERR_PARAM_INVALID);
    CHECK_RET(CheckShape(gradOutput, self, out), ACLNN_ERR_PARAM_INVALID);

    auto uniqueExecutor = CREATE_EXECUTOR();
    CHECK_RET(uniqueExecutor.get() != nullptr, ACLNN_ERR_INNER_CREATE_EXECUTOR);
    if (self->IsEmpty()) {
        *workspaceSize = 0;
        uniqueExecutor.ReleaseTo(executor);
        return ACLNN_SUCCESS;
    }

    const aclTensor* contiguousGrad = l0op::Contiguous(gradOutput, uniqueExecutor.get());
    CHECK_RET(contiguousGrad != nullptr, ACLNN_ERR_INNER_NULLPTR);
    const aclTensor* contiguousSelf = l0op::Contiguous(self, uniqueExecutor.get());
    CHECK_RET(contiguousSelf != nullptr, ACLNN_ERR_INNER_NULLPTR);
    // A result of the executor's own: over a contiguous out, ViewCopy redirects it there without a copy and
    // the executor stays repeatable.
    const aclTensor* result = l0op::HardtanhGrad(contiguousSelf, contiguousGrad, min->ToFloat(),
                                                 max->ToFloat(), uniqueExecutor.get());
    CHECK_RET(result != nullptr, ACLNN_ERR_INNER_NULLPTR);
    CHECK_RET(l0op::ViewCopy(result, out, uniqueExecutor.get()) != nullptr, ACLNN_ERR_INNER_NULLPTR);

    *workspaceSize = uniqueExecutor->GetWorkspaceSize();
    uniqueExecutor.ReleaseTo(executor);
    return ACLNN_SUCCESS;
}

aclnnStatus aclnnHardtanhBackward(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                  aclrtStream stream) {
    L2_DFX_PHASE_2(aclnnHardtanhBackward);
    return CommonOpExecutorRun(workspace, workspaceSize, executor, stream);
}

}  // extern "C"
