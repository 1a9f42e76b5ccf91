#ifndef HARDTANH_GRAD_TILING_H_
#define HARDTANH_GRAD_TILING_H_

#include <algorithm>
#include <cstdint>

#include "../op_kernel/hardtanh_grad_tiling_data.h"

namespace optiling {

struct HardtanhGradTiling {
    HardtanhGradTilingData data;  // without the bounds, which the caller adds
    uint32_t schMode;
    uint32_t blockDim;
};

inline int64_t CeilDiv(int64_t value, int64_t divisor) { return (value + divisor - 1) / divisor; }
inline int64_t AlignUp(int64_t value, int64_t step) { return CeilDiv(value, step) * step; }

// Shares elementCount elements of elementSize (2 or 4) bytes out over at most coreNum vector cores with
// ubBytes of UB each, as PlatformAscendC reports them. Returns false when no tile fits or there is no core.
//
// UB for each 512-byte block of a tile, in bytes:
//                  queues      float32 copy   two masks   sum    most blocks in 196352 - 8192 - 576
//   single, 4 B    3*1*512         -             32       1568   119, of which 48 (24 KB) are used
//   single, 2 B    3*1*512       4*256           64       2624    71, of which 48 (24 KB) are used
//   double, 4 B    3*2*512         -             32       3104    60: copies of 30 KB
//   double, 2 B    3*2*512       4*128           64       3648    51: copies of 25.5 KB
// A double-buffered 16-bit tile is widened in two halves: widened whole, only 45 blocks would fit, and a core
// with 91 of them would need three tiles of less than 16 KB. From 48 blocks on, that cannot happen.
inline bool ComputeHardtanhGradTiling(int64_t elementCount, int64_t elementSize, uint64_t ubBytes,
                                      uint32_t coreNum, HardtanhGradTiling& tiling) {
    constexpr int64_t SMALL_ELEMENTS = 6144 * 20;         // up to here: single buffer, few cores
    constexpr int64_t SMALL_STEP = 1024;                  // elements by which a small tensor's tile grows
    constexpr int64_t SMALL_TILE_BYTES = 24 * 1024;       // its limit: 6144 float32
    constexpr int64_t SELECT_RESERVE = 8 * 1024;          // Select works in the top of UB
    constexpr int64_t HALF_STEP = 256;                    // elements whose masks fill 32 bytes
    constexpr int64_t ROUNDING = 2 * 32 + HALF_STEP * 2;  // of the masks, and of half a tile to HALF_STEP

    const bool isSmall = elementCount <= SMALL_ELEMENTS;
    const int64_t bufferNum = isSmall ? 1 : 2;
    const int64_t widenParts = isSmall ? 1 : 2;
    const int64_t blockLength = HARDTANH_GRAD_BLOCK_BYTES / elementSize;
    const int64_t widenedBytes = elementSize == 4 ? 0 : 4 * blockLength / widenParts;
    const int64_t blockUb = 3 * bufferNum * HARDTANH_GRAD_BLOCK_BYTES + widenedBytes + 2 * blockLength / 8;
    int64_t maxTile = (static_cast<int64_t>(ubBytes) - SELECT_RESERVE - ROUNDING) / blockUb;
    if (isSmall) {
        maxTile = std::min(maxTile, SMALL_TILE_BYTES / HARDTANH_GRAD_BLOCK_BYTES);
        maxTile -= maxTile % (SMALL_STEP / blockLength);
    }
    // With tiles of one block, a small core would have a tile less than a big one.
    if (maxTile < 2 || coreNum == 0) {
        return false;
    }

    const int64_t blocks = CeilDiv(elementCount, blockLength);
    // Cores and tiles share evenly: full tiles and a small rest would leave a core or a copy with next to
    // nothing. A large tensor takes all cores, with at least two tiles each so that copies and vector work
    // overlap.
    const int64_t minTiles = bufferNum;
    const int64_t wantedCores = isSmall ? CeilDiv(blocks, maxTile) : blocks / minTiles;
    const int64_t cores = std::max<int64_t>(1, std::min<int64_t>(coreNum, wantedCores));
    const int64_t smallCoreBlocks = blocks / cores;
    const int64_t bigCoreBlocks = CeilDiv(blocks, cores);
    const int64_t tileCount = std::max(minTiles, CeilDiv(bigCoreBlocks, maxTile));
    const int64_t bigTileLength = CeilDiv(bigCoreBlocks, tileCount) * blockLength;
    const int64_t tileLength =
        isSmall ? AlignUp(std::max<int64_t>(1, bigTileLength), SMALL_STEP) : bigTileLength;
    const int64_t computeLength =
        elementSize == 4 || isSmall ? tileLength : AlignUp(tileLength / 2, HALF_STEP);

    tiling.data.elementCount = elementCount;
    tiling.data.smallCores = cores - blocks % cores;
    tiling.data.tileCount = blocks == 0 ? 0 : tileCount;
    tiling.data.smallTiles = tileCount - smallCoreBlocks % tileCount;
    tiling.data.tileBlocks = smallCoreBlocks / tileCount;
    tiling.data.tileLength = static_cast<uint32_t>(tileLength);
    tiling.data.computeLength = static_cast<uint32_t>(computeLength);
    tiling.schMode = isSmall ? HARDTANH_GRAD_SINGLE_BUFFER : HARDTANH_GRAD_DOUBLE_BUFFER;
    tiling.blockDim = static_cast<uint32_t>(cores);
    return true;
}

}  // namespace optiling

#endif  // HARDTANH_GRAD_TILING_H_
