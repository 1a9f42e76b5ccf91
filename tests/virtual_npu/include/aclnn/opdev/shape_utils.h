// Shapes to and from other forms.
#ifndef OPDEV_SHAPE_UTILS_H
#define OPDEV_SHAPE_UTILS_H

#include "opdev/common_types.h"

namespace op {

ge::AscendString ToString(const Shape& shape);
void ToShape(const int64_t* dims, uint64_t dimNum, Shape& shape);

}  // namespace op

#endif
