// The vector instructions: what they demand beyond the rules of every instruction, and their arithmetic.
#include <cstring>

#include "core.h"

namespace vnpu {
namespace {

using AscendC::CMPMODE;
using AscendC::RoundMode;
using AscendC::SELMODE;
using device::Type;

constexpr uint32_t ElementBytes(Type type) {
    switch (type) {
        case Type::Int8:
        case Type::UInt8:
            return 1;
        case Type::Int16:
        case Type::UInt16:
        case Type::Half:
        case Type::BFloat16:
            return 2;
        case Type::Int32:
        case Type::UInt32:
        case Type::Float:
            return 4;
        default:
            return 8;
    }
}

float ToFloat(const half& value) { return value; }
float ToFloat(float value) { return value; }

template <typename T>
bool Holds(CMPMODE mode, T left, T right) {
    switch (mode) {
        case CMPMODE::LT:
            return left < right;
        case CMPMODE::GT:
            return left > right;
        case CMPMODE::EQ:
            return left == right;
        case CMPMODE::LE:
            return left <= right;
        case CMPMODE::GE:
            return left >= right;
        default:
            return left != right;
    }
}

// Bit i of dst: element i of left against right, which has a step of 0 or 1 elements.
template <CMPMODE mode, typename T>
void CompareElements(uint8_t* dst, const T* left, const T* right, uint32_t step, uint32_t count) {
    for (uint32_t i = 0; i < count; i += 8) {
        uint32_t bits = 0;
        for (uint32_t bit = 0; bit < 8; ++bit) {
            if constexpr (std::is_same_v<T, int32_t>) {
                bits |= static_cast<uint32_t>(Holds(mode, left[i + bit], right[(i + bit) * step])) << bit;
            } else {
                bits |= static_cast<uint32_t>(
                            Holds(mode, ToFloat(left[i + bit]), ToFloat(right[(i + bit) * step])))
                        << bit;
            }
        }
        dst[i / 8] = static_cast<uint8_t>(bits);
    }
}

template <typename T>
void CompareElements(CMPMODE mode, uint8_t* dst, const T* left, const T* right, uint32_t step,
                     uint32_t count) {
    switch (mode) {
        case CMPMODE::LT:
            return CompareElements<CMPMODE::LT>(dst, left, right, step, count);
        case CMPMODE::GT:
            return CompareElements<CMPMODE::GT>(dst, left, right, step, count);
        case CMPMODE::EQ:
            return CompareElements<CMPMODE::EQ>(dst, left, right, step, count);
        case CMPMODE::LE:
            return CompareElements<CMPMODE::LE>(dst, left, right, step, count);
        case CMPMODE::GE:
            return CompareElements<CMPMODE::GE>(dst, left, right, step, count);
        case CMPMODE::NE:
            return CompareElements<CMPMODE::NE>(dst, left, right, step, count);
    }
}

bool AllValid(const uint8_t* valid, uint32_t bytes) {
    return std::all_of(valid, valid + bytes, [](uint8_t bits) { return bits == 0xFF; });
}

// src1 is null for a scalar.
void Compare(Core& core, const char* call, const UbTensor& dst, Type maskType, const UbTensor& src0,
             const UbTensor* src1, const void* scalar, Type type, CMPMODE mode, uint32_t count) {
    const bool maskFits = maskType == Type::UInt8 || (src1 != nullptr && maskType == Type::Int8);
    if (!maskFits) core.Fail(Rule::InstructionDtype, call, "dst must be uint8_t");
    if (type == Type::Int32 && mode != CMPMODE::EQ) {
        core.Fail(Rule::InstructionDtype, call, "int32_t is only ever compared for EQ");
    }
    const uint32_t size = ElementBytes(type);
    const uint64_t bytes = uint64_t{count} * size;
    if (bytes % kRepeat != 0) {
        core.Fail(Rule::CompareGranularity, call, count, " elements are ", bytes,
                  " bytes, not a multiple of 256: the last ones would get no bits");
    }
    if (count == 0) return;
    const Operand destination = {"dst", dst, count / 8};
    if (src1 == nullptr) {
        core.Vector(call, destination, {{"src0", src0, bytes}}, count, size, false);
    } else {
        core.Vector(call, destination, {{"src0", src0, bytes}, {"src1", *src1, bytes}}, count, size, false);
    }
    const uint32_t step = src1 == nullptr ? 0 : 1;
    uint8_t* bits = core.Data<uint8_t>(dst);
    const auto compare = [&](auto* left) {
        using T = std::remove_reference_t<decltype(*left)>;
        CompareElements(mode, bits, left, src1 == nullptr ? static_cast<T*>(scalar) : core.Data<T>(*src1),
                        step, count);
    };
    if (type == Type::Float) {
        compare(core.Data<const float>(src0));
    } else if (type == Type::Half) {
        compare(core.Data<const half>(src0));
    } else {
        compare(core.Data<const int32_t>(src0));
    }
    uint8_t* valid = core.Valid(dst);
    if (core.FirstInvalid(src0.address, bytes) == kUbBytes &&
        (src1 == nullptr || core.FirstInvalid(src1->address, bytes) == kUbBytes)) {
        std::memset(valid, 0xFF, count / 8);
        return;
    }
    // A bit is as valid as the elements that made it.
    for (uint32_t i = 0; i < count; ++i) {
        const bool known = AllValid(core.Valid(src0) + i * size, size) &&
                           (src1 == nullptr || AllValid(core.Valid(*src1) + i * size, size));
        const uint8_t bit = static_cast<uint8_t>(1u << (i % 8));
        valid[i / 8] = static_cast<uint8_t>(known ? valid[i / 8] | bit : valid[i / 8] & ~bit);
    }
}

// dst[i] is valid where src[i] is, elements of dstBytes and srcBytes.
void PassValid(Core& core, const UbTensor& dst, uint32_t dstBytes, const UbTensor& src, uint32_t srcBytes,
               uint32_t count) {
    uint8_t* valid = core.Valid(dst);
    if (core.FirstInvalid(src.address, uint64_t{count} * srcBytes) == kUbBytes) {
        std::memset(valid, 0xFF, uint64_t{count} * dstBytes);
        return;
    }
    for (uint32_t i = 0; i < count; ++i) {
        std::memset(valid + i * dstBytes, AllValid(core.Valid(src) + i * srcBytes, srcBytes) ? 0xFF : 0,
                    dstBytes);
    }
}

uint32_t CheckedCount(Core& core, const char* call, int32_t count) {
    if (count < 0) core.Fail(Rule::ElementCount, call, "count is ", count);
    return static_cast<uint32_t>(count);
}

template <typename T>
void SelectElements(T* dst, const uint8_t* mask, uint32_t maskBits, const T* src0, const T* src1,
                    uint32_t step, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) {
        const uint32_t bit = i % maskBits;
        dst[i] = ((mask[bit / 8] >> (bit % 8)) & 1) != 0 ? src0[i] : src1[i * step];
    }
}

// src1 is null for a scalar.
void Select(Core& core, const UbTensor& dst, const UbTensor& mask, Type maskType, const UbTensor& src0,
            const UbTensor* src1, const void* scalar, Type type, SELMODE mode, uint32_t count) {
    const char* call = "Select";
    if (maskType != Type::UInt8 && maskType != Type::UInt16 && maskType != Type::UInt32 &&
        maskType != Type::UInt64) {
        core.Fail(Rule::InstructionDtype, call, "the mask must be unsigned");
    }
    if ((mode == SELMODE::VSEL_TENSOR_SCALAR_MODE) != (src1 == nullptr)) {
        core.Fail(Rule::SelectMode, call,
                  src1 == nullptr
                      ? "a scalar src1 takes VSEL_TENSOR_SCALAR_MODE"
                      : "a tensor src1 takes VSEL_CMPMASK_SPR or VSEL_TENSOR_TENSOR_MODE: nothing would run");
    }
    if (count == 0) core.Fail(Rule::ElementCount, call, "count is 0, for which nothing is specified");
    const uint32_t size = ElementBytes(type);
    const uint64_t bytes = uint64_t{count} * size;
    // Mode 0 keeps the mask of the first repeat for all of them.
    const uint32_t maskBits = mode == SELMODE::VSEL_CMPMASK_SPR ? std::min(count, kRepeat / size) : count;
    const Operand destination = {"dst", dst, bytes};
    const Operand selection = {"selMask", mask, AlignUp(maskBits, 8) / 8};
    if (mode != SELMODE::VSEL_CMPMASK_SPR) {
        const uint32_t maskAddress = mask.address;
        core.SelectScratch(src1 == nullptr ? scalar : &maskAddress,
                           src1 == nullptr ? size : sizeof(maskAddress));
    }
    if (src1 == nullptr) {
        core.Vector(call, destination, {{"src0", src0, bytes}, selection}, count, size, true);
    } else {
        core.Vector(call, destination, {{"src0", src0, bytes}, {"src1", *src1, bytes}, selection}, count,
                    size, true);
        core.CheckValid(call, "src1", src1->address, bytes);
    }
    core.CheckValid(call, "src0", src0.address, bytes);
    core.CheckValid(call, "selMask", mask.address, maskBits / 8);
    if (const uint32_t rest = maskBits % 8; rest != 0) {
        const uint8_t needed = static_cast<uint8_t>((1u << rest) - 1);
        if ((core.Valid(mask)[maskBits / 8] & needed) != needed) {
            core.CheckValid(call, "selMask", mask.address + maskBits / 8, 1);
        }
    }
    const uint32_t step = src1 == nullptr ? 0 : 1;
    const auto select = [&](auto* to) {
        using T = std::remove_reference_t<decltype(*to)>;
        SelectElements<T>(to, core.Data<uint8_t>(mask), maskBits, core.Data<T>(src0),
                          src1 == nullptr ? static_cast<const T*>(scalar) : core.Data<T>(*src1), step, count);
    };
    if (size == 4) {
        select(core.Data<uint32_t>(dst));
    } else {
        select(core.Data<uint16_t>(dst));
    }
    std::memset(core.Valid(dst), 0xFF, bytes);
}

// NaN stays NaN.
template <typename T>
void MinMaxElements(bool max, T* dst, const T* src, T scalar, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) {
        const bool replace = max ? src[i] < scalar : src[i] > scalar;
        dst[i] = replace ? scalar : src[i];
    }
}

void MinMax(const char* call, bool max, const UbTensor& dst, const UbTensor& src, Type type,
            const void* scalar, int32_t signedCount) {
    Core& core = Current();
    const uint32_t count = CheckedCount(core, call, signedCount);
    if (count == 0) return;
    const uint32_t size = ElementBytes(type);
    const uint64_t bytes = uint64_t{count} * size;
    core.Vector(call, {"dst", dst, bytes}, {{"src", src, bytes}}, count, size, true);
    const auto run = [&](auto* to) {
        using T = std::remove_reference_t<decltype(*to)>;
        MinMaxElements<T>(max, to, core.Data<T>(src), *static_cast<const T*>(scalar), count);
    };
    if (type == Type::Float) {
        run(core.Data<float>(dst));
    } else if (type == Type::Half) {
        run(core.Data<half>(dst));
    } else if (type == Type::Int32) {
        run(core.Data<int32_t>(dst));
    } else {
        run(core.Data<int16_t>(dst));
    }
    PassValid(core, dst, size, src, size, count);
}

}  // namespace

namespace device {

void Cast(const UbTensor& dst, Type dstType, const UbTensor& src, Type srcType, RoundMode mode,
          uint32_t count) {
    Core& core = Current();
    const bool widening = dstType == Type::Float;
    const bool allowed =
        widening ? mode == RoundMode::CAST_NONE
                 : dstType == Type::Half || (mode != RoundMode::CAST_NONE && mode != RoundMode::CAST_ODD);
    if (!allowed) {
        core.Fail(Rule::CastMode, "Cast", "round mode ", static_cast<int>(mode),
                  " does not exist for this pair of types: nothing would run");
    }
    if (count == 0) return;
    const uint32_t dstBytes = ElementBytes(dstType);
    const uint32_t srcBytes = ElementBytes(srcType);
    core.Vector("Cast", {"dst", dst, uint64_t{count} * dstBytes}, {{"src", src, uint64_t{count} * srcBytes}},
                count, std::max(dstBytes, srcBytes), false);
    if (widening) {
        const uint16_t* from = core.Data<uint16_t>(src);
        uint32_t* to = core.Data<uint32_t>(dst);
        if (srcType == Type::Half) {
            for (uint32_t i = 0; i < count; ++i) to[i] = WidenHalf(from[i]);
        } else {
            for (uint32_t i = 0; i < count; ++i) to[i] = static_cast<uint32_t>(from[i]) << 16;
        }
    } else {
        const uint32_t* from = core.Data<uint32_t>(src);
        uint16_t* to = core.Data<uint16_t>(dst);
        const uint32_t mantissaBits = dstType == Type::Half ? 10 : 7;
        for (uint32_t i = 0; i < count; ++i) to[i] = Narrow(from[i], mantissaBits, mode);
    }
    PassValid(core, dst, dstBytes, src, srcBytes, count);
}

void CompareTensor(const UbTensor& dst, Type maskType, const UbTensor& src0, const UbTensor& src1, Type type,
                   CMPMODE mode, uint32_t count) {
    Compare(Current(), "Compare", dst, maskType, src0, &src1, nullptr, type, mode, count);
}

void CompareScalar(const char* call, const UbTensor& dst, Type maskType, const UbTensor& src, Type type,
                   const void* scalar, CMPMODE mode, uint32_t count) {
    Compare(Current(), call, dst, maskType, src, nullptr, scalar, type, mode, count);
}

void BitwiseTensor(Bitwise operation, const UbTensor& dst, const UbTensor& src0, const UbTensor& src1,
                   Type type, int32_t signedCount) {
    Core& core = Current();
    const char* call = operation == Bitwise::And ? "And" : operation == Bitwise::Or ? "Or" : "Not";
    if (type != Type::Int16 && type != Type::UInt16) {
        core.Fail(Rule::InstructionDtype, call,
                  "the instruction works on 16-bit elements and would take count as theirs");
    }
    const uint32_t count = CheckedCount(core, call, signedCount);
    if (count == 0) return;
    const uint64_t bytes = uint64_t{count} * sizeof(uint16_t);
    core.Vector(call, {"dst", dst, bytes}, {{"src0", src0, bytes}, {"src1", src1, bytes}}, count,
                sizeof(uint16_t), true);
    const uint8_t* left = core.Data<uint8_t>(src0);
    const uint8_t* right = core.Data<uint8_t>(src1);
    uint8_t* to = core.Data<uint8_t>(dst);
    for (uint64_t i = 0; i < bytes; ++i) {
        to[i] = static_cast<uint8_t>(operation == Bitwise::And  ? left[i] & right[i]
                                     : operation == Bitwise::Or ? left[i] | right[i]
                                                                : ~left[i]);
        core.Valid(dst)[i] = core.Valid(src0)[i] & core.Valid(src1)[i];
    }
}

void SelectTensor(const UbTensor& dst, const UbTensor& mask, Type maskType, const UbTensor& src0,
                  const UbTensor& src1, Type type, SELMODE mode, uint32_t count) {
    Select(Current(), dst, mask, maskType, src0, &src1, nullptr, type, mode, count);
}

void SelectScalar(const UbTensor& dst, const UbTensor& mask, Type maskType, const UbTensor& src0, Type type,
                  const void* scalar, SELMODE mode, uint32_t count) {
    Select(Current(), dst, mask, maskType, src0, nullptr, scalar, type, mode, count);
}

void DuplicateScalar(const UbTensor& dst, Type type, const void* scalar, int32_t signedCount) {
    Core& core = Current();
    const uint32_t count = CheckedCount(core, "Duplicate", signedCount);
    if (count == 0) return;
    const uint32_t size = ElementBytes(type);
    const uint64_t bytes = uint64_t{count} * size;
    core.Vector("Duplicate", {"dst", dst, bytes}, {}, count, size, true);
    for (uint32_t i = 0; i < count; ++i) std::memcpy(core.Data<uint8_t>(dst) + i * size, scalar, size);
    std::memset(core.Valid(dst), 0xFF, bytes);
}

void MinScalar(const UbTensor& dst, const UbTensor& src, Type type, const void* scalar, int32_t count) {
    MinMax("Mins", false, dst, src, type, scalar, count);
}

void MaxScalar(const UbTensor& dst, const UbTensor& src, Type type, const void* scalar, int32_t count) {
    MinMax("Maxs", true, dst, src, type, scalar, count);
}

}  // namespace device
}  // namespace vnpu
