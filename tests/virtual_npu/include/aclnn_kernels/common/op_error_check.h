// The parameter checks of two-phase operators: each logs the error and then does what the caller says.
#ifndef ACLNN_KERNELS_COMMON_OP_ERROR_CHECK_H
#define ACLNN_KERNELS_COMMON_OP_ERROR_CHECK_H

#include "opdev/common_types.h"
#include "opdev/data_type_utils.h"
#include "opdev/op_log.h"
#include "opdev/shape_utils.h"

template <typename T>
bool IsNullptr(const T* param, const char* name) {
    if (param == nullptr) {
        OP_LOGE(ACLNN_ERR_PARAM_NULLPTR, "%s must not be null.", name);
        return true;
    }
    return false;
}

#define OP_CHECK_NULL(param, retExpr) \
    if (IsNullptr(param, #param)) {   \
        retExpr;                      \
    }

#define OP_CHECK_DTYPE_NOT_SUPPORT(tensor, supportList, retExpr)                                    \
    do {                                                                                            \
        if (!op::CheckType((tensor)->GetDataType(), supportList)) {                                 \
            OP_LOGE(ACLNN_ERR_PARAM_INVALID, "%s has the data type %s, supported are %s.", #tensor, \
                    op::ToString((tensor)->GetDataType()).GetString(),                              \
                    op::ToString(supportList).GetString());                                         \
            retExpr;                                                                                \
        }                                                                                           \
    } while (0)

#define OP_CHECK_DTYPE_NOT_SAME(tensor1, tensor2, retExpr)                                        \
    do {                                                                                          \
        if ((tensor1)->GetDataType() != (tensor2)->GetDataType()) {                               \
            OP_LOGE(ACLNN_ERR_PARAM_INVALID, "%s has the data type %s, but %s has %s.", #tensor1, \
                    op::ToString((tensor1)->GetDataType()).GetString(), #tensor2,                 \
                    op::ToString((tensor2)->GetDataType()).GetString());                          \
            retExpr;                                                                              \
        }                                                                                         \
    } while (0)

#define OP_CHECK_MAX_DIM(tensor, maxDim, retExpr)                                                          \
    do {                                                                                                   \
        if ((tensor)->GetViewShape().GetDimNum() > static_cast<size_t>(maxDim)) {                          \
            OP_LOGE(ACLNN_ERR_PARAM_INVALID, "%s has %zu dimensions, at most %zu are supported.", #tensor, \
                    (tensor)->GetViewShape().GetDimNum(), static_cast<size_t>(maxDim));                    \
            retExpr;                                                                                       \
        }                                                                                                  \
    } while (0)

#define OP_CHECK_SHAPE_NOT_EQUAL(tensor1, tensor2, retExpr)                                   \
    do {                                                                                      \
        if ((tensor1)->GetViewShape() != (tensor2)->GetViewShape()) {                         \
            OP_LOGE(ACLNN_ERR_PARAM_INVALID, "%s has the shape %s, but %s has %s.", #tensor1, \
                    op::ToString((tensor1)->GetViewShape()).GetString(), #tensor2,            \
                    op::ToString((tensor2)->GetViewShape()).GetString());                     \
            retExpr;                                                                          \
        }                                                                                     \
    } while (0)

#define OP_CHECK_COMM_INPUT(workspaceSize, executor)                                         \
    do {                                                                                     \
        if ((workspaceSize) == nullptr || (executor) == nullptr) {                           \
            OP_LOGE(ACLNN_ERR_PARAM_NULLPTR, "workspaceSize or executor must not be null."); \
            return ACLNN_ERR_PARAM_NULLPTR;                                                  \
        }                                                                                    \
    } while (0)

#endif
