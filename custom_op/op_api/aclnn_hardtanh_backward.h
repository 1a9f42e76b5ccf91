#ifndef ACLNN_HARDTANH_BACKWARD_H_
#define ACLNN_HARDTANH_BACKWARD_H_

#include "aclnn/aclnn_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * First phase of the gradient of Hardtanh: out = self > max or self < min ? 0 : gradOutput, compared in
 * float32.
 *
 * gradOutput, self and out have one dtype (float32, float16 or bfloat16) and one shape of at most 8
 * dimensions, in any strides; out may be gradOutput itself. min and max are read as float32. Gives the bytes
 * of device workspace that the second phase needs, and its executor.
 *
 * Returns 161001 (ACLNN_ERR_PARAM_NULLPTR) for a null pointer, 161002 (ACLNN_ERR_PARAM_INVALID) for a dtype
 * or a shape that does not fit, 0 otherwise.
 */
__attribute__((visibility("default"))) aclnnStatus aclnnHardtanhBackwardGetWorkspaceSize(
    const aclTensor* gradOutput, const aclTensor* self, const aclScalar* min, const aclScalar* max,
    aclTensor* out, uint64_t* workspaceSize, aclOpExecutor** executor);

/** Second phase: runs the executor asynchronously on the stream. */
__attribute__((visibility("default"))) aclnnStatus aclnnHardtanhBackward(void* workspace,
                                                                         uint64_t workspaceSize,
                                                                         aclOpExecutor* executor,
                                                                         aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // ACLNN_HARDTANH_BACKWARD_H_
