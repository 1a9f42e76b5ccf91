// A kernel library: the kernel's source, compiled for one set of dtypes, and the entry through which the
// engine calls it. VNPU_KERNEL_FILE is the quoted path of the source, VNPU_KERNEL the name of the kernel
// function.
#include VNPU_KERNEL_FILE

#include <iterator>
#include <utility>

#include "ascendc/engine.h"

namespace {

constexpr size_t kParams = std::size(g_tilingDeclareParams);
constexpr size_t kSelections = std::size(g_tilingSelectParams);

template <size_t Selection>
constexpr size_t Combinations() {
    size_t combinations = 1;
    for (size_t param = 0; param < kParams; ++param) {
        combinations *= g_tilingSelectParams[Selection].params[param].count;
    }
    return combinations;
}

// The value of a template parameter in a combination: the first parameter changes fastest.
template <size_t Selection, size_t Combination, size_t Param>
constexpr uint32_t Value() {
    static_assert(g_tilingSelectParams[Selection].count == kParams,
                  "a selection names every template parameter");
    size_t rest = Combination;
    for (size_t param = 0; param < Param; ++param)
        rest /= g_tilingSelectParams[Selection].params[param].count;
    const auto& param = g_tilingSelectParams[Selection].params[Param];
    return static_cast<uint32_t>(param.values[rest % param.count]);
}

template <typename... Arguments, size_t... Index>
void Call(void (*kernel)(Arguments...), uint8_t** arguments, uint8_t* tiling, std::index_sequence<Index...>) {
    vnpu::device::CheckArguments(sizeof...(Index));
    kernel(arguments[Index]..., tiling);
}

template <typename... Arguments>
void Call(void (*kernel)(Arguments...), uint8_t** arguments, uint8_t* tiling) {
    Call(kernel, arguments, tiling, std::make_index_sequence<sizeof...(Arguments) - 1>());
}

template <size_t Selection, size_t Combination, size_t... Param>
bool RunCombination(uint64_t key, uint8_t** arguments, uint8_t* tiling, std::index_sequence<Param...>) {
    constexpr uint64_t own =
        AscendC::EncodeTilingKey(g_tilingDeclareParams, {Value<Selection, Combination, Param>()...});
    static_assert(own != INVALID_TILING_KEY, "a selection uses declared values only");
    if (key != own) return false;
    constexpr const auto& kernelType = g_tilingSelectParams[Selection].kernelType;
    if constexpr (kernelType.count != 0) {
        vnpu::device::SetKernelType(static_cast<KernelMetaType>(kernelType.values[0]));
    }
    Call(&VNPU_KERNEL<Value<Selection, Combination, Param>()...>, arguments, tiling);
    return true;
}

template <size_t Selection, size_t... Combination>
bool RunSelection(uint64_t key, uint8_t** arguments, uint8_t* tiling, std::index_sequence<Combination...>) {
    return (
        RunCombination<Selection, Combination>(key, arguments, tiling, std::make_index_sequence<kParams>()) ||
        ...);
}

template <size_t... Selection>
bool Run(uint64_t key, uint8_t** arguments, uint8_t* tiling, std::index_sequence<Selection...>) {
    return (RunSelection<Selection>(key, arguments, tiling,
                                    std::make_index_sequence<Combinations<Selection>()>()) ||
            ...);
}

}  // namespace

extern "C" void vnpuKernelEntry(uint64_t tilingKey, uint8_t** arguments, uint8_t* tiling) {
    if (!Run(tilingKey, arguments, tiling, std::make_index_sequence<kSelections>()))
        vnpu::device::UnknownTilingKey();
}
