#ifndef HARDTANH_GRAD_TILING_DATA_H_
#define HARDTANH_GRAD_TILING_DATA_H_

#include <cstdint>

// Schedule modes. Macros, because the tiling key declaration is read by the preprocessor.
#define HARDTANH_GRAD_SINGLE_BUFFER 0
#define HARDTANH_GRAD_DOUBLE_BUFFER 1

// Work is shared out in blocks of this many bytes of each tensor, so that every tile starts on this boundary.
constexpr int64_t HARDTANH_GRAD_BLOCK_BYTES = 512;

// Cores and tiles each come in two sizes that differ by one block, the small ones first: the block that the
// tensor fills only in part then lies in the last, big tile. Only there is a tile shorter than its blocks.
struct HardtanhGradTilingData {
    int64_t elementCount;  // elements of each tensor
    int64_t smallCores;    // cores [0, smallCores) are small
    int64_t tileCount;     // tiles per core, 0 for an empty tensor
    int64_t smallTiles;    // tiles [0, smallTiles) of a small core are small; a big core has one less of them
    int64_t tileBlocks;    // blocks of a small tile
    uint32_t tileLength;   // elements that a queue buffer holds
    uint32_t computeLength;  // elements that are compared at once, a multiple of 64
    float minVal;
    float maxVal;
};

#endif  // HARDTANH_GRAD_TILING_DATA_H_
