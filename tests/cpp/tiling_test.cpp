// The tiling arithmetic alone: no CANN header, nothing executed. One checker judges right and wrong tilings.
#include <cmath>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include "../../custom_op/op_host/hardtanh_grad_tiling.h"
#include "check.h"

namespace {

using optiling::AlignUp;
using optiling::CeilDiv;
using optiling::ComputeHardtanhGradTiling;
using optiling::HardtanhGradTiling;

constexpr int64_t SMALL_ELEMENTS = 122880;
constexpr int64_t KB = 1024;
constexpr uint64_t ASCEND910B_UB = 196352;

struct Point {
    int64_t elementCount;
    int64_t elementSize;
    uint64_t ubBytes;
    uint32_t cores;
};

// The rule of the tiling contract that is broken, or an empty string.
std::string BrokenRule(const Point& point, const HardtanhGradTiling& tiling) {
    const HardtanhGradTilingData& data = tiling.data;
    const bool isLarge = point.elementCount > SMALL_ELEMENTS;
    const int64_t blockLength = 512 / point.elementSize;
    if (data.elementCount != point.elementCount) return "element count";
    if (tiling.schMode != (isLarge ? HARDTANH_GRAD_DOUBLE_BUFFER : HARDTANH_GRAD_SINGLE_BUFFER))
        return "schedule mode";
    if (tiling.blockDim < 1 || tiling.blockDim > point.cores) return "block dim";
    if (data.smallCores < 1 || data.smallCores > tiling.blockDim) return "small cores";

    // UB as the kernel allocates it, each buffer rounded up to 32 bytes, and the 8 KB of Select.
    const int64_t bufferNum = isLarge ? 2 : 1;
    const int64_t ub = 3 * bufferNum * AlignUp(data.tileLength * point.elementSize, 32) +
                       2 * AlignUp(data.tileLength / 8, 32) +
                       (point.elementSize == 2 ? AlignUp(4LL * data.computeLength, 32) : 0) + 8 * KB;
    if (ub > static_cast<int64_t>(point.ubBytes)) return "UB capacity";
    if (data.tileLength == 0 || data.tileLength % 64 != 0) return "tile of whole compares";
    if (data.computeLength == 0 || data.computeLength > AlignUp(data.tileLength, 256))
        return "compute length";
    if (data.computeLength < data.tileLength && data.computeLength % 256 != 0) return "mask alignment";
    if (data.computeLength % 64 != 0) return "compute of whole compares";
    if (!isLarge && data.tileLength % 1024 != 0) return "small tile step";
    if (!isLarge && data.tileLength * point.elementSize > 24 * KB) return "small tile limit";
    if (isLarge && data.tileCount < 2) return "two tiles per core";
    if (point.elementCount == 0) return data.tileCount == 0 && tiling.blockDim == 1 ? "" : "empty tensor";

    // Walk the cores. Starts on 512 bytes and cores that differ by one block follow from the fields, which
    // only speak of whole blocks. The tiles of a core have two sizes, the big ones last.
    const int64_t elements = point.elementCount;
    int64_t start = 0;
    int64_t smallest = elements;
    for (int64_t core = 0; core < tiling.blockDim; ++core) {
        const int64_t smallTiles = data.smallTiles - (core < data.smallCores ? 0 : 1);
        if (smallTiles < 0 || smallTiles > data.tileCount) return "small tiles";
        if (smallTiles > 0 && data.tileBlocks < 1) return "empty tile";
        const int64_t bigTiles = data.tileCount - smallTiles;
        const int64_t firstTile = (data.tileBlocks + (smallTiles > 0 ? 0 : 1)) * blockLength;
        const int64_t lastTile = (data.tileBlocks + (bigTiles > 0 ? 1 : 0)) * blockLength;
        if (lastTile > data.tileLength) return "tile longer than its buffer";
        const int64_t end = start + (data.tileCount * data.tileBlocks + bigTiles) * blockLength;
        if (end - lastTile >= elements) return "tile past the end";
        smallest = std::min(smallest, std::min(end, elements) - (end - lastTile));
        if (data.tileCount > 1) smallest = std::min(smallest, firstTile);
        start = end;
    }
    if (start < elements || start - elements >= blockLength) return "exact cover";

    const bool fullUb = point.ubBytes >= ASCEND910B_UB;
    if (!isLarge) {
        const int64_t limit = 24 * KB / point.elementSize;
        if (tiling.blockDim < point.cores && data.tileCount != 1)
            return "a core idle while another takes two tiles";
        if (fullUb && tiling.blockDim > 1 && (tiling.blockDim - 1) * limit >= elements)
            return "more cores than needed";
    } else if (tiling.blockDim != point.cores) {
        return "all cores";
    }
    const int64_t bytes = elements * point.elementSize;
    const bool allowsLargeCopies =
        data.tileCount == 1 ? bytes >= 32 * KB : bytes >= tiling.blockDim * 32 * KB;
    if (fullUb && allowsLargeCopies && smallest * point.elementSize < 16 * KB) return "copies of 16 KB";
    return "";
}

void CheckPoint(const Point& point) {
    HardtanhGradTiling tiling;
    if (!ComputeHardtanhGradTiling(point.elementCount, point.elementSize, point.ubBytes, point.cores,
                                   tiling)) {
        std::fprintf(stderr, "refused: ");
    } else {
        const std::string rule = BrokenRule(point, tiling);
        if (rule.empty()) return;
        std::fprintf(stderr, "%s: ", rule.c_str());
    }
    std::fprintf(stderr, "%lld elements of %lld bytes, UB %llu, %u cores\n",
                 static_cast<long long>(point.elementCount), static_cast<long long>(point.elementSize),
                 static_cast<unsigned long long>(point.ubBytes), point.cores);
    CHECK(false);
}

TEST(every_tiling_keeps_the_rules) {
    std::mt19937_64 random(20240229);
    int64_t points = 0;
    const auto check = [&](int64_t elementCount, uint64_t ubBytes, uint32_t cores) {
        for (const int64_t elementSize : {2, 4}) {
            CheckPoint({elementCount, elementSize, ubBytes, cores});
            ++points;
        }
    };
    // Every short length, every length near a change of tile or of mode, on the cores of real parts.
    for (const uint32_t cores : {40u, 48u}) {
        for (int64_t elements = 0; elements <= 2100; ++elements) check(elements, ASCEND910B_UB, cores);
        for (int64_t tile = 1; tile <= 21; ++tile) {
            for (int64_t near = -260; near <= 260; near += 4) check(tile * 6144 + near, ASCEND910B_UB, cores);
        }
        // Lengths around every whole number of 512-byte blocks per core.
        for (int64_t coreBlocks = 1; coreBlocks <= 400; ++coreBlocks) {
            for (const int64_t near : {-1, 0, 1, 127, 128, 129}) {
                check(std::max<int64_t>(0, coreBlocks * cores * 128 + near), ASCEND910B_UB, cores);
                check(std::max<int64_t>(0, coreBlocks * cores * 256 + near), ASCEND910B_UB, cores);
            }
        }
    }
    // Any length up to 2^40 elements, any number of cores, UB of 72 KB to 256 KB.
    std::uniform_real_distribution<double> exponent(0, 40);
    std::uniform_int_distribution<uint32_t> coreNum(1, 64);
    std::uniform_int_distribution<uint64_t> ubSize(72 * KB, 256 * KB);
    for (int i = 0; i < 20000; ++i) {
        const int64_t elements = static_cast<int64_t>(std::exp2(exponent(random)));
        check(elements, ubSize(random), coreNum(random));
        check(elements, ASCEND910B_UB, coreNum(random));
    }
    check(int64_t{1} << 40, ASCEND910B_UB, 1);
    check(int64_t{1} << 40, ASCEND910B_UB, 48);
    CHECK(points >= 20000);
    std::printf("%lld tilings checked\n", static_cast<long long>(points));
}

TEST(platforms_without_room_are_refused) {
    HardtanhGradTiling tiling;
    for (const int64_t elements : {int64_t{0}, int64_t{1000}, int64_t{10000000}}) {
        for (const int64_t elementSize : {2, 4}) {
            CHECK(!ComputeHardtanhGradTiling(elements, elementSize, ASCEND910B_UB, 0, tiling));
            CHECK(!ComputeHardtanhGradTiling(elements, elementSize, 0, 40, tiling));
            CHECK(!ComputeHardtanhGradTiling(elements, elementSize, 8 * KB, 40, tiling));
            // Up to the first UB size that is accepted all are refused, and that one holds its tile.
            uint64_t ubBytes = 8 * KB;
            while (!ComputeHardtanhGradTiling(elements, elementSize, ubBytes, 40, tiling)) ubBytes += 32;
            CHECK(ubBytes < 32 * KB);
            CHECK_EQ(BrokenRule({elements, elementSize, ubBytes, 40}, tiling), "");
        }
    }
}

// Each deliberate mistake, with the rule that must catch it.
TEST(wrong_tilings_are_rejected) {
    const Point small = {6144, 4, ASCEND910B_UB, 48};
    const Point large = {8000001, 4, ASCEND910B_UB, 48};
    struct Mistake {
        const char* rule;
        const Point& point;
        void (*make)(HardtanhGradTiling&);
    };
    const std::vector<Mistake> mistakes = {
        {"element count", large, [](HardtanhGradTiling& t) { t.data.elementCount -= 1; }},
        {"schedule mode", large, [](HardtanhGradTiling& t) { t.schMode = HARDTANH_GRAD_SINGLE_BUFFER; }},
        {"block dim", large, [](HardtanhGradTiling& t) { t.blockDim = 49; }},
        {"block dim", large, [](HardtanhGradTiling& t) { t.blockDim = 0; }},
        {"small cores", large, [](HardtanhGradTiling& t) { t.data.smallCores = t.blockDim + 1; }},
        {"UB capacity", large, [](HardtanhGradTiling& t) { t.data.tileLength = 7936; }},
        {"tile of whole compares", large, [](HardtanhGradTiling& t) { t.data.tileLength -= 32; }},
        {"tile longer than its buffer", large, [](HardtanhGradTiling& t) { t.data.tileLength -= 128; }},
        {"compute length", large, [](HardtanhGradTiling& t) { t.data.computeLength = 0; }},
        {"mask alignment", large, [](HardtanhGradTiling& t) { t.data.computeLength = 128; }},
        {"two tiles per core", large, [](HardtanhGradTiling& t) { t.data.tileCount = 1; }},
        {"exact cover", large, [](HardtanhGradTiling& t) { t.data.tileCount -= 1; }},
        {"tile past the end", large, [](HardtanhGradTiling& t) { t.data.tileCount += 1; }},
        {"exact cover", large, [](HardtanhGradTiling& t) { t.data.smallTiles += 1; }},
        {"exact cover", large, [](HardtanhGradTiling& t) { t.data.smallCores += 1; }},
        {"exact cover", large, [](HardtanhGradTiling& t) { t.blockDim -= 1; }},
        {"small tiles", large, [](HardtanhGradTiling& t) { t.data.smallTiles = 0; }},
        {"empty tile", large, [](HardtanhGradTiling& t) { t.data.tileBlocks = 0; }},
        {"all cores", large,
         [](HardtanhGradTiling& t) { ComputeHardtanhGradTiling(8000001, 4, ASCEND910B_UB, 40, t); }},
        {"copies of 16 KB", large,
         [](HardtanhGradTiling& t) { ComputeHardtanhGradTiling(8000001, 4, 72 * KB, 48, t); }},
        {"small tile step", small, [](HardtanhGradTiling& t) { t.data.tileLength = 6144 + 128; }},
        {"small tile limit", small, [](HardtanhGradTiling& t) { t.data.tileLength = 7168; }},
        {"more cores than needed", small,
         [](HardtanhGradTiling& t) {
             t.blockDim = 2;
             t.data.smallCores = 2;
             t.data.tileBlocks = 24;
         }},
        {"a core idle while another takes two tiles", small,
         [](HardtanhGradTiling& t) {
             t.data.tileCount = 2;
             t.data.smallTiles = 2;
             t.data.tileBlocks = 24;
         }},
    };
    for (const Mistake& mistake : mistakes) {
        const Point& point = mistake.point;
        HardtanhGradTiling tiling;
        CHECK(ComputeHardtanhGradTiling(point.elementCount, point.elementSize, point.ubBytes, point.cores,
                                        tiling));
        CHECK_EQ(BrokenRule(point, tiling), "");
        mistake.make(tiling);
        CHECK_EQ(BrokenRule(point, tiling), mistake.rule);
    }
}

}  // namespace
