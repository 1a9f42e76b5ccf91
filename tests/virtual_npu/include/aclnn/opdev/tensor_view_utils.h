// Questions about views.
#ifndef OPDEV_TENSOR_VIEW_UTILS_H
#define OPDEV_TENSOR_VIEW_UTILS_H

#include "opdev/common_types.h"

namespace op {

// True for null, private formats and tensors of 0 or 1 elements; dimensions of 1 and the offset do not
// matter.
bool IsContiguous(const aclTensor* tensor);
// Whether every element of the view lies inside the storage.
bool Validate(const aclTensor* tensor);

}  // namespace op

#endif
