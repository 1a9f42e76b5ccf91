// The names of Ascend C that carry no behaviour: qualifiers, enumerations, 16-bit floating types and the
// parameter structures of the copies. Values and defaults are those of dav-c220 (vector core).
#ifndef VNPU_ASCENDC_TYPES_H
#define VNPU_ASCENDC_TYPES_H

#include <cstdint>
#include <cstring>
#include <type_traits>

#ifndef __NPU_ARCH__
#define __NPU_ARCH__ 2201
#endif

#define __aicore__
#define __global__
#define __gm__
#define __ubuf__
#define GM_ADDR __gm__ uint8_t*

enum pipe_t { PIPE_S = 0, PIPE_V, PIPE_MTE2, PIPE_MTE3, PIPE_ALL };
enum event_t { EVENT_ID0 = 0, EVENT_ID1, EVENT_ID2, EVENT_ID3, EVENT_ID4, EVENT_ID5, EVENT_ID6, EVENT_ID7 };

enum KernelMetaType : uint8_t {
    KERNEL_TYPE_AIV_ONLY,
    KERNEL_TYPE_AIC_ONLY,
    KERNEL_TYPE_MIX_AIV_1_0,
    KERNEL_TYPE_MIX_AIC_1_0,
    KERNEL_TYPE_MIX_AIC_1_1,
    KERNEL_TYPE_MIX_AIC_1_2,
};

namespace AscendC {

enum class RoundMode : uint8_t {
    CAST_NONE = 0,
    CAST_RINT,
    CAST_FLOOR,
    CAST_CEIL,
    CAST_ROUND,
    CAST_TRUNC,
    CAST_ODD
};

}  // namespace AscendC

namespace vnpu::device {

// Rounds a float to a 16-bit format with the given number of mantissa bits (10: half, 7: bfloat16).
constexpr uint16_t Narrow(uint32_t bits, uint32_t mantissaBits, AscendC::RoundMode mode) {
    using AscendC::RoundMode;
    const uint32_t exponentBits = 15 - mantissaBits;
    const int32_t bias = (1 << (exponentBits - 1)) - 1;
    const uint32_t infinity = ((1u << exponentBits) - 1) << mantissaBits;
    const uint32_t sign = bits >> 31;
    const uint32_t magnitude = bits & 0x7FFFFFFFu;
    uint32_t result = 0;
    if (magnitude > 0x7F800000u) {  // NaN: quiet, with the upper payload bits
        result = infinity | (1u << (mantissaBits - 1)) |
                 ((magnitude >> (23 - mantissaBits)) & ((1u << mantissaBits) - 1));
    } else if (magnitude == 0x7F800000u) {
        result = infinity;
    } else {
        const uint32_t stored = magnitude >> 23;
        const int32_t exponent = stored == 0 ? -126 : static_cast<int32_t>(stored) - 127;
        const uint64_t significand = (magnitude & 0x7FFFFFu) | (stored == 0 ? 0u : 0x800000u);
        const int32_t smallest = 1 - bias;
        int32_t shift = 23 - static_cast<int32_t>(mantissaBits);
        if (exponent < smallest) shift += smallest - exponent;
        if (shift > 40) shift = 40;
        const uint64_t rest = significand & ((uint64_t{1} << shift) - 1);
        const uint64_t middle = uint64_t{1} << (shift - 1);
        uint64_t kept = significand >> shift;
        bool toInfinity = false;  // where an overflow goes: infinity or the largest finite value
        switch (mode) {
            case RoundMode::CAST_NONE:
            case RoundMode::CAST_RINT:
                kept += rest > middle || (rest == middle && (kept & 1) != 0);
                toInfinity = true;
                break;
            case RoundMode::CAST_ROUND:
                kept += rest >= middle;
                toInfinity = true;
                break;
            case RoundMode::CAST_FLOOR:
                kept += sign != 0 && rest != 0;
                toInfinity = sign != 0;
                break;
            case RoundMode::CAST_CEIL:
                kept += sign == 0 && rest != 0;
                toInfinity = sign == 0;
                break;
            case RoundMode::CAST_TRUNC:
                break;
            case RoundMode::CAST_ODD:
                kept |= rest != 0;
                break;
        }
        const int64_t base =
            exponent < smallest ? 0 : static_cast<int64_t>(exponent + bias - 1) << mantissaBits;
        const int64_t encoded = base + static_cast<int64_t>(kept);
        result = encoded < static_cast<int64_t>(infinity) ? static_cast<uint32_t>(encoded)
                                                          : infinity - (toInfinity ? 0 : 1);
    }
    return static_cast<uint16_t>((sign << 15) | result);
}

constexpr uint32_t WidenHalf(uint16_t bits) {
    const uint32_t sign = static_cast<uint32_t>(bits & 0x8000u) << 16;
    uint32_t exponent = (bits >> 10) & 0x1Fu;
    uint32_t mantissa = bits & 0x3FFu;
    if (exponent == 0x1F) return sign | 0x7F800000u | (mantissa << 13);
    if (exponent != 0) return sign | ((exponent + 112) << 23) | (mantissa << 13);
    if (mantissa == 0) return sign;
    exponent = 113;
    while ((mantissa & 0x400u) == 0) {
        mantissa <<= 1;
        --exponent;
    }
    return sign | (exponent << 23) | ((mantissa & 0x3FFu) << 13);
}

inline uint32_t FloatBits(float value) {
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof(bits));
    return bits;
}

inline float FloatFrom(uint32_t bits) {
    float value;
    std::memcpy(&value, &bits, sizeof(value));
    return value;
}

// A uint16_t field of a parameter structure. An integer that does not fit is wrapped, as in the real
// structure, and remembered.
class Field16 {
public:
    constexpr Field16(uint16_t value) : value_(value) {}
    template <typename Integer, typename = std::enable_if_t<std::is_integral_v<Integer>>>
    constexpr Field16(Integer value)
        : value_(static_cast<uint16_t>(value)), wrapped_(static_cast<Integer>(value_) != value) {}
    constexpr operator uint16_t() const { return value_; }
    constexpr bool Wrapped() const { return wrapped_; }

private:
    uint16_t value_;
    bool wrapped_ = false;
};

}  // namespace vnpu::device

struct half {
    half() = default;
    half(float value)
        : bits(vnpu::device::Narrow(vnpu::device::FloatBits(value), 10, AscendC::RoundMode::CAST_RINT)) {}
    operator float() const { return vnpu::device::FloatFrom(vnpu::device::WidenHalf(bits)); }
    uint16_t bits;
};

struct bfloat16_t {
    bfloat16_t() = default;
    bfloat16_t(float value)
        : bits(vnpu::device::Narrow(vnpu::device::FloatBits(value), 7, AscendC::RoundMode::CAST_RINT)) {}
    uint16_t bits;
};

namespace AscendC {

enum class TPosition : uint8_t { GM, VECIN, VECOUT, VECCALC };
using QuePosition = TPosition;

// The events that a vector core has.
enum class HardEvent : uint8_t {
    MTE2_V,
    V_MTE2,
    MTE3_V,
    V_MTE3,
    V_V,
    MTE3_MTE2,
    MTE2_MTE3,
    S_V,
    V_S,
    S_MTE2,
    MTE2_S,
    S_MTE3,
    MTE3_S,
    MAX,
};

using TEventID = int8_t;

enum class CMPMODE : uint8_t { LT = 0, GT, EQ, LE, GE, NE };

enum class SELMODE : uint8_t { VSEL_CMPMASK_SPR = 0, VSEL_TENSOR_SCALAR_MODE, VSEL_TENSOR_TENSOR_MODE };

enum class CacheMode {
    CACHE_MODE_DISABLE = 0,
    CACHE_MODE_NORMAL = 1,
    CACHE_MODE_LAST = 2,
    CACHE_MODE_PERSISTENT = 4
};

// blockLen, gaps: 32-byte blocks in DataCopy; in DataCopyPad blockLen is in bytes, and so is the gap on the
// GM side.
struct DataCopyParams {
    DataCopyParams() {}
    DataCopyParams(const uint16_t count, const uint16_t len, const uint16_t srcStrideIn,
                   const uint16_t dstStrideIn)
        : blockCount(count), blockLen(len), srcGap(srcStrideIn), dstGap(dstStrideIn) {}

    vnpu::device::Field16 blockCount = 1;
    vnpu::device::Field16 blockLen = 0;
    vnpu::device::Field16 srcGap = 0;
    vnpu::device::Field16 dstGap = 0;
};

struct DataCopyPadParams {
    DataCopyPadParams() {}
    DataCopyPadParams(const bool isPadValue, const uint8_t leftPadValue, const uint8_t rightPadValue,
                      const uint64_t padValue)
        : isPad(isPadValue), leftPadding(leftPadValue), rightPadding(rightPadValue), paddingValue(padValue) {}

    bool isPad = false;
    uint8_t leftPadding = 0;   // elements
    uint8_t rightPadding = 0;  // elements
    uint64_t paddingValue = 0;
};

// blockLen in bytes; strides are the gaps between blocks: bytes on the GM side, 32-byte blocks on the UB
// side.
struct DataCopyExtParams {
    DataCopyExtParams() {}
    DataCopyExtParams(const uint16_t count, const uint32_t len, const uint32_t srcStrideIn,
                      const uint32_t dstStrideIn, const uint32_t rsvIn)
        : blockCount(count), blockLen(len), srcStride(srcStrideIn), dstStride(dstStrideIn), rsv(rsvIn) {}

    vnpu::device::Field16 blockCount = 1;
    uint32_t blockLen = 0;
    uint32_t srcStride = 0;
    uint32_t dstStride = 0;
    uint32_t rsv = 0;
};

template <typename T>
struct DataCopyPadExtParams {
    DataCopyPadExtParams() {}
    DataCopyPadExtParams(const bool isPadValue, const uint8_t leftPadValue, const uint8_t rightPadValue,
                         T padValue)
        : isPad(isPadValue), leftPadding(leftPadValue), rightPadding(rightPadValue), paddingValue(padValue) {}

    bool isPad = false;
    uint8_t leftPadding = 0;   // elements
    uint8_t rightPadding = 0;  // elements
    T paddingValue = 0;
};

}  // namespace AscendC

#endif
