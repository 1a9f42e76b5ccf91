// Questions about formats.
#ifndef OPDEV_FORMAT_UTILS_H
#define OPDEV_FORMAT_UTILS_H

#include "opdev/common_types.h"

namespace op {

// Formats that only the hardware understands; such tensors count as contiguous.
bool IsPrivateFormat(Format format);
ge::AscendString ToString(Format format);

}  // namespace op

#endif
