// The kernel itself, run by the virtual NPU with the operator's own tiling, bit by bit against the formula.
// The tensors lie against inaccessible pages, and the device addresses that the kernel gets are inaccessible
// altogether. ASCEND_CUSTOM_OPP_PATH names the vendor package.
#include <sys/mman.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "ascendc/types.h"
#include "check.h"
#include "engine.h"
#include "kernel_launch.h"
#include "virtual_npu.h"
#include "vnpu.h"

namespace {

constexpr size_t kPage = 4096;
constexpr int64_t kLongest = 10'000'000;
constexpr uint32_t kCores[] = {1, 2, 7, 20, 40, 48};
constexpr int kOrders = 3;

const Bounds kBounds[] = {
    {-1.0f, 1.0f}, {1.2f, 2.4f}, {0.0f, 6.0f}, {-INFINITY, INFINITY}, {0.0f, 0.0f},       {-0.7f, 0.7f},
    {1.0f, -1.0f}, {NAN, 1.0f},  {-1.0f, NAN}, {-INFINITY, 0.0f},     {-65504.0f, 1e-7f},
};

float ToFloat(const Dtype& dtype, uint32_t bits) {
    if (dtype.size == 4) return vnpu::device::FloatFrom(bits);
    if (std::string(dtype.name) == "bfloat16") return vnpu::device::FloatFrom(bits << 16);
    return vnpu::device::FloatFrom(vnpu::device::WidenHalf(static_cast<uint16_t>(bits)));
}

uint32_t FromFloat(const Dtype& dtype, float value) {
    const uint32_t bits = vnpu::device::FloatBits(value);
    if (dtype.size == 4) return bits;
    return vnpu::device::Narrow(bits, std::string(dtype.name) == "bfloat16" ? 7 : 10,
                                AscendC::RoundMode::CAST_RINT);
}

// Zeros, subnormals, extremes, infinities, NaNs with payloads, and the bounds with their neighbours.
std::vector<uint32_t> SpecialValues(const Dtype& dtype) {
    std::vector<uint32_t> positive;
    if (dtype.size == 4) {
        positive = {0, 1, 0x7FFFFF, 0x800000, 0x7F7FFFFF, 0x7F800000, 0x7F800001, 0x7FC00000, 0x7FFFFFFF};
    } else if (std::string(dtype.name) == "bfloat16") {
        positive = {0, 1, 0x7F, 0x80, 0x7F7F, 0x7F80, 0x7F81, 0x7FC0, 0x7FFF};
    } else {
        positive = {0, 1, 0x3FF, 0x400, 0x7BFF, 0x7C00, 0x7C01, 0x7E00, 0x7FFF};
    }
    for (const Bounds& bounds : kBounds) {
        for (const float bound : {bounds.min, bounds.max}) {
            if (std::isnan(bound) || std::isinf(bound) || bound == 0.0f) continue;
            const uint32_t bits = FromFloat(dtype, std::fabs(bound));
            positive.insert(positive.end(), {bits - 1, bits, bits + 1});
        }
    }
    std::vector<uint32_t> all = positive;
    for (const uint32_t bits : positive) all.push_back(bits | (dtype.size == 4 ? 0x80000000u : 0x8000u));
    return all;
}

// Memory for a tensor of up to capacity bytes between two inaccessible pages, and as many inaccessible device
// addresses.
class Arena {
public:
    explicit Arena(size_t capacity) : capacity_((capacity + kPage - 1) / kPage * kPage) {
        host_ = Map();
        device_ = Map();
        mprotect(host_ + kPage, capacity_, PROT_READ | PROT_WRITE);
    }
    // The tensor begins right behind the first guard, or ends right before the last one.
    vnpu::GmRange Place(const char* name, size_t bytes, bool atEnd, bool writable) const {
        const size_t offset = kPage + (atEnd ? capacity_ - bytes : 0);
        return {name, device_ + offset, host_ + offset, bytes, writable};
    }

private:
    uint8_t* Map() const {
        void* memory = mmap(nullptr, capacity_ + 2 * kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) std::abort();
        return static_cast<uint8_t*>(memory);
    }

    size_t capacity_;
    uint8_t* host_;
    uint8_t* device_;
};

struct Point {
    const Dtype& dtype;
    int64_t elements;
    Bounds bounds;
    uint32_t cores;
    int order;
    bool atEnd;
};

struct Tensors {
    Tensors() : self(kLongest * 4), grad(kLongest * 4), y(kLongest * 4) {}
    Arena self;
    Arena grad;
    Arena y;
};

Tensors& Memory() {
    static Tensors tensors;
    return tensors;
}

uint32_t Load(const vnpu::GmRange& tensor, int64_t size, int64_t index) {
    uint32_t bits = 0;
    std::memcpy(&bits, tensor.host + index * size, size);
    return bits;
}

void Store(const vnpu::GmRange& tensor, int64_t size, int64_t index, uint32_t bits) {
    std::memcpy(tensor.host + index * size, &bits, size);
}

// Half of self are values at and around the bounds or special ones, the rest any bit patterns; grad is any
// bits.
void Fill(const Point& point, const vnpu::GmRange& self, const vnpu::GmRange& grad) {
    const std::vector<uint32_t> specials = SpecialValues(point.dtype);
    uint64_t state = static_cast<uint64_t>(point.elements) * 0x9E3779B97F4A7C15ull + point.cores;
    const auto random = [&state] {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        return static_cast<uint32_t>(state >> 16);
    };
    for (int64_t i = 0; i < point.elements; ++i) {
        const uint32_t any = random();
        Store(self, point.dtype.size, i, (any & 1) != 0 ? specials[(any >> 1) % specials.size()] : random());
        Store(grad, point.dtype.size, i, random());
    }
}

vnpu::Launch Describe(const Point& point, const vnpu::GmRange& self, const vnpu::GmRange& grad,
                      const vnpu::GmRange& y) {
    return KernelLaunch(point.dtype, point.elements, point.bounds, self, grad, y);
}

// Elements of y that differ in any bit from the formula.
int64_t Differences(const Point& point, const vnpu::GmRange& self, const vnpu::GmRange& grad,
                    const vnpu::GmRange& y) {
    int64_t wrong = 0;
    for (int64_t i = 0; i < point.elements; ++i) {
        const float value = ToFloat(point.dtype, Load(self, point.dtype.size, i));
        const bool outside = value > point.bounds.max || value < point.bounds.min;
        const uint32_t expected = outside ? 0 : Load(grad, point.dtype.size, i);
        wrong += Load(y, point.dtype.size, i) != expected;
    }
    return wrong;
}

void Report(const Point& point) {
    std::fprintf(stderr, "  with %s, %lld elements, bounds [%g, %g], %u cores, order %d, %s guard\n",
                 point.dtype.name, static_cast<long long>(point.elements), point.bounds.min, point.bounds.max,
                 point.cores, point.order, point.atEnd ? "last" : "first");
}

uint64_t Tiles(const vnpu::LaunchRecord& record) {
    uint64_t tiles = 0;
    for (const vnpu::CoreCounters& core : record.cores) tiles += core.copiesOut;
    return tiles;
}

void CheckTraffic(const Point& point, const vnpu::LaunchRecord& record) {
    const uint64_t tensorBytes = static_cast<uint64_t>(point.elements * point.dtype.size);
    uint64_t moved = 0;
    uint64_t elements = 0;
    for (const vnpu::CoreCounters& core : record.cores) {
        moved += core.bytesRead + core.bytesWritten + core.tilingBytes;
        elements += core.elementsWritten;
    }
    CHECK_EQ(elements, static_cast<uint64_t>(point.elements));
    CHECK(moved >= 3 * tensorBytes && moved <= 3 * tensorBytes + 96 * record.cores.size());
    CHECK_EQ(record.scalarGmAccesses, 0u);
    // Two compares per element decide, NaN included; Or, Not and Select work on a whole tile each.
    const vnpu::InstructionCounters& compares = record.vector.at("CompareScalar");
    CHECK(compares.elements < 2 * static_cast<uint64_t>(point.elements) + 64 * compares.instructions);
    uint64_t instructions = 0;
    for (const auto& [name, counters] : record.vector)
        instructions += name == "Cast" ? 0 : counters.instructions;
    CHECK(instructions <= compares.instructions + 3 * Tiles(record));
}

// Input data is laid down by fill before the launch.
template <typename FillTensors>
void Run(const Point& point, const FillTensors& fill) {
    vnpuReset();
    vnpuSetPlatform("ascend910b1", point.cores, 0);
    vnpuSetCoreOrder(point.order, static_cast<uint32_t>(point.elements));
    const size_t bytes = static_cast<size_t>(point.elements * point.dtype.size);
    const auto self = Memory().self.Place("self", bytes, point.atEnd, false);
    const auto grad = Memory().grad.Place("grad", bytes, point.atEnd, false);
    const auto y = Memory().y.Place("y", bytes, point.atEnd, true);
    fill(self, grad);
    try {
        CHECK_EQ(vnpu::RunKernel(Describe(point, self, grad, y)), 0);
        CHECK_EQ(Differences(point, self, grad, y), 0);
        CheckTraffic(point, vnpu::LastLaunch());
    } catch (const check::Failure&) {
        Report(point);
        throw;
    }
}

void Run(const Point& point) {
    Run(point, [&point](const vnpu::GmRange& self, const vnpu::GmRange& grad) { Fill(point, self, grad); });
}

// Bounds, cores, order and place take turns over the points.
class Sweep {
public:
    void Add(int64_t elements) {
        for (const Dtype& dtype : kDtypes) {
            const size_t turn = turn_++;
            Run({dtype, elements, kBounds[turn % std::size(kBounds)], kCores[turn % std::size(kCores)],
                 static_cast<int>(turn / 3 % kOrders), turn / 2 % 2 == 0});
        }
    }

private:
    size_t turn_ = 0;
};

TEST(lengths) {
    Sweep sweep;
    for (int64_t elements = 1; elements <= 2100; ++elements) sweep.Add(elements);
    for (int64_t tiles = 1; tiles <= 8; ++tiles) {
        for (const int64_t offset : {-257, -64, -2, -1, 0, 1, 2, 63, 64, 65, 256})
            sweep.Add(tiles * 6144 + offset);
    }
    for (const int64_t offset : {-6144, -129, -1, 0, 1, 2, 127, 128, 129, 6144}) sweep.Add(122880 + offset);
    std::mt19937_64 random(20);
    for (int i = 0; i < 20; ++i) sweep.Add(1 + static_cast<int64_t>(random() % kLongest));
}

TEST(cores_and_orders) {
    for (const Dtype& dtype : kDtypes) {
        for (const int64_t elements : {1, 8, 1025, 30000, 122881, 500003}) {
            for (const uint32_t cores : kCores) {
                for (int order = 0; order < kOrders; ++order) {
                    Run({dtype, elements, kBounds[1], cores, order, order != 1});
                }
            }
        }
    }
}

// Every special value of self with every special value of grad, for all bounds.
TEST(special_values) {
    for (const Dtype& dtype : kDtypes) {
        const std::vector<uint32_t> specials = SpecialValues(dtype);
        const int64_t count = static_cast<int64_t>(specials.size());
        for (const Bounds& bounds : kBounds) {
            Run({dtype, count * count, bounds, 40, 0, true},
                [&](const vnpu::GmRange& self, const vnpu::GmRange& grad) {
                    for (int64_t i = 0; i < count * count; ++i) {
                        Store(self, dtype.size, i, specials[i / count]);
                        Store(grad, dtype.size, i, specials[i % count]);
                    }
                });
        }
    }
}

// Every half and every bfloat16, against bounds that 16 bits do not hold.
TEST(every_pattern) {
    for (const Dtype& dtype : {kDtypes[1], kDtypes[2]}) {
        for (const Bounds& bounds : kBounds) {
            Run({dtype, 65536, bounds, 48, 2, false},
                [&](const vnpu::GmRange& self, const vnpu::GmRange& grad) {
                    for (uint32_t i = 0; i < 65536; ++i) {
                        Store(self, dtype.size, i, i);
                        Store(grad, dtype.size, i, ~i);
                    }
                });
        }
    }
}

TEST(worked_example) {
    const Bounds bounds = {1.2f, 2.4f};
    const float self[] = {1, 1, 1, 2, 1, 2, 3, 3};
    const float expected[] = {0, 0, 0, 3, 0, 5, 0, 0};
    for (const Dtype& dtype : kDtypes) {
        Run({dtype, 8, bounds, 48, 0, true}, [&](const vnpu::GmRange& selfRange, const vnpu::GmRange& grad) {
            for (int64_t i = 0; i < 8; ++i) {
                Store(selfRange, dtype.size, i, FromFloat(dtype, self[i]));
                Store(grad, dtype.size, i, FromFloat(dtype, static_cast<float>(i)));
            }
        });
        const auto y = Memory().y.Place("y", static_cast<size_t>(8 * dtype.size), true, true);
        for (int64_t i = 0; i < 8; ++i) CHECK(Load(y, dtype.size, i) == FromFloat(dtype, expected[i]));
    }
}

// The result may be written over the gradient.
TEST(in_place) {
    for (const Dtype& dtype : kDtypes) {
        const Point point = {dtype, 200003, kBounds[0], 7, 2, true};
        vnpuReset();
        vnpuSetPlatform("ascend910b1", point.cores, 0);
        vnpuSetCoreOrder(point.order, 1);
        const size_t bytes = static_cast<size_t>(point.elements * dtype.size);
        const auto self = Memory().self.Place("self", bytes, true, false);
        const auto grad = Memory().grad.Place("grad", bytes, true, false);
        auto y = grad;
        y.name = "y";
        y.writable = true;
        Fill(point, self, grad);
        const auto kept = Memory().y.Place("grad before", bytes, true, false);
        std::memcpy(kept.host, grad.host, bytes);
        CHECK_EQ(vnpu::RunKernel(Describe(point, self, grad, y)), 0);
        CHECK_EQ(Differences(point, self, kept, y), 0);
    }
}

// The comparison of this test must see a single wrong bit, and the engine a tiling for another tensor.
TEST(checkers_fail) {
    const Point point = {kDtypes[0], 5000, kBounds[0], 2, 0, true};
    Run(point);
    const size_t bytes = 20000;
    const auto self = Memory().self.Place("self", bytes, true, false);
    const auto grad = Memory().grad.Place("grad", bytes, true, false);
    const auto y = Memory().y.Place("y", bytes, true, true);
    y.host[4321] ^= 1;
    CHECK_EQ(Differences(point, self, grad, y), 1);
    for (const int64_t other : {4999, 5001}) {
        Point wrong = point;
        wrong.elements = other;
        CHECK_EQ(vnpu::RunKernel(Describe(wrong, self, grad, y)), 507035);
        CHECK_EQ(vnpu::LastLaunch().violations.at(0).rule, other < 5000 ? "gm-unwritten" : "gm-bounds");
    }
}

// A finite 16-bit value by the definition of its format; infinity stands for the value after the largest
// finite one.
double ValueOf(uint16_t bits, int mantissaBits) {
    const int bias = (1 << (14 - mantissaBits)) - 1;
    const int exponent = (bits & 0x7FFF) >> mantissaBits;
    const int mantissa = bits & ((1 << mantissaBits) - 1);
    const int significand = exponent == 0 ? mantissa : mantissa | (1 << mantissaBits);
    const double magnitude = std::ldexp(significand, std::max(exponent, 1) - bias - mantissaBits);
    return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

// The widening and the roundings of the 16-bit types.
TEST(conversions) {
    using AscendC::RoundMode;
    using vnpu::device::FloatBits;
    using vnpu::device::FloatFrom;
    using vnpu::device::Narrow;
    using vnpu::device::WidenHalf;
    int64_t wrong = 0;
    for (uint32_t i = 0; i < 65536; ++i) {
        const uint16_t bits = static_cast<uint16_t>(i);
        const float widened = FloatFrom(WidenHalf(bits));
        if ((bits & 0x7FFF) > 0x7C00) {
            wrong += !std::isnan(widened);
        } else {
            const bool infinite = (bits & 0x7FFF) == 0x7C00;
            wrong += infinite ? !std::isinf(widened) : widened != ValueOf(bits, 10);
            wrong += std::signbit(widened) != ((bits & 0x8000) != 0);
            wrong += Narrow(FloatBits(widened), 10, RoundMode::CAST_RINT) != bits;
        }
    }
    CHECK_EQ(wrong, 0);
    for (uint64_t i = 0; i < (uint64_t{1} << 32); i += 4099) {
        const uint32_t bits = static_cast<uint32_t>(i);
        const float value = FloatFrom(bits);
        for (const int mantissaBits : {7, 10}) {
            const auto round = [&](RoundMode mode) { return Narrow(bits, mantissaBits, mode); };
            const uint16_t infinity = static_cast<uint16_t>(0x7FFF >> mantissaBits << mantissaBits);
            if (!std::isfinite(value)) {
                const uint16_t narrow = round(RoundMode::CAST_RINT) & 0x7FFF;
                wrong += std::isnan(value) ? narrow <= infinity : narrow != infinity;
                continue;
            }
            // The two neighbours of the value, and for each mode the one that it takes. Beyond the neighbour
            // of the largest finite value the nearest is infinity all the same.
            const uint16_t down = round(RoundMode::CAST_TRUNC);
            const uint16_t up = static_cast<uint16_t>(down + 1);
            const double magnitude = std::fabs(value);
            const double below = magnitude - std::fabs(ValueOf(down, mantissaBits));
            const double above = std::fabs(ValueOf(up, mantissaBits)) - magnitude;
            const bool overflow = (up & 0x7FFF) == infinity;
            const bool isNegative = std::signbit(value);
            wrong += isNegative != ((down & 0x8000) != 0) || below < 0 || (above <= 0 && !overflow);
            const auto expect = [&](RoundMode mode, bool isUp) {
                wrong += round(mode) != (isUp ? up : down);
            };
            expect(RoundMode::CAST_FLOOR, isNegative && below > 0);
            expect(RoundMode::CAST_CEIL, !isNegative && below > 0);
            expect(RoundMode::CAST_ROUND, below >= above);
            expect(RoundMode::CAST_RINT, below > above || (below == above && (down & 1) == 1));
            expect(RoundMode::CAST_NONE, below > above || (below == above && (down & 1) == 1));
            expect(RoundMode::CAST_ODD, below > 0 && (down & 1) == 0);
        }
    }
    CHECK_EQ(wrong, 0);
}

}  // namespace
