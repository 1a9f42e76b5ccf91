// Questions about data types.
#ifndef OPDEV_DATA_TYPE_UTILS_H
#define OPDEV_DATA_TYPE_UTILS_H

#include <algorithm>
#include <initializer_list>

#include "opdev/common_types.h"

namespace op {

inline bool CheckType(const DataType dataType, const std::initializer_list<DataType>& valid) {
    return std::find(valid.begin(), valid.end(), dataType) != valid.end();
}
constexpr DataType ToOpDataType(aclDataType type) {
    return type == ACL_DT_UNDEFINED ? DataType::DT_UNDEFINED : static_cast<DataType>(type);
}
inline aclDataType ToAclDataType(DataType type) {
    return type == DataType::DT_UNDEFINED ? ACL_DT_UNDEFINED : static_cast<aclDataType>(type);
}
ge::AscendString ToString(const std::initializer_list<DataType>& dataTypes);

}  // namespace op

#endif
