#include "hardtanh_grad.h"

#include "opdev/make_op_executor.h"
#include "opdev/op_def.h"
#include "opdev/op_dfx.h"
#include "opdev/op_log.h"

namespace l0op {

OP_TYPE_REGISTER(HardtanhGrad);

const aclTensor* HardtanhGrad(const aclTensor* self, const aclTensor* gradOutput, float min, float max,
                              aclOpExecutor* executor) {
    L0_DFX(HardtanhGrad, self, gradOutput, min, max);
    aclTensor* y = executor->AllocTensor(self->GetViewShape(), self->GetDataType());
    if (y == nullptr) {
        OP_LOGE(ACLNN_ERR_INNER_NULLPTR, "HardtanhGrad: the result tensor could not be allocated.");
        return nullptr;
    }
    const aclnnStatus status = ADD_TO_LAUNCHER_LIST_AICORE(HardtanhGrad, OP_INPUT(self, gradOutput),
                                                           OP_OUTPUT(y), OP_ATTR(min, max));
    if (status != ACLNN_SUCCESS) {
        OP_LOGE(status, "HardtanhGrad: the kernel could not be added to the executor.");
        return nullptr;
    }
    return y;
}

}  // namespace l0op
