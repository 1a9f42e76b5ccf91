#ifndef HARDTANH_GRAD_L0_H_
#define HARDTANH_GRAD_L0_H_

#include "opdev/op_executor.h"

namespace l0op {

// Adds operator HardtanhGrad to the executor. self and gradOutput are contiguous and have one shape and
// dtype; the result is a new tensor of the executor, or nullptr when the operator cannot be launched.
const aclTensor* HardtanhGrad(const aclTensor* self, const aclTensor* gradOutput, float min, float max,
                              aclOpExecutor* executor);

}  // namespace l0op

#endif  // HARDTANH_GRAD_L0_H_
