#ifndef HARDTANH_GRAD_H_
#define HARDTANH_GRAD_H_

#include "hardtanh_grad_tiling_data.h"
#include "kernel_operator.h"

// Select has no bfloat16: it moves the 16-bit pattern as half.
template <typename T>
struct SelectType {
    using Type = T;
};

template <>
struct SelectType<bfloat16_t> {
    using Type = half;
};

// y = result > max or result < min ? 0 : grad, compared in float32, for T float, half or bfloat16_t.
// Neither comparison holds for NaN, so its gradient passes.
template <typename T, int32_t bufferNum>
class HardtanhGradKernel {
public:
    __aicore__ inline HardtanhGradKernel() {}

    __aicore__ inline void Init(GM_ADDR result, GM_ADDR grad, GM_ADDR y, const HardtanhGradTilingData* tiling,
                                AscendC::TPipe* pipe) {
        tiling_ = tiling;
        const int64_t core = AscendC::GetBlockIdx();
        const int64_t bigCoresBefore = core > tiling->smallCores ? core - tiling->smallCores : 0;
        const int64_t smallCoreBlocks = tiling->tileCount * (tiling->tileBlocks + 1) - tiling->smallTiles;
        coreStart_ = (core * smallCoreBlocks + bigCoresBefore) * BLOCK_LENGTH;
        smallTiles_ = tiling->smallTiles - (core >= tiling->smallCores ? 1 : 0);

        resultGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(result), tiling->elementCount);
        gradGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(grad), tiling->elementCount);
        yGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(y), tiling->elementCount);

        pipe->InitBuffer(resultQueue_, bufferNum, tiling->tileLength * sizeof(T));
        pipe->InitBuffer(gradQueue_, bufferNum, tiling->tileLength * sizeof(T));
        pipe->InitBuffer(yQueue_, bufferNum, tiling->tileLength * sizeof(T));
        pipe->InitBuffer(aboveBuffer_, tiling->tileLength / BITS_PER_BYTE);
        pipe->InitBuffer(belowBuffer_, tiling->tileLength / BITS_PER_BYTE);
        if constexpr (sizeof(T) != sizeof(float)) {
            pipe->InitBuffer(floatBuffer_, tiling->computeLength * sizeof(float));
        }
    }

    __aicore__ inline void Process() {
        int64_t start = coreStart_;
        for (int64_t tile = 0; tile < tiling_->tileCount; ++tile) {
            const int64_t blocks = tiling_->tileBlocks + (tile < smallTiles_ ? 0 : 1);
            const int64_t rest = tiling_->elementCount - start;
            const int64_t length = blocks * BLOCK_LENGTH < rest ? blocks * BLOCK_LENGTH : rest;
            CopyIn(start, static_cast<uint32_t>(length));
            Compute(static_cast<uint32_t>(length));
            CopyOut(start, static_cast<uint32_t>(length));
            start += length;
        }
    }

private:
    static constexpr int64_t BLOCK_LENGTH = HARDTANH_GRAD_BLOCK_BYTES / static_cast<int64_t>(sizeof(T));
    static constexpr uint32_t BITS_PER_BYTE = 8;
    static constexpr uint32_t BITS_PER_WORD = 16;
    static constexpr uint32_t COMPARE_STEP = 64;  // float32 values of one vector repeat, 256 bytes

    // GM is byte-exact in both directions; tensors may start at any multiple of the element size.
    __aicore__ inline AscendC::DataCopyExtParams CopyParams(uint32_t length) {
        return AscendC::DataCopyExtParams(1, length * static_cast<uint32_t>(sizeof(T)), 0, 0, 0);
    }

    __aicore__ inline void CopyIn(int64_t start, uint32_t length) {
        AscendC::LocalTensor<T> result = resultQueue_.template AllocTensor<T>();
        AscendC::DataCopyPad(result, resultGm_[start], CopyParams(length),
                             AscendC::DataCopyPadExtParams<T>());
        resultQueue_.EnQue(result);
        AscendC::LocalTensor<T> grad = gradQueue_.template AllocTensor<T>();
        AscendC::DataCopyPad(grad, gradGm_[start], CopyParams(length), AscendC::DataCopyPadExtParams<T>());
        gradQueue_.EnQue(grad);
    }

    __aicore__ inline void Compute(uint32_t length) {
        using S = typename SelectType<T>::Type;
        AscendC::LocalTensor<uint8_t> above = aboveBuffer_.template Get<uint8_t>();
        AscendC::LocalTensor<uint8_t> below = belowBuffer_.template Get<uint8_t>();

        AscendC::LocalTensor<T> result = resultQueue_.template DeQue<T>();
        for (uint32_t offset = 0; offset < length; offset += tiling_->computeLength) {
            const uint32_t rest = length - offset;
            const uint32_t count = rest < tiling_->computeLength ? rest : tiling_->computeLength;
            MarkOutside(above[offset / BITS_PER_BYTE], below[offset / BITS_PER_BYTE], result[offset], count);
        }
        resultQueue_.FreeTensor(result);

        // Not costs at most 1/16 of a pass over the tile. Selecting from a tile of zeros would save it, but
        // take UB from the copies and read a second tensor.
        AscendC::LocalTensor<uint16_t> outside = above.template ReinterpretCast<uint16_t>();
        const int32_t words = static_cast<int32_t>(CompareCount(length) / BITS_PER_WORD);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Or(outside, outside, below.template ReinterpretCast<uint16_t>(), words);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::LocalTensor<uint16_t> inside = below.template ReinterpretCast<uint16_t>();
        AscendC::Not(inside, outside, words);
        AscendC::PipeBarrier<PIPE_V>();

        AscendC::LocalTensor<T> grad = gradQueue_.template DeQue<T>();
        AscendC::LocalTensor<T> y = yQueue_.template AllocTensor<T>();
        AscendC::Select(y.template ReinterpretCast<S>(), inside, grad.template ReinterpretCast<S>(),
                        static_cast<S>(0), AscendC::SELMODE::VSEL_TENSOR_SCALAR_MODE, length);
        yQueue_.EnQue(y);
        gradQueue_.FreeTensor(grad);
    }

    // Sets bit i of above and below by element i. Compares work on whole repeats: the lanes behind count read
    // whatever the buffer holds, and Select never looks at their bits.
    __aicore__ inline void MarkOutside(const AscendC::LocalTensor<uint8_t>& above,
                                       const AscendC::LocalTensor<uint8_t>& below,
                                       const AscendC::LocalTensor<T>& result, uint32_t count) {
        AscendC::PipeBarrier<PIPE_V>();  // the buffers may still be read by the instructions before
        if constexpr (sizeof(T) == sizeof(float)) {
            CompareBounds(above, below, result, count);
        } else {
            AscendC::LocalTensor<float> widened = floatBuffer_.template Get<float>();
            AscendC::Cast(widened, result, AscendC::RoundMode::CAST_NONE, count);
            AscendC::PipeBarrier<PIPE_V>();
            CompareBounds(above, below, widened, count);
        }
    }

    __aicore__ inline void CompareBounds(const AscendC::LocalTensor<uint8_t>& above,
                                         const AscendC::LocalTensor<uint8_t>& below,
                                         const AscendC::LocalTensor<float>& values, uint32_t count) {
        AscendC::CompareScalar(above, values, tiling_->maxVal, AscendC::CMPMODE::GT, CompareCount(count));
        AscendC::CompareScalar(below, values, tiling_->minVal, AscendC::CMPMODE::LT, CompareCount(count));
    }

    __aicore__ inline void CopyOut(int64_t start, uint32_t length) {
        AscendC::LocalTensor<T> y = yQueue_.template DeQue<T>();
        AscendC::DataCopyPad(yGm_[start], y, CopyParams(length));
        yQueue_.FreeTensor(y);
    }

    __aicore__ inline static constexpr uint32_t CompareCount(uint32_t count) {
        return (count + COMPARE_STEP - 1) / COMPARE_STEP * COMPARE_STEP;
    }

    const HardtanhGradTilingData* tiling_;
    int64_t coreStart_;   // first element of this core
    int64_t smallTiles_;  // of this core
    AscendC::GlobalTensor<T> resultGm_;
    AscendC::GlobalTensor<T> gradGm_;
    AscendC::GlobalTensor<T> yGm_;
    AscendC::TQue<AscendC::TPosition::VECIN, 1> resultQueue_;
    AscendC::TQue<AscendC::TPosition::VECIN, 1> gradQueue_;
    AscendC::TQue<AscendC::TPosition::VECOUT, 1> yQueue_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> aboveBuffer_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> belowBuffer_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> floatBuffer_;
};

#endif  // HARDTANH_GRAD_H_
