// Template tiling keys. The same declaration serves the host, which encodes a key, and the kernel library,
// which instantiates the kernel for every declared combination.
#ifndef VNPU_TEMPLATE_ARGUMENT_H
#define VNPU_TEMPLATE_ARGUMENT_H

#include <cstddef>
#include <cstdint>
#include <initializer_list>

#define ASCENDC_TPL_UI_RANGE 0
#define ASCENDC_TPL_UI_LIST 1
#define ASCENDC_TPL_UI_MIX 2

#define ASCENDC_TPL_AIV_ONLY 0
#define ASCENDC_TPL_AIC_ONLY 1

#define ASCENDC_TPL_1_BW 1
#define ASCENDC_TPL_2_BW 2
#define ASCENDC_TPL_4_BW 4
#define ASCENDC_TPL_8_BW 8

constexpr uint64_t INVALID_TILING_KEY = 0xFFFFFFFFFFFFFFFFull;

namespace AscendC {

enum class TemplateParamKind : uint8_t { Uint, KernelType };

// The values of one template parameter. A Uint list begins with its form: UI_LIST, values...; UI_RANGE,
// number of ranges, first and last of each...; UI_MIX, the ranges and then single values.
struct TemplateParam {
    static constexpr size_t kMaxValues = 64;

    constexpr TemplateParam() = default;
    constexpr TemplateParam(TemplateParamKind paramKind, uint8_t width, std::initializer_list<uint64_t> list)
        : kind(paramKind), bitWidth(width) {
        const uint64_t* item = list.begin();
        if (kind == TemplateParamKind::Uint) {
            const uint64_t form = *item++;
            if (form != ASCENDC_TPL_UI_LIST) {
                for (uint64_t ranges = *item++; ranges > 0; --ranges, item += 2) {
                    for (uint64_t value = item[0]; value <= item[1]; ++value) values[count++] = value;
                }
            }
        }
        while (item != list.end()) values[count++] = *item++;
    }

    TemplateParamKind kind = TemplateParamKind::Uint;
    uint8_t bitWidth = 0;
    size_t count = 0;
    uint64_t values[kMaxValues] = {};
};

// One legal set of combinations: a value list per template parameter, and the kernel's type where it is
// given.
struct TemplateSelection {
    static constexpr size_t kMaxParams = 8;

    constexpr TemplateSelection(std::initializer_list<TemplateParam> list) {
        for (const TemplateParam& param : list) {
            if (param.kind == TemplateParamKind::KernelType) {
                kernelType = param;
            } else {
                params[count++] = param;
            }
        }
    }

    size_t count = 0;
    TemplateParam params[kMaxParams] = {};
    TemplateParam kernelType = {};  // count 0 when not given
};

// Each value contributes its index in the declared list, in bitWidth bits, the first parameter lowest.
template <size_t N>
constexpr uint64_t EncodeTilingKey(const TemplateParam (&declared)[N],
                                   std::initializer_list<uint64_t> values) {
    uint64_t key = 0;
    uint32_t shift = 0;
    size_t param = 0;
    for (const uint64_t value : values) {
        if (param == N) return INVALID_TILING_KEY;
        size_t index = 0;
        while (index < declared[param].count && declared[param].values[index] != value) ++index;
        if (index == declared[param].count || (index >> declared[param].bitWidth) != 0)
            return INVALID_TILING_KEY;
        key |= static_cast<uint64_t>(index) << shift;
        shift += declared[param].bitWidth;
        ++param;
    }
    return param == N && shift <= 64 ? key : INVALID_TILING_KEY;
}

}  // namespace AscendC

#define ASCENDC_TPL_UINT_DECL(x, bw, ...)                     \
    AscendC::TemplateParam {                                  \
        AscendC::TemplateParamKind::Uint, bw, { __VA_ARGS__ } \
    }
#define ASCENDC_TPL_UINT_SEL(x, ...)                         \
    AscendC::TemplateParam {                                 \
        AscendC::TemplateParamKind::Uint, 0, { __VA_ARGS__ } \
    }
#define ASCENDC_TPL_KERNEL_TYPE_SEL(...)                           \
    AscendC::TemplateParam {                                       \
        AscendC::TemplateParamKind::KernelType, 0, { __VA_ARGS__ } \
    }
#define ASCENDC_TPL_ARGS_DECL(x, ...) \
    static constexpr AscendC::TemplateParam g_tilingDeclareParams[] = {__VA_ARGS__}
#define ASCENDC_TPL_ARGS_SEL(...) \
    AscendC::TemplateSelection { __VA_ARGS__ }
#define ASCENDC_TPL_SEL(...) \
    static constexpr AscendC::TemplateSelection g_tilingSelectParams[] = {__VA_ARGS__}

#define GET_TPL_TILING_KEY(...) AscendC::EncodeTilingKey(g_tilingDeclareParams, {__VA_ARGS__})
#define ASCENDC_TPL_SEL_PARAM(context, ...)                       \
    do {                                                          \
        (context)->SetTilingKey(GET_TPL_TILING_KEY(__VA_ARGS__)); \
    } while (0)

#endif
