// What the copies, the vector instructions, the cores and the counters of the virtual NPU do when no rule is
// broken.
#include <algorithm>
#include <cmath>
#include <string>

#include "faults/small_kernel.h"

namespace {

using namespace small;
using AscendC::CMPMODE;
using AscendC::RoundMode;
using AscendC::SELMODE;

// Runs a kernel of one core that leaves nothing in y for the launch to miss.
template <typename Body>
void OnCore(const Body& body) {
    Memory memory;
    const int status = Run(memory.Launch(), [&](const Io& io) {
        KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
        Unit unit(io);
        unit.All();
        body(io, unit);
    });
    CHECK_EQ(status, 0);
}

// A tensor in a buffer of its own.
template <typename T>
struct Place {
    Place(TPipe& pipe, uint32_t elements) { pipe.InitBuffer(buffer, elements * sizeof(T)); }
    LocalTensor<T> Tensor() { return buffer.template Get<T>(); }
    TBuf<TPosition::VECIN> buffer;
};

template <typename T>
void Fill(const LocalTensor<T>& tensor, const std::vector<T>& values) {
    for (uint32_t i = 0; i < values.size(); ++i) tensor.SetValue(i, values[i]);
    PipeBarrier<PIPE_ALL>();
}

template <typename T>
std::vector<T> Values(const LocalTensor<T>& tensor, uint32_t count) {
    PipeBarrier<PIPE_ALL>();
    std::vector<T> values;
    for (uint32_t i = 0; i < count; ++i) values.push_back(tensor.GetValue(i));
    PipeBarrier<PIPE_ALL>();
    return values;
}

void CheckValues(const std::vector<float>& actual, const std::vector<float>& expected) {
    CHECK_EQ(actual.size(), expected.size());
    for (size_t i = 0; i < actual.size(); ++i) CHECK_EQ(actual[i], expected[i]);
}

TEST(copy_completes_a_block_with_its_first_element) {
    std::vector<float> seen;
    OnCore([&](const Io&, Unit& unit) {
        Place<float> place(unit.pipe, 24);
        Fill(place.Tensor(), std::vector<float>(24, -1.0f));
        DataCopyPad(place.Tensor(), unit.x[3], DataCopyExtParams(1, 20, 0, 0, 0),
                    DataCopyPadExtParams<float>());
        seen = Values(place.Tensor(), 16);
    });
    CheckValues(seen, {3, 4, 5, 6, 7, 3, 3, 3, -1, -1, -1, -1, -1, -1, -1, -1});
}

TEST(copy_pads_blocks_with_a_value) {
    std::vector<float> seen;
    OnCore([&](const Io&, Unit& unit) {
        Place<float> place(unit.pipe, 32);
        Fill(place.Tensor(), std::vector<float>(32, -1.0f));
        // Two blocks of three elements, four apart in GM, 32 bytes apart in UB.
        DataCopyPad(place.Tensor(), unit.x, DataCopyExtParams(2, 12, 16, 1, 0),
                    DataCopyPadExtParams<float>(true, 1, 2, 9.0f));
        seen = Values(place.Tensor(), 24);
    });
    CheckValues(seen, {9, 0, 1, 2, 9, 9, 9, 9, -1, -1, -1, -1, -1, -1, -1, -1, 9, 7, 8, 9, 9, 9, 9, 9});
}

TEST(copy_takes_blocks_of_32_bytes) {
    std::vector<float> seen;
    OnCore([&](const Io&, Unit& unit) {
        Place<float> place(unit.pipe, 24);
        Fill(place.Tensor(), std::vector<float>(24, -1.0f));
        DataCopy(place.Tensor(), unit.x, DataCopyParams(2, 1, 3, 1));
        seen = Values(place.Tensor(), 24);
    });
    CheckValues(seen,
                {0, 1, 2, 3, 4, 5, 6, 7, -1, -1, -1, -1, -1, -1, -1, -1, 32, 33, 34, 35, 36, 37, 38, 39});
}

TEST(copy_out_writes_exact_bytes_with_strides) {
    Memory memory;
    const int status = Run(memory.Launch(), [](const Io& io) {
        KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
        TPipe pipe;
        Place<float> place(pipe, 64);
        LocalTensor<float> source = place.Tensor();
        for (uint32_t i = 0; i < 64; ++i) source.SetValue(i, static_cast<float>(100 + i));
        GlobalTensor<float> y;
        y.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(io.y), kOutput);
        PipeBarrier<PIPE_ALL>();
        // Even elements one by one: a block of UB each. Then the odd ones, from every second block of 4
        // bytes.
        DataCopyPad(y, source, DataCopyExtParams(8, 4, 0, 4, 0));
        DataCopyPad(y[1], source[32], DataCopyExtParams(2, 4, 1, 4, 0));
        for (uint32_t i = 5; i < 16; i += 2) DataCopyPad(y[i], source, DataCopyExtParams(1, 4, 0, 0, 0));
        DataCopyPad(y[16], source, DataCopyExtParams(1, 192, 0, 0, 0));
    });
    CHECK_EQ(status, 0);
    for (uint32_t i = 0; i < 8; ++i) CHECK_EQ(memory.y[2 * i], static_cast<float>(100 + 8 * i));
    CHECK_EQ(memory.y[1], 132.0f);
    CHECK_EQ(memory.y[3], 148.0f);
    CHECK_EQ(memory.y[16], 100.0f);
    CHECK_EQ(memory.y[63], 147.0f);
}

template <typename T>
void CheckCompares(const std::vector<T>& special) {
    constexpr CMPMODE kModes[] = {CMPMODE::LT, CMPMODE::GT, CMPMODE::EQ,
                                  CMPMODE::LE, CMPMODE::GE, CMPMODE::NE};
    OnCore([&](const Io&, Unit& unit) {
        Place<T> left(unit.pipe, 128);
        Place<T> right(unit.pipe, 128);
        Place<uint8_t> mask(unit.pipe, 32);
        std::vector<T> values;
        for (uint32_t i = 0; i < 128; ++i) values.push_back(special[i % special.size()]);
        Fill(left.Tensor(), values);
        for (const T scalar : special) {
            Fill(right.Tensor(), std::vector<T>(128, scalar));
            for (const CMPMODE mode : kModes) {
                AscendC::Compares(mask.Tensor(), left.Tensor(), scalar, mode, 128);
                const std::vector<uint8_t> byScalar = Values(mask.Tensor(), 16);
                AscendC::Compare(mask.Tensor(), left.Tensor(), right.Tensor(), mode, 128);
                CHECK(byScalar == Values(mask.Tensor(), 16));
                for (uint32_t i = 0; i < 128; ++i) {
                    const float a = values[i];
                    const float b = scalar;
                    const bool expected = mode == CMPMODE::LT   ? a < b
                                          : mode == CMPMODE::GT ? a > b
                                          : mode == CMPMODE::EQ ? a == b
                                          : mode == CMPMODE::LE ? a <= b
                                          : mode == CMPMODE::GE ? a >= b
                                                                : a != b;
                    CHECK_EQ(((byScalar[i / 8] >> (i % 8)) & 1) != 0, expected);
                }
            }
        }
    });
}

TEST(compare_follows_ieee) {
    CheckCompares<float>({0.0f, -0.0f, 1.0f, -1.0f, 1e-45f, INFINITY, -INFINITY, NAN, 3.5f});
    CheckCompares<half>({half(0.0f), half(-0.0f), half(1.0f), half(6e-8f), half(65504.0f), half(INFINITY),
                         half(-INFINITY), half(NAN)});
}

TEST(compare_of_integers) {
    std::vector<uint8_t> seen;
    OnCore([&](const Io&, Unit& unit) {
        Place<int32_t> values(unit.pipe, 64);
        Place<uint8_t> mask(unit.pipe, 32);
        std::vector<int32_t> integers(64, 16777216);
        integers[9] = 16777217;  // the same as a float
        Fill(values.Tensor(), integers);
        AscendC::Compares(mask.Tensor(), values.Tensor(), 16777217, CMPMODE::EQ, 64);
        seen = Values(mask.Tensor(), 8);
    });
    CHECK(seen == std::vector<uint8_t>({0, 2, 0, 0, 0, 0, 0, 0}));
}

TEST(select_moves_bits) {
    std::vector<float> floats;
    std::vector<uint16_t> halves;
    std::vector<float> firstMask;
    OnCore([&](const Io&, Unit& unit) {
        Place<uint8_t> mask(unit.pipe, 32);
        Place<float> ones(unit.pipe, 128);
        Place<float> twos(unit.pipe, 128);
        Place<float> to(unit.pipe, 128);
        std::vector<uint8_t> bits(32, 0);
        bits[0] = 0x05;  // elements 0 and 2
        bits[8] = 0x02;  // element 65
        Fill(mask.Tensor(), bits);
        Fill(ones.Tensor(), std::vector<float>(128, 1.0f));
        Fill(twos.Tensor(), std::vector<float>(128, 2.0f));
        Fill(to.Tensor(), std::vector<float>(128, 7.0f));
        AscendC::Select(to.Tensor(), mask.Tensor(), ones.Tensor(), twos.Tensor(),
                        SELMODE::VSEL_TENSOR_TENSOR_MODE, 67);
        floats = Values(to.Tensor(), 128);
        AscendC::Select(to.Tensor(), mask.Tensor(), ones.Tensor(), twos.Tensor(), SELMODE::VSEL_CMPMASK_SPR,
                        128);
        firstMask = Values(to.Tensor(), 128);
        LocalTensor<uint16_t> patterns = ones.Tensor().ReinterpretCast<uint16_t>();
        std::vector<uint16_t> signalling(256, 0x7C01);  // a NaN that arithmetic would quieten
        Fill(patterns, signalling);
        AscendC::Select(ones.Tensor().ReinterpretCast<half>(), mask.Tensor(),
                        ones.Tensor().ReinterpretCast<half>(), half(0.0f), SELMODE::VSEL_TENSOR_SCALAR_MODE,
                        200);
        halves = Values(patterns, 201);
    });
    for (uint32_t i = 0; i < 128; ++i) {
        CHECK_EQ(floats[i], i >= 67 ? 7.0f : i == 0 || i == 2 || i == 65 ? 1.0f : 2.0f);
        CHECK_EQ(firstMask[i], i % 64 == 0 || i % 64 == 2 ? 1.0f : 2.0f);
    }
    for (uint32_t i = 0; i < 201; ++i) {
        CHECK_EQ(halves[i], i == 200 || i == 0 || i == 2 || i == 65 ? 0x7C01 : 0);
    }
}

TEST(masks_are_combined) {
    std::vector<uint16_t> conjunction;
    std::vector<uint16_t> disjunction;
    std::vector<uint16_t> negation;
    OnCore([&](const Io&, Unit& unit) {
        Place<uint16_t> left(unit.pipe, 16);
        Place<uint16_t> right(unit.pipe, 16);
        Place<uint16_t> to(unit.pipe, 16);
        Fill(left.Tensor(), std::vector<uint16_t>(16, 0x0FF0));
        Fill(right.Tensor(), std::vector<uint16_t>(16, 0x3333));
        AscendC::And(to.Tensor(), left.Tensor(), right.Tensor(), 3);
        conjunction = Values(to.Tensor(), 3);
        AscendC::Or(left.Tensor(), left.Tensor(), right.Tensor(), 2);
        disjunction = Values(left.Tensor(), 3);
        AscendC::Not(to.Tensor(), left.Tensor(), 3);
        negation = Values(to.Tensor(), 3);
    });
    CHECK(conjunction == std::vector<uint16_t>(3, 0x0330));
    CHECK(disjunction == std::vector<uint16_t>({0x3FF3, 0x3FF3, 0x0FF0}));
    CHECK(negation == std::vector<uint16_t>({0xC00C, 0xC00C, 0xF00F}));
}

TEST(casts_and_clamps) {
    std::vector<float> wide;
    std::vector<uint16_t> bfloats;
    std::vector<float> clamped;
    OnCore([&](const Io&, Unit& unit) {
        Place<float> floats(unit.pipe, 8);
        Place<half> halves(unit.pipe, 16);
        Place<bfloat16_t> brains(unit.pipe, 16);
        Fill(floats.Tensor(), {1.0f, 0.7f, -65520.0f, NAN, INFINITY, 1e-8f, -0.0f, 2049.0f});
        AscendC::Cast(halves.Tensor(), floats.Tensor(), RoundMode::CAST_NONE, 8);
        AscendC::Cast(brains.Tensor(), floats.Tensor(), RoundMode::CAST_TRUNC, 8);
        PipeBarrier<PIPE_V>();
        AscendC::Cast(floats.Tensor(), halves.Tensor(), RoundMode::CAST_NONE, 8);
        wide = Values(floats.Tensor(), 8);
        bfloats = Values(brains.Tensor().ReinterpretCast<uint16_t>(), 8);
        AscendC::Maxs(floats.Tensor(), floats.Tensor(), -2.0f, 8);
        PipeBarrier<PIPE_V>();
        AscendC::Mins(floats.Tensor(), floats.Tensor(), 2.0f, 8);
        clamped = Values(floats.Tensor(), 8);
    });
    CHECK_EQ(wide[1], 0.7001953125f);
    CHECK_EQ(wide[2], -INFINITY);
    CHECK(std::isnan(wide[3]) && std::isnan(clamped[3]));
    CHECK_EQ(wide[4], INFINITY);
    CHECK_EQ(wide[5], 0.0f);
    CHECK(std::signbit(wide[6]));
    CHECK_EQ(wide[7], 2048.0f);
    CHECK_EQ(bfloats[1], 0x3F33);
    CHECK_EQ(clamped[2], -2.0f);
    CHECK_EQ(clamped[4], 2.0f);
}

TEST(tensors_know_their_sizes) {
    OnCore([&](const Io& io, Unit& unit) {
        Place<float> place(unit.pipe, 24);
        LocalTensor<float> values = place.Tensor();
        CHECK_EQ(values.GetSize(), 24u);
        CHECK_EQ(values[8].GetSize(), 16u);
        CHECK_EQ(values.ReinterpretCast<half>().GetSize(), 48u);
        CHECK_EQ(values.GetPosition(), static_cast<int32_t>(TPosition::VECIN));
        GlobalTensor<float> x;
        x.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(io.x), kInput);
        CHECK_EQ(x.GetSize(), uint64_t{kInput});
        CHECK_EQ(x[1000].GetSize(), uint64_t{kInput});
        CHECK_EQ(x[1000].GetValue(3), 1003.0f);
        CHECK(x.GetPhyAddr(2) == reinterpret_cast<float*>(io.x) + 2);
        CHECK(unit.in.VacantInQue() && !unit.in.HasTensorInQue() && unit.in.HasIdleBuffer());
        unit.Load();
        CHECK(unit.in.VacantInQue() && unit.in.HasTensorInQue() && !unit.in.HasIdleBuffer());
        CHECK_EQ(unit.in.GetTensorCountInQue(), 1);
        LocalTensor<float> loaded = unit.in.DeQue<float>();
        unit.in.FreeTensor(loaded);
        const AscendC::TEventID fetched = unit.pipe.FetchEventID(HardEvent::MTE3_S);
        CHECK_EQ(unit.pipe.AllocEventID<HardEvent::MTE3_S>(), fetched);
        unit.pipe.ReleaseEventID<HardEvent::MTE3_S>(fetched);
        CHECK_EQ(unit.pipe.FetchEventID<HardEvent::MTE3_S>(), fetched);
    });
}

struct SmallTiling {
    uint32_t first;
    float second;
};

std::vector<int64_t> OrderOfCores(int order, uint32_t seed) {
    Memory memory;
    vnpu::Launch launch = memory.Launch();
    launch.blockDim = 48;
    launch.tilingKey = 17;
    const SmallTiling tiling = {42, 0.5f};
    std::memcpy(launch.tilingData.data(), &tiling, sizeof(tiling));
    std::vector<int64_t> cores;
    vnpuSetCoreOrder(order, seed);
    const int status = Run(launch, [&](const Io& io) {
        KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
        GET_TILING_DATA_WITH_STRUCT(SmallTiling, tilingData, io.tiling);
        CHECK_EQ(tilingData.first, 42u);
        CHECK_EQ(tilingData.second, 0.5f);
        CHECK(TILING_KEY_IS(17) && !TILING_KEY_IS(18));
        CHECK_EQ(AscendC::GetBlockNum(), 48);
        cores.push_back(AscendC::GetBlockIdx());
        if (AscendC::GetBlockIdx() == 5) {
            Unit unit(io);
            unit.All();
        }
    });
    vnpuSetCoreOrder(0, 0);
    CHECK_EQ(status, 0);
    return cores;
}

TEST(cores_run_in_the_order_asked_for) {
    const std::vector<int64_t> forward = OrderOfCores(0, 0);
    std::vector<int64_t> reverse = OrderOfCores(1, 0);
    CHECK(std::is_sorted(forward.begin(), forward.end()) && forward.size() == 48 && forward[0] == 0);
    std::reverse(reverse.begin(), reverse.end());
    CHECK(reverse == forward);
    std::vector<int64_t> shuffled = OrderOfCores(2, 1);
    CHECK(shuffled == OrderOfCores(2, 1));
    CHECK(shuffled != OrderOfCores(2, 2) && shuffled != forward);
    std::sort(shuffled.begin(), shuffled.end());
    CHECK(shuffled == forward);
}

TEST(counters_and_report) {
    vnpuReset();
    Memory memory;
    vnpu::Launch launch = memory.Launch();
    launch.opType = "Small\"Kernel\\\n";
    launch.tilingKey = UINT64_MAX;
    const int status = Run(launch, [](const Io& io) {
        KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
        GET_TILING_DATA_WITH_STRUCT(SmallTiling, tilingData, io.tiling);
        (void)tilingData;
        Unit unit(io);
        unit.All();
        unit.x.GetValue(7);
    });
    CHECK_EQ(status, 0);
    const vnpu::LaunchRecord record = vnpu::LastLaunch();
    CHECK_EQ(record.cores.size(), 1u);
    CHECK_EQ(record.cores[0].bytesRead, 260u);
    CHECK_EQ(record.cores[0].bytesWritten, 256u);
    CHECK_EQ(record.cores[0].elementsWritten, 64u);
    CHECK_EQ(record.cores[0].tilingBytes, 32u);
    CHECK_EQ(record.cores[0].copiesIn, 1u);
    CHECK_EQ(record.cores[0].copiesOut, 1u);
    CHECK_EQ(record.cores[0].repeats, 1u);
    CHECK_EQ(record.scalarGmAccesses, 1u);
    CHECK_EQ(record.ubHighWater, 512u);
    CHECK_EQ(record.ubBytes, 196352u);
    CHECK_EQ(record.copiesIn.bytes, 256u);
    CHECK_EQ(record.copiesOut.sizes.at(256), 1u);
    CHECK_EQ(record.vector.at("Maxs").elements, 64u);
    CHECK_EQ(std::string(vnpuReport()),
             "{\"launches\": [{\"opType\": \"Small\\\"Kernel\\\\\\u000a\", \"kernel\": \"\", \"tilingKey\": "
             "18446744073709551615, "
             "\"blockDim\": 1, \"tilingBytes\": 8, \"ubBytes\": 196352, \"ubHighWater\": 512, "
             "\"scalarGmAccesses\": 1, \"copiesIn\": {\"bytes\": 256, \"sizes\": [[256, 1]]}, "
             "\"copiesOut\": {\"bytes\": 256, \"sizes\": [[256, 1]]}, "
             "\"vector\": {\"Maxs\": {\"instructions\": 1, \"elements\": 64, \"repeats\": 1}}, "
             "\"cores\": [{\"core\": 0, \"elements\": 64, \"bytesRead\": 260, \"bytesWritten\": 256, "
             "\"tilingBytes\": 32, \"copiesIn\": 1, \"tiles\": 1, \"repeats\": 1}], \"violations\": []}]}");
    vnpuReset();
    CHECK_EQ(std::string(vnpuReport()), "{\"launches\": []}");
}

}  // namespace
