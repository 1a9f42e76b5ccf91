// Copies between contiguous tensors and views.
#ifndef ACLNN_KERNELS_CONTIGUOUS_H
#define ACLNN_KERNELS_CONTIGUOUS_H

#include "opdev/common_types.h"
#include "opdev/op_def.h"

namespace l0op {

// x itself or a view of its storage with its offset where x is contiguous, otherwise a contiguous copy in the
// workspace; nullptr for a view that leaves its storage.
const aclTensor* Contiguous(const aclTensor* x, aclOpExecutor* executor);
// Puts x into y, and returns y. An x in the workspace and a contiguous y are joined without a copy; nullptr
// where data types or shapes differ, or y lies in the workspace.
const aclTensor* ViewCopy(const aclTensor* x, const aclTensor* y, aclOpExecutor* executor);

}  // namespace l0op

#endif
