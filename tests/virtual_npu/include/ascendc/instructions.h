// Copies and vector instructions in the forms that take a count. The element types are those for which
// dav-c220 has the instruction; where CANN compiles another type all the same and runs something else, the
// engine rejects it.
#ifndef VNPU_ASCENDC_INSTRUCTIONS_H
#define VNPU_ASCENDC_INSTRUCTIONS_H

#include "ascendc/tensor.h"

namespace vnpu::device {

template <typename T, typename... Others>
constexpr bool IsOneOf() {
    return (std::is_same_v<T, Others> || ...);
}

template <typename T>
uint64_t Pattern(T value) {
    uint64_t pattern = 0;
    std::memcpy(&pattern, &value, sizeof(T));
    return pattern;
}

template <typename T>
Copy BlockCopy(const AscendC::DataCopyParams& params, uint32_t gmGapBlocks, uint32_t ubGapBlocks) {
    Copy copy;
    copy.blocks = params.blockCount;
    copy.blockBytes = params.blockLen * 32u;
    copy.gmGapBytes = gmGapBlocks * 32u;
    copy.ubGapBlocks = ubGapBlocks;
    copy.elementBytes = sizeof(T);
    copy.wrapped = params.blockCount.Wrapped() || params.blockLen.Wrapped() || params.srcGap.Wrapped() ||
                   params.dstGap.Wrapped();
    return copy;
}

template <typename T>
Copy CountCopy(uint32_t count) {
    Copy copy;
    copy.blockBytes = count * static_cast<uint32_t>(sizeof(T));
    copy.wrapped = copy.blockBytes / sizeof(T) != count;
    copy.elementBytes = sizeof(T);
    return copy;
}

// Params: DataCopyParams (blockLen of 16 bits) or DataCopyExtParams.
template <typename T, typename Params>
Copy PaddedCopy(const Params& params, uint32_t gmGapBytes, uint32_t ubGapBlocks) {
    Copy copy;
    copy.blocks = params.blockCount;
    copy.blockBytes = params.blockLen;
    copy.gmGapBytes = gmGapBytes;
    copy.ubGapBlocks = ubGapBlocks;
    copy.elementBytes = sizeof(T);
    copy.padded = true;
    copy.wrapped = params.blockCount.Wrapped();
    if constexpr (std::is_same_v<Params, AscendC::DataCopyParams>) {
        copy.wrapped =
            copy.wrapped || params.blockLen.Wrapped() || params.srcGap.Wrapped() || params.dstGap.Wrapped();
    }
    return copy;
}

}  // namespace vnpu::device

namespace AscendC {

template <typename T>
void DataCopy(const LocalTensor<T>& dst, const GlobalTensor<T>& src, const DataCopyParams& repeatParams) {
    vnpu::device::CopyIn("DataCopy(LocalTensor, GlobalTensor, DataCopyParams)", dst.Place(), src.Place(),
                         vnpu::device::BlockCopy<T>(repeatParams, repeatParams.srcGap, repeatParams.dstGap));
}

template <typename T>
void DataCopy(const GlobalTensor<T>& dst, const LocalTensor<T>& src, const DataCopyParams& repeatParams) {
    vnpu::device::CopyOut("DataCopy(GlobalTensor, LocalTensor, DataCopyParams)", dst.Place(), src.Place(),
                          vnpu::device::BlockCopy<T>(repeatParams, repeatParams.dstGap, repeatParams.srcGap));
}

template <typename T>
void DataCopy(const LocalTensor<T>& dst, const GlobalTensor<T>& src, const uint32_t count) {
    vnpu::device::CopyIn("DataCopy(LocalTensor, GlobalTensor, count)", dst.Place(), src.Place(),
                         vnpu::device::CountCopy<T>(count));
}

template <typename T>
void DataCopy(const GlobalTensor<T>& dst, const LocalTensor<T>& src, const uint32_t count) {
    vnpu::device::CopyOut("DataCopy(GlobalTensor, LocalTensor, count)", dst.Place(), src.Place(),
                          vnpu::device::CountCopy<T>(count));
}

template <typename T>
void DataCopyPad(const LocalTensor<T>& dst, const GlobalTensor<T>& src, const DataCopyParams& dataCopyParams,
                 const DataCopyPadParams& padParams) {
    auto copy = vnpu::device::PaddedCopy<T>(dataCopyParams, dataCopyParams.srcGap, dataCopyParams.dstGap);
    copy.fill = padParams.isPad;
    copy.left = padParams.leftPadding;
    copy.right = padParams.rightPadding;
    copy.fillValue = padParams.paddingValue;
    vnpu::device::CopyIn("DataCopyPad(LocalTensor, GlobalTensor, DataCopyParams)", dst.Place(), src.Place(),
                         copy);
}

template <typename T>
void DataCopyPad(const GlobalTensor<T>& dst, const LocalTensor<T>& src,
                 const DataCopyParams& dataCopyParams) {
    vnpu::device::CopyOut(
        "DataCopyPad(GlobalTensor, LocalTensor, DataCopyParams)", dst.Place(), src.Place(),
        vnpu::device::PaddedCopy<T>(dataCopyParams, dataCopyParams.dstGap, dataCopyParams.srcGap));
}

template <typename T>
void DataCopyPad(const LocalTensor<T>& dst, const GlobalTensor<T>& src,
                 const DataCopyExtParams& dataCopyParams, const DataCopyPadExtParams<T>& padParams) {
    auto copy =
        vnpu::device::PaddedCopy<T>(dataCopyParams, dataCopyParams.srcStride, dataCopyParams.dstStride);
    copy.fill = padParams.isPad;
    copy.left = padParams.leftPadding;
    copy.right = padParams.rightPadding;
    copy.fillValue = vnpu::device::Pattern(padParams.paddingValue);
    vnpu::device::CopyIn("DataCopyPad(LocalTensor, GlobalTensor, DataCopyExtParams)", dst.Place(),
                         src.Place(), copy);
}

template <typename T>
void DataCopyPad(const GlobalTensor<T>& dst, const LocalTensor<T>& src,
                 const DataCopyExtParams& dataCopyParams) {
    vnpu::device::CopyOut(
        "DataCopyPad(GlobalTensor, LocalTensor, DataCopyExtParams)", dst.Place(), src.Place(),
        vnpu::device::PaddedCopy<T>(dataCopyParams, dataCopyParams.dstStride, dataCopyParams.srcStride));
}

// Only the conversions between float and the two 16-bit formats are offered here.
template <typename T, typename U>
void Cast(const LocalTensor<T>& dst, const LocalTensor<U>& src, const RoundMode& roundMode,
          const uint32_t count) {
    static_assert(
        (std::is_same_v<T, float> && vnpu::device::IsOneOf<U, half, bfloat16_t>()) ||
            (std::is_same_v<U, float> && vnpu::device::IsOneOf<T, half, bfloat16_t>()),
        "Cast: half and bfloat16_t to and from float; half and bfloat16_t do not convert to each other");
    vnpu::device::Cast(dst.Place(), vnpu::device::TypeOf<T>(), src.Place(), vnpu::device::TypeOf<U>(),
                       roundMode, count);
}

template <typename T, typename U>
void Compare(const LocalTensor<U>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,
             CMPMODE cmpMode, uint32_t count) {
    static_assert(vnpu::device::IsOneOf<T, half, float, int32_t>(), "Compare: half, float or int32_t");
    vnpu::device::CompareTensor(dst.Place(), vnpu::device::TypeOf<U>(), src0.Place(), src1.Place(),
                                vnpu::device::TypeOf<T>(), cmpMode, count);
}

template <typename T, typename U>
void Compares(const LocalTensor<U>& dst, const LocalTensor<T>& src0, const T src1Scalar, CMPMODE cmpMode,
              uint32_t count) {
    static_assert(vnpu::device::IsOneOf<T, half, float, int32_t>(), "Compares: half, float or int32_t");
    vnpu::device::CompareScalar("Compares", dst.Place(), vnpu::device::TypeOf<U>(), src0.Place(),
                                vnpu::device::TypeOf<T>(), &src1Scalar, cmpMode, count);
}

template <typename T, typename U>
void CompareScalar(const LocalTensor<U>& dst, const LocalTensor<T>& src0, const T src1Scalar, CMPMODE cmpMode,
                   uint32_t count) {
    static_assert(vnpu::device::IsOneOf<T, half, float, int32_t>(), "CompareScalar: half, float or int32_t");
    vnpu::device::CompareScalar("CompareScalar", dst.Place(), vnpu::device::TypeOf<U>(), src0.Place(),
                                vnpu::device::TypeOf<T>(), &src1Scalar, cmpMode, count);
}

template <typename T>
void And(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,
         const int32_t& count) {
    vnpu::device::BitwiseTensor(vnpu::device::Bitwise::And, dst.Place(), src0.Place(), src1.Place(),
                                vnpu::device::TypeOf<T>(), count);
}

template <typename T>
void Or(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,
        const int32_t& count) {
    vnpu::device::BitwiseTensor(vnpu::device::Bitwise::Or, dst.Place(), src0.Place(), src1.Place(),
                                vnpu::device::TypeOf<T>(), count);
}

template <typename T>
void Not(const LocalTensor<T>& dst, const LocalTensor<T>& src, const int32_t& count) {
    static_assert(vnpu::device::IsOneOf<T, int16_t, uint16_t>(), "Not: int16_t or uint16_t");
    vnpu::device::BitwiseTensor(vnpu::device::Bitwise::Not, dst.Place(), src.Place(), src.Place(),
                                vnpu::device::TypeOf<T>(), count);
}

template <typename T, typename U>
void Select(const LocalTensor<T>& dst, const LocalTensor<U>& selMask, const LocalTensor<T>& src0,
            const LocalTensor<T>& src1, SELMODE selMode, uint32_t count) {
    static_assert(vnpu::device::IsOneOf<T, half, float>(), "Select: half or float");
    vnpu::device::SelectTensor(dst.Place(), selMask.Place(), vnpu::device::TypeOf<U>(), src0.Place(),
                               src1.Place(), vnpu::device::TypeOf<T>(), selMode, count);
}

template <typename T, typename U>
void Select(const LocalTensor<T>& dst, const LocalTensor<U>& selMask, const LocalTensor<T>& src0, T src1,
            SELMODE selMode, uint32_t count) {
    static_assert(vnpu::device::IsOneOf<T, half, float>(), "Select: half or float");
    vnpu::device::SelectScalar(dst.Place(), selMask.Place(), vnpu::device::TypeOf<U>(), src0.Place(),
                               vnpu::device::TypeOf<T>(), &src1, selMode, count);
}

template <typename T>
void Duplicate(const LocalTensor<T>& dst, const T& scalarValue, const int32_t& count) {
    static_assert(vnpu::device::IsOneOf<T, half, bfloat16_t, int16_t, uint16_t, int32_t, uint32_t, float>(),
                  "Duplicate: half, bfloat16_t, int16_t, uint16_t, int32_t, uint32_t or float");
    vnpu::device::DuplicateScalar(dst.Place(), vnpu::device::TypeOf<T>(), &scalarValue, count);
}

template <typename T, bool isSetMask = true>
void Mins(const LocalTensor<T>& dst, const LocalTensor<T>& src, const T& scalarValue, const int32_t& count) {
    static_assert(vnpu::device::IsOneOf<T, half, float, int16_t, int32_t>(),
                  "Mins: half, float, int16_t or int32_t");
    vnpu::device::MinScalar(dst.Place(), src.Place(), vnpu::device::TypeOf<T>(), &scalarValue, count);
}

template <typename T, bool isSetMask = true>
void Maxs(const LocalTensor<T>& dst, const LocalTensor<T>& src, const T& scalarValue, const int32_t& count) {
    static_assert(vnpu::device::IsOneOf<T, half, float, int16_t, int32_t>(),
                  "Maxs: half, float, int16_t or int32_t");
    vnpu::device::MaxScalar(dst.Place(), src.Place(), vnpu::device::TypeOf<T>(), &scalarValue, count);
}

}  // namespace AscendC

#endif
