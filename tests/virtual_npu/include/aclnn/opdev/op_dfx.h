// What an operator's functions begin with, and the registration of operator types.
#ifndef OPDEV_OP_DFX_H
#define OPDEV_OP_DFX_H

#include <string_view>
#include <tuple>
#include <vector>

#include "opdev/common_types.h"
#include "opdev/op_log.h"

namespace op {

constexpr bool ValidDfxName(const char* expected, const char* function) {
    return std::string_view(expected) == function;
}
uint32_t GenOpTypeId(const char* opName);

namespace internal {

// The tensors of a call, lists flattened, in order; nullptr where the caller passed it.
template <typename... T>
std::vector<const aclTensor*> TensorsOf(const std::tuple<T...>& arguments) {
    std::vector<const aclTensor*> tensors;
    const auto add = [&tensors](const auto& argument) {
        if constexpr (std::is_convertible_v<decltype(argument), const aclTensor*>) {
            tensors.push_back(argument);
        } else if constexpr (std::is_convertible_v<decltype(argument), const aclTensorList*>) {
            for (uint64_t i = 0; argument != nullptr && i < argument->Size(); ++i) {
                tensors.push_back((*argument)[i]);
            }
        }
    };
    std::apply([&add](const auto&... argument) { (add(argument), ...); }, arguments);
    return tensors;
}

aclnnStatus CheckPhase1Params(aclOpExecutor** executor, uint64_t* workspaceSize);
// The executor that this thread creates next belongs to this call; 161002 where a tensor was destroyed.
aclnnStatus BeginPhase1(const char* api, const std::vector<const aclTensor*>& inputs,
                        const std::vector<const aclTensor*>& outputs);
void BeginPhase2(const char* api);

}  // namespace internal
}  // namespace op

#define OP_TYPE_REGISTER(kernelName)                                            \
    [[maybe_unused]] uint32_t kernelName##_kernelName_Be_Defined_Multi_Times__; \
    [[maybe_unused]] inline uint32_t kernelName##OpTypeId() {                   \
        static const uint32_t opTypeId = op::GenOpTypeId(#kernelName);          \
        return opTypeId;                                                        \
    }

#define DFX_IN(...) std::make_tuple(__VA_ARGS__)
#define DFX_OUT(...) std::make_tuple(__VA_ARGS__)

#define L2_DFX_PHASE_1(APIName, IN, OUT)                                                                  \
    static_assert(op::ValidDfxName(#APIName "GetWorkspaceSize", __func__),                                \
                  "Invalid DFX:" #APIName "GetWorkspaceSize");                                            \
    if (op::internal::CheckPhase1Params(executor, workspaceSize) != ACLNN_SUCCESS) {                      \
        return ACLNN_ERR_PARAM_NULLPTR;                                                                   \
    }                                                                                                     \
    if (op::internal::BeginPhase1(#APIName, op::internal::TensorsOf(IN), op::internal::TensorsOf(OUT)) != \
        ACLNN_SUCCESS) {                                                                                  \
        return ACLNN_ERR_PARAM_INVALID;                                                                   \
    }                                                                                                     \
    static_assert(true, "")

#define L2_DFX_PHASE_2(APIName)                                                            \
    static_assert(op::ValidDfxName(#APIName, __func__), "Invalid L2 DFX name: " #APIName); \
    (void)executor;                                                                        \
    op::internal::BeginPhase2(#APIName)

#define L0_DFX(profilingName, ...)                                                                     \
    static_assert(op::ValidDfxName(#profilingName, __func__), "Invalid L0 DFX name: " #profilingName); \
    (void)executor;                                                                                    \
    (void)std::make_tuple(__VA_ARGS__)

#endif
