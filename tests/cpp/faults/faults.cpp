// For every rule of the engine a kernel, a launch or a tiling that breaks it, which must be rejected under
// exactly that rule, and its correct twin, which must pass.
#include <algorithm>
#include <string>

#include "../kernel_launch.h"
#include "small_kernel.h"

namespace {

using namespace small;
using AscendC::CMPMODE;
using AscendC::RoundMode;
using AscendC::SELMODE;

constexpr int kRejected = 507035;
constexpr int32_t kCount = kOutput;

using WrongKernel = std::function<void(const Io&, bool wrong)>;
using Change = std::function<void(vnpu::Launch&, bool wrong)>;

// Whether each kernel says that it is of vector cores only, or leaves it to the case.
enum class Typed { Yes, ByTheCase };

void Break(const std::string& rule, const WrongKernel& kernel, const Change& change = {},
           Typed typed = Typed::Yes) {
    for (const bool wrong : {true, false}) {
        vnpuReset();
        Memory memory;
        vnpu::Launch launch = memory.Launch();
        if (change) change(launch, wrong);
        const int status = Run(launch, [&](const Io& io) {
            if (typed == Typed::Yes) KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
            kernel(io, wrong);
        });
        const vnpu::LaunchRecord record = vnpu::LastLaunch();
        if (wrong) {
            CHECK_EQ(status, kRejected);
            CHECK_EQ(record.violations.size(), 1u);
            CHECK_EQ(record.violations[0].rule, rule);
            CHECK(!record.violations[0].call.empty() && !record.violations[0].detail.empty());
        } else {
            CHECK_EQ(status, 0);
        }
    }
}

std::string RuleOf(std::string test) {
    std::replace(test.begin(), test.end(), '_', '-');
    return test;
}

// The test of the rule of the same name; rule holds its id.
#define FAULT(name)                             \
    void name##_cases(const std::string& rule); \
    TEST(name) { name##_cases(RuleOf(#name)); } \
    void name##_cases(const std::string& rule)

void Correct(const Io& io) {
    Unit unit(io);
    unit.All();
}

// A launch of the real kernel with its own tiling.
vnpu::Launch RealLaunch(Memory& memory) {
    const vnpu::Launch launch = memory.Launch();
    const vnpu::GmRange& x = launch.arguments[0];
    return KernelLaunch(kDtypes[0], kOutput, {-1.0f, 1.0f},
                        {"self", x.device, x.host, kOutput * sizeof(float), false}, x, launch.arguments[1]);
}

void BreakReal(const std::string& rule, const Change& change) {
    for (const bool wrong : {true, false}) {
        Memory memory;
        vnpu::Launch launch = RealLaunch(memory);
        change(launch, wrong);
        CHECK_EQ(vnpu::RunKernel(launch), wrong ? kRejected : 0);
        if (wrong) CHECK_EQ(vnpu::LastLaunch().violations.at(0).rule, rule);
    }
}

// ---- The launch

FAULT(kernel_load) {
    Break(
        rule, [](const Io& io, bool) { Correct(io); },
        [](vnpu::Launch& launch, bool wrong) { launch.kernel = wrong ? "no/such/kernel.so" : ""; });
}

FAULT(kernel_type) {
    Break(
        rule,
        [](const Io& io, bool wrong) {
            KERNEL_TASK_TYPE_DEFAULT(wrong ? KERNEL_TYPE_MIX_AIC_1_2 : KERNEL_TYPE_AIV_ONLY);
            Correct(io);
        },
        {}, Typed::ByTheCase);
    Break(
        rule,
        [](const Io& io, bool wrong) {
            if (!wrong) KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
            Correct(io);
        },
        {}, Typed::ByTheCase);
}

FAULT(arguments) {
    BreakReal(rule, [](vnpu::Launch& launch, bool wrong) {
        if (wrong) launch.arguments.pop_back();
    });
}

FAULT(block_dim) {
    const auto kernel = [](const Io& io, bool) {
        if (AscendC::GetBlockIdx() == AscendC::GetBlockNum() - 1) Correct(io);
    };
    Break(rule, kernel, [](vnpu::Launch& launch, bool wrong) { launch.blockDim = wrong ? 49 : 48; });
    Break(rule, kernel, [](vnpu::Launch& launch, bool wrong) { launch.blockDim = wrong ? 0 : 1; });
}

FAULT(tiling_key) {
    BreakReal(rule, [](vnpu::Launch& launch, bool wrong) {
        if (wrong) launch.tilingKey = 2;
    });
    BreakReal(rule, [](vnpu::Launch& launch, bool wrong) {
        if (wrong) launch.tilingKey = GET_TPL_TILING_KEY(7);  // not declared: INVALID_TILING_KEY
    });
}

struct SmallTiling {
    uint32_t first;
    uint32_t second;
};

FAULT(tiling_size) {
    const auto kernel = [](const Io& io, bool) {
        GET_TILING_DATA_WITH_STRUCT(SmallTiling, tilingData, io.tiling);
        (void)tilingData;
        Correct(io);
    };
    Break(rule, kernel, [](vnpu::Launch& launch, bool wrong) { launch.tilingData.resize(wrong ? 12 : 8); });
    struct LargeTiling {
        uint8_t bytes[2048];
    };
    Break(
        rule,
        [](const Io& io, bool) {
            REGISTER_TILING_DEFAULT(LargeTiling);
            GET_TILING_DATA(tilingData, io.tiling);
            (void)tilingData;
            Correct(io);
        },
        [](vnpu::Launch& launch, bool wrong) { launch.tilingData.resize(wrong ? 2049 : 2048); });
}

FAULT(tiling_fetch) {
    Break(rule, [](const Io& io, bool wrong) {
        Unit unit(io);
        if (wrong) unit.Load();
        GET_TILING_DATA_WITH_STRUCT(SmallTiling, tilingData, io.tiling);
        (void)tilingData;
        if (!wrong) unit.Load();
        unit.Work();
        unit.Store();
    });
    Break(rule, [](const Io& io, bool wrong) {
        GET_TILING_DATA_WITH_STRUCT(SmallTiling, tilingData, wrong ? io.x : io.tiling);
        (void)tilingData;
        Correct(io);
    });
}

// ---- Buffers

FAULT(pipe_life) {
    Break(rule, [](const Io& io, bool wrong) {
        if (wrong) {
            TPipe pipe;
            Correct(io);
        } else {
            {
                TPipe pipe;
            }
            Correct(io);
        }
    });
    Break(rule, [](const Io& io, bool wrong) {
        TPipe pipe;
        TQue<TPosition::VECOUT, 1> out;
        if (!wrong) pipe.InitBuffer(out, 1, 256);
        LocalTensor<float> result = out.AllocTensor<float>();
        AscendC::Duplicate(result, 1.0f, kCount);
        out.EnQue(result);
        result = out.DeQue<float>();
        GlobalTensor<float> y;
        y.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(io.y));
        DataCopy(y, result, kOutput);
        out.FreeTensor(result);
    });
}

FAULT(buffer_init) {
    Break(rule, [](const Io& io, bool wrong) {
        Unit unit(io);
        TQue<TPosition::VECIN, 1> more;
        unit.pipe.InitBuffer(more, wrong ? 0 : 1, 32);
        unit.All();
    });
    Break(rule, [](const Io& io, bool wrong) {
        Unit unit(io);
        TBuf<TPosition::VECCALC> more;
        unit.pipe.InitBuffer(more, wrong ? 0 : 1);
        unit.All();
    });
}

FAULT(buffer_count) {
    Break(rule, [](const Io& io, bool wrong) {
        Unit unit(io);  // two buffers
        TBuf<TPosition::VECCALC> more;
        for (int i = 0; i < (wrong ? 63 : 62); ++i) unit.pipe.InitBuffer(more, 32);
        unit.All();
    });
}

FAULT(position_buffers) {
    Break(rule, [](const Io& io, bool wrong) {
        Unit unit(io);  // one buffer in VECIN
        TQue<TPosition::VECIN, 1> more;
        unit.pipe.InitBuffer(more, wrong ? 8 : 7, 32);
        unit.All();
    });
}

FAULT(ub_capacity) {
    for (const uint32_t bytes : {196352u, 65536u}) {
        vnpuSetPlatform("ascend910b1", 0, bytes);
        Break(rule, [bytes](const Io& io, bool wrong) {
            Unit unit(io);
            TBuf<TPosition::VECCALC> rest;
            unit.pipe.InitBuffer(rest, bytes - 512 + (wrong ? 1 : 0));
            unit.All();
        });
    }
    vnpuSetPlatform("ascend910b1", 0, 0);
}

FAULT(select_reserve) {
    Break(rule, [](const Io& io, bool wrong) {
        Unit unit(io);
        TBuf<TPosition::VECCALC> masks;
        TBuf<TPosition::VECCALC> rest;
        unit.pipe.InitBuffer(masks, 32);
        unit.pipe.InitBuffer(rest, 188416 - 512 - 32 + (wrong ? 1 : 0));
        unit.Load();
        LocalTensor<float> loaded = unit.in.DeQue<float>();
        LocalTensor<float> result = unit.out.AllocTensor<float>();
        LocalTensor<uint8_t> mask = masks.Get<uint8_t>();
        AscendC::Compares(mask, loaded, 3.0f, CMPMODE::GT, kOutput);
        PipeBarrier<PIPE_V>();
        AscendC::Select(result, mask, loaded, 0.0f, SELMODE::VSEL_TENSOR_SCALAR_MODE, kOutput);
        unit.out.EnQue(result);
        unit.in.FreeTensor(loaded);
        unit.Store();
    });
}

FAULT(buffer_get) {
    for (const uint32_t elements : {9u, 24u, 0u}) {  // not whole blocks, more than the buffer, nothing
        Break(rule, [elements](const Io& io, bool wrong) {
            Unit unit(io);
            TBuf<TPosition::VECCALC> more;
            unit.pipe.InitBuffer(more, 64);
            more.Get<float>(wrong ? elements : 16);
            unit.All();
        });
    }
    Break(rule, [](const Io& io, bool wrong) {
        Unit unit(io);
        TBuf<TPosition::VECCALC> more;
        unit.pipe.InitBuffer(more, 64);
        more.GetWithOffset<float>(8, wrong ? 64 : 32);
        unit.All();
    });
}

FAULT(position) {
    const auto copyInto = [](auto& buffer, const Io& io) {
        Unit unit(io);
        unit.pipe.InitBuffer(buffer, 256);
        DataCopy(buffer.template Get<float>(), unit.x, kOutput);
        unit.All();
    };
    Break(rule, [&](const Io& io, bool wrong) {
        TBuf<TPosition::VECCALC> calc;
        TBuf<TPosition::VECIN> in;
        wrong ? copyInto(calc, io) : copyInto(in, io);
    });
}

FAULT(ub_alignment) {
    Break(rule, [](const Io& io, bool wrong) {
        Unit unit(io);
        TBuf<TPosition::VECCALC> more;
        unit.pipe.InitBuffer(more, 128);
        LocalTensor<float> values = more.Get<float>();
        AscendC::Duplicate(values[wrong ? 4 : 8], 1.0f, 8);
        unit.All();
    });
}

FAULT(tensor_bounds) {
    const auto with = [&](const std::function<void(LocalTensor<float>&, bool)>& use) {
        Break(rule, [&](const Io& io, bool wrong) {
            Unit unit(io);
            TBuf<TPosition::VECCALC> more;
            TBuf<TPosition::VECCALC> behind;
            unit.pipe.InitBuffer(more, 128);
            unit.pipe.InitBuffer(behind, 128);
            LocalTensor<float> values = more.Get<float>();
            use(values, wrong);
            unit.All();
        });
    };
    with([](auto& values, bool wrong) { AscendC::Duplicate(values, 1.0f, wrong ? 33 : 32); });
    with([](auto& values, bool wrong) { AscendC::Duplicate(values[8], 1.0f, wrong ? 25 : 24); });
    with([](auto& values, bool wrong) { values[wrong ? 32 : 31]; });
    with([](auto& values, bool wrong) { values.SetValue(wrong ? 32 : 31, 1.0f); });
    with([](auto& values, bool wrong) {  // SetSize cannot make the buffer longer
        values.SetSize(wrong ? 40 : 16);
        AscendC::Duplicate(values, 1.0f, static_cast<int32_t>(values.GetSize()));
    });
}

// ---- Queues

FAULT(queue_alloc) {
    Break(rule, [](const Io& io, bool wrong) {
        Unit unit(io, wrong ? 1 : 2);
        LocalTensor<float> first = unit.in.AllocTensor<float>();
        LocalTensor<float> second = unit.in.AllocTensor<float>();
        unit.in.FreeTensor(first);
        unit.in.FreeTensor(second);
        unit.All();
    });
}

FAULT(queue_depth) {
    Break(rule, [](const Io& io, bool wrong) {
        Unit unit(io);
        TQue<TPosition::VECOUT, 1> shallow;
        unit.pipe.InitBuffer(shallow, 2, 32);
        LocalTensor<float> first = shallow.AllocTensor<float>();
        LocalTensor<float> second = shallow.AllocTensor<float>();
        shallow.EnQue(first);
        if (wrong) shallow.EnQue(second);
        first = shallow.DeQue<float>();
        shallow.EnQue(second);
        second = shallow.DeQue<float>();
        shallow.FreeTensor(first);
        shallow.FreeTensor(second);
        unit.All();
    });
}

FAULT(queue_empty) {
    Break(rule, [](const Io& io, bool wrong) {
        Unit unit(io);
        if (!wrong) unit.Load();
        unit.Work();
        unit.Store();
    });
}

FAULT(queue_state) {
    Break(rule, [](const Io& io, bool wrong) {
        Unit unit(io);
        LocalTensor<float> loaded = unit.in.AllocTensor<float>();
        DataCopy(loaded, unit.x, kOutput);
        unit.in.EnQue(loaded);
        if (wrong) unit.in.EnQue(loaded);
        unit.Work();
        unit.Store();
    });
    Break(rule, [](const Io& io, bool wrong) {
        Unit unit(io, 2);
        LocalTensor<float> loaded = unit.in.AllocTensor<float>();
        if (wrong) unit.out.EnQue(loaded);
        unit.in.FreeTensor(loaded);
        unit.All();
    });
}

FAULT(queue_free) {
    Break(rule, [](const Io& io, bool wrong) {
        Unit unit(io);
        LocalTensor<float> loaded = unit.in.AllocTensor<float>();
        unit.in.FreeTensor(loaded);
        if (wrong) unit.in.FreeTensor(loaded);
        unit.All();
    });
    Break(rule, [](const Io& io, bool wrong) {
        Unit unit(io);
        LocalTensor<float> loaded = unit.in.AllocTensor<float>();
        wrong ? unit.out.FreeTensor(loaded) : unit.in.FreeTensor(loaded);
        unit.All();
    });
    Break(rule, [](const Io& io, bool wrong) {
        Unit unit(io);
        unit.Load();
        unit.Work();
        LocalTensor<float> result = unit.out.DeQue<float>();
        DataCopy(unit.y, result, kOutput);
        if (wrong) unit.out.EnQue(result);
        unit.out.FreeTensor(result);
    });
}

FAULT(queue_access) {
    Break(rule, [](const Io& io, bool wrong) {  // read by V before DeQue
        Unit unit(io);
        LocalTensor<float> loaded = unit.in.AllocTensor<float>();
        DataCopy(loaded, unit.x, kOutput);
        if (!wrong) {
            unit.in.EnQue(loaded);
            loaded = unit.in.DeQue<float>();
        }
        LocalTensor<float> result = unit.out.AllocTensor<float>();
        AscendC::Maxs(result, loaded, 0.0f, kCount);
        unit.out.EnQue(result);
        unit.in.FreeTensor(loaded);
        unit.Store();
    });
    Break(rule, [](const Io& io, bool wrong) {  // used after FreeTensor
        Unit unit(io);
        unit.Load();
        LocalTensor<float> loaded = unit.in.DeQue<float>();
        LocalTensor<float> result = unit.out.AllocTensor<float>();
        if (wrong) unit.in.FreeTensor(loaded);
        AscendC::Maxs(result, loaded, 0.0f, kCount);
        if (!wrong) unit.in.FreeTensor(loaded);
        unit.out.EnQue(result);
        unit.Store();
    });
    Break(rule, [](const Io& io, bool wrong) {  // an old tensor of a buffer that was allocated again
        Unit unit(io);
        unit.Load();
        LocalTensor<float> old = unit.in.DeQue<float>();
        LocalTensor<float> freed = old;
        unit.in.FreeTensor(freed);
        unit.Load();
        LocalTensor<float> loaded = unit.in.DeQue<float>();
        LocalTensor<float> result = unit.out.AllocTensor<float>();
        AscendC::Maxs(result, wrong ? old : loaded, 0.0f, kCount);
        unit.in.FreeTensor(loaded);
        unit.out.EnQue(result);
        unit.Store();
    });
    Break(rule, [](const Io& io, bool wrong) {  // written after EnQue
        Unit unit(io);
        LocalTensor<float> result = unit.out.AllocTensor<float>();
        if (!wrong) AscendC::Duplicate(result, 1.0f, kCount);
        unit.out.EnQue(result);
        if (wrong) AscendC::Duplicate(result, 1.0f, kCount);
        unit.Store();
    });
    Break(rule, [](const Io& io, bool wrong) {  // copied out before EnQue and DeQue
        Unit unit(io);
        LocalTensor<float> result = unit.out.AllocTensor<float>();
        AscendC::Duplicate(result, 1.0f, kCount);
        if (!wrong) {
            unit.out.EnQue(result);
            result = unit.out.DeQue<float>();
        }
        DataCopy(unit.y, result, kOutput);
        unit.out.FreeTensor(result);
    });
    Break(rule, [](const Io& io, bool wrong) {  // a pass-through queue, touched by V
        TPipe pipe;
        AscendC::TQueBind<TPosition::VECIN, TPosition::VECOUT, 1> through;
        pipe.InitBuffer(through, 1, 256);
        GlobalTensor<float> x;
        GlobalTensor<float> y;
        x.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(io.x));
        y.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(io.y));
        LocalTensor<float> passing = through.AllocTensor<float>();
        DataCopy(passing, x, kOutput);
        through.EnQue(passing);
        passing = through.DeQue<float>();
        if (wrong) AscendC::Maxs(passing, passing, 0.0f, kCount);
        DataCopy(y, passing, kOutput);
        through.FreeTensor(passing);
    });
}

FAULT(queue_leak) {
    Break(rule, [](const Io& io, bool wrong) {
        Unit unit(io, 2);
        unit.All();
        LocalTensor<float> loaded = unit.in.AllocTensor<float>();
        if (!wrong) unit.in.FreeTensor(loaded);
    });
}

// ---- Events and flags

FAULT(event_ids) {
    Break(rule, [](const Io& io, bool wrong) {
        Unit unit(io);
        for (int i = 0; i < (wrong ? 9 : 8); ++i) unit.pipe.AllocEventID<HardEvent::S_V>();
        unit.All();
    });
}

FAULT(flag_range) {
    for (const int32_t id : {8, -1}) {
        Break(rule, [id](const Io& io, bool wrong) {
            AscendC::SetFlag<HardEvent::MTE3_MTE2>(wrong ? id : 5);
            AscendC::WaitFlag<HardEvent::MTE3_MTE2>(wrong ? id : 5);
            Correct(io);
        });
    }
}

FAULT(flag_double) {
    Break(rule, [](const Io& io, bool wrong) {
        AscendC::SetFlag<HardEvent::S_V>(0);
        AscendC::SetFlag<HardEvent::S_V>(wrong ? 0 : 1);
        AscendC::WaitFlag<HardEvent::S_V>(0);
        AscendC::WaitFlag<HardEvent::S_V>(1);
        Correct(io);
    });
}

FAULT(flag_wait) {
    Break(rule, [](const Io& io, bool wrong) {
        if (!wrong) AscendC::SetFlag<HardEvent::V_MTE2>(3);
        AscendC::WaitFlag<HardEvent::V_MTE2>(3);
        Correct(io);
    });
}

FAULT(flag_leak) {
    Break(rule, [](const Io& io, bool wrong) {
        AscendC::SetFlag<HardEvent::MTE2_S>(2);
        if (!wrong) AscendC::WaitFlag<HardEvent::MTE2_S>(2);
        Correct(io);
    });
}

// ---- Order of the pipes

// Buffers outside any queue, which the kernel has to synchronise itself.
struct Loose {
    explicit Loose(const Io& io) : unit(io) {
        unit.pipe.InitBuffer(first, 256);
        unit.pipe.InitBuffer(second, 256);
        a = first.Get<float>();
        b = second.Get<float>();
    }
    Unit unit;
    TBuf<TPosition::VECIN> first;
    TBuf<TPosition::VECCALC> second;
    LocalTensor<float> a;
    LocalTensor<float> b;
};

template <HardEvent event>
void Sync() {
    AscendC::SetFlag<event>(4);
    AscendC::WaitFlag<event>(4);
}

FAULT(sync_raw) {
    Break(rule, [](const Io& io, bool wrong) {  // V after V
        Loose loose(io);
        AscendC::Duplicate(loose.a, 1.0f, kCount);
        if (!wrong) PipeBarrier<PIPE_V>();
        AscendC::Maxs(loose.b, loose.a, 0.0f, kCount);
        loose.unit.All();
    });
    Break(rule, [](const Io& io, bool wrong) {  // V after the copy in
        Loose loose(io);
        DataCopy(loose.a, loose.unit.x, kOutput);
        wrong ? PipeBarrier<PIPE_V>() : Sync<HardEvent::MTE2_V>();
        AscendC::Maxs(loose.b, loose.a, 0.0f, kCount);
        loose.unit.All();
    });
    Break(rule, [](const Io& io, bool wrong) {  // the copy out after V
        Loose loose(io);
        AscendC::Duplicate(loose.a, 1.0f, kCount);
        wrong ? Sync<HardEvent::V_MTE2>() : Sync<HardEvent::V_MTE3>();
        DataCopy(loose.unit.y, loose.a, kOutput);
    });
    Break(rule, [](const Io& io, bool wrong) {  // the scalar unit after V
        Loose loose(io);
        AscendC::Duplicate(loose.a, 1.0f, kCount);
        if (!wrong) Sync<HardEvent::V_S>();
        loose.a.GetValue(0);
        loose.unit.All();
    });
    Break(rule, [](const Io& io, bool wrong) {  // V after the scalar unit
        Loose loose(io);
        for (uint32_t i = 0; i < kOutput; ++i) loose.a.SetValue(i, 1.0f);
        if (!wrong) Sync<HardEvent::S_V>();
        AscendC::Maxs(loose.b, loose.a, 0.0f, kCount);
        loose.unit.All();
    });
    Break(rule, [](const Io& io, bool wrong) {  // the copy out after the copy in, by way of V
        Loose loose(io);
        DataCopy(loose.a, loose.unit.x, kOutput);
        Sync<HardEvent::MTE2_V>();
        if (!wrong) Sync<HardEvent::V_MTE3>();
        DataCopy(loose.unit.y, loose.a, kOutput);
    });
}

FAULT(sync_war) {
    Break(rule, [](const Io& io, bool wrong) {  // copied over while V still reads
        Loose loose(io);
        DataCopy(loose.a, loose.unit.x, kOutput);
        Sync<HardEvent::MTE2_V>();
        AscendC::Maxs(loose.b, loose.a, 0.0f, kCount);
        if (!wrong) Sync<HardEvent::V_MTE2>();
        DataCopy(loose.a, loose.unit.x, kOutput);
        loose.unit.All();
    });
    Break(rule, [](const Io& io, bool wrong) {  // V over what V still reads
        Loose loose(io);
        AscendC::Duplicate(loose.a, 1.0f, kCount);
        PipeBarrier<PIPE_V>();
        AscendC::Maxs(loose.b, loose.a, 0.0f, kCount);
        if (!wrong) PipeBarrier<PIPE_ALL>();
        AscendC::Duplicate(loose.a, 2.0f, kCount);
        loose.unit.All();
    });
    Break(rule, [](const Io& io, bool wrong) {  // V over what is still copied out
        Loose loose(io);
        AscendC::Duplicate(loose.a, 1.0f, kCount);
        PipeBarrier<PIPE_V>();
        Sync<HardEvent::V_MTE3>();
        DataCopy(loose.unit.y, loose.a, kOutput);
        if (!wrong) Sync<HardEvent::MTE3_V>();
        AscendC::Duplicate(loose.a, 2.0f, kCount);
    });
}

FAULT(sync_waw) {
    Break(rule, [](const Io& io, bool wrong) {  // two copies into one place
        Loose loose(io);
        DataCopy(loose.a, loose.unit.x, kOutput);
        if (!wrong) PipeBarrier<PIPE_MTE2>();
        DataCopy(loose.a, loose.unit.x[64], kOutput);
        loose.unit.All();
    });
    Break(rule, [](const Io& io, bool wrong) {  // a copy over what V writes
        Loose loose(io);
        AscendC::Duplicate(loose.a, 1.0f, kCount);
        if (!wrong) Sync<HardEvent::V_MTE2>();
        DataCopy(loose.a, loose.unit.x, kOutput);
        loose.unit.All();
    });
}

// ---- What was never written

FAULT(ub_uninitialised) {
    Break(rule, [](const Io& io, bool wrong) {  // copied out
        Unit unit(io);
        LocalTensor<float> result = unit.out.AllocTensor<float>();
        AscendC::Duplicate(result, 1.0f, wrong ? 63 : 64);
        unit.out.EnQue(result);
        unit.Store();
    });
    Break(rule, [](const Io& io, bool wrong) {  // read by the scalar unit
        Loose loose(io);
        if (!wrong) loose.a.SetValue(9, 1.0f);
        loose.a.GetValue(9);
        loose.unit.All();
    });
    Break(rule, [](const Io& io, bool wrong) {  // what FreeTensor took back
        Unit unit(io);
        unit.All();
        LocalTensor<float> loaded = unit.in.AllocTensor<float>();
        if (!wrong) DataCopy(loaded, unit.x, kOutput);
        unit.in.EnQue(loaded);
        loaded = unit.in.DeQue<float>();
        PipeBarrier<PIPE_ALL>();
        loaded.GetValue(0);
        unit.in.FreeTensor(loaded);
    });
    // Lanes behind the data may be compared; their bits must not choose. Through Cast, Compares, Or, Not and
    // Select.
    const auto masked = [](const Io& io, uint32_t selected) {
        TPipe pipe;
        TBuf<TPosition::VECIN> halves;
        TBuf<TPosition::VECCALC> floats;
        TBuf<TPosition::VECCALC> masks;
        TBuf<TPosition::VECOUT> results;
        pipe.InitBuffer(halves, 128);
        pipe.InitBuffer(floats, 256);
        pipe.InitBuffer(masks, 64);
        pipe.InitBuffer(results, 256);
        GlobalTensor<half> x;
        GlobalTensor<float> y;
        x.SetGlobalBuffer(reinterpret_cast<__gm__ half*>(io.x));
        y.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(io.y));
        LocalTensor<half> narrow = halves.Get<half>();
        LocalTensor<float> wide = floats.Get<float>();
        LocalTensor<uint8_t> above = masks.GetWithOffset<uint8_t>(32, 0);
        LocalTensor<uint8_t> below = masks.GetWithOffset<uint8_t>(32, 32);
        LocalTensor<float> result = results.Get<float>();
        DataCopyPad(narrow, x, DataCopyExtParams(1, 48 * sizeof(half), 0, 0, 0),
                    DataCopyPadExtParams<half>());
        AscendC::Duplicate(result, 5.0f, kCount);
        Sync<HardEvent::MTE2_V>();
        AscendC::Cast(wide, narrow, RoundMode::CAST_NONE, kOutput);
        PipeBarrier<PIPE_V>();
        AscendC::Compares(above, wide, 1.0f, CMPMODE::GT, kOutput);
        AscendC::Compares(below, wide, -1.0f, CMPMODE::LT, kOutput);
        PipeBarrier<PIPE_V>();
        LocalTensor<uint16_t> mask = above.ReinterpretCast<uint16_t>();
        AscendC::Or(mask, mask, below.ReinterpretCast<uint16_t>(), 4);
        PipeBarrier<PIPE_V>();
        AscendC::Not(mask, mask, 4);
        PipeBarrier<PIPE_V>();
        AscendC::Select(result, mask, result, 0.0f, SELMODE::VSEL_TENSOR_SCALAR_MODE, selected);
        Sync<HardEvent::V_MTE3>();
        DataCopy(y, result, kOutput);
    };
    Break(rule, [&](const Io& io, bool wrong) { masked(io, wrong ? 49 : 48); });
    Break(rule, [&](const Io& io, bool wrong) { masked(io, wrong ? 64 : 41); });
}

// ---- Copies

FAULT(copy_wrap) {
    Break(rule, [](const Io& io, bool wrong) {
        Unit unit(io);
        LocalTensor<float> loaded = unit.in.AllocTensor<float>();
        DataCopyParams params;
        params.blockLen = wrong ? 65536 + 256 : 256;
        DataCopyPad(loaded, unit.x, params, AscendC::DataCopyPadParams());
        unit.in.EnQue(loaded);
        unit.Work();
        unit.Store();
    });
}

FAULT(copy_granularity) {
    Break(rule, [](const Io& io, bool wrong) {
        Unit unit(io);
        LocalTensor<float> loaded = unit.in.AllocTensor<float>();
        DataCopy(loaded, unit.x, wrong ? 63 : 64);
        unit.in.EnQue(loaded);
        unit.Work();
        unit.Store();
    });
}

FAULT(copy_params) {
    const auto with = [&](const DataCopyExtParams& params, const DataCopyPadExtParams<float>& pad) {
        Break(rule, [&](const Io& io, bool wrong) {
            Unit unit(io);
            TBuf<TPosition::VECIN> place;
            unit.pipe.InitBuffer(place, 131072);
            const DataCopyExtParams good(2, 40, 4, 1, 0);
            const DataCopyPadExtParams<float> goodPad(true, 8, 8, 1.0f);
            DataCopyPad(place.Get<float>(), unit.x, wrong ? params : good, wrong ? pad : goodPad);
            unit.All();
        });
    };
    const DataCopyPadExtParams<float> none;
    with(DataCopyExtParams(4096, 4, 0, 0, 0), none);
    with(DataCopyExtParams(1, 2097152, 0, 0, 0), none);
    with(DataCopyExtParams(1, 46, 0, 0, 0), none);
    with(DataCopyExtParams(1, 4, 0, 0, 0), DataCopyPadExtParams<float>(true, 9, 0, 1.0f));
    with(DataCopyExtParams(1, 4, 0, 0, 0), DataCopyPadExtParams<float>(true, 0, 9, 1.0f));
    Break(rule, [](const Io& io, bool wrong) {
        Unit unit(io);
        TBuf<TPosition::VECIN> place;
        unit.pipe.InitBuffer(place, 256);
        GlobalTensor<int64_t> x;
        x.SetGlobalBuffer(reinterpret_cast<__gm__ int64_t*>(io.x));
        DataCopyPad(place.Get<int64_t>(), x, DataCopyExtParams(1, 24, 0, 0, 0),
                    DataCopyPadExtParams<int64_t>(true, 0, 1, wrong ? 1 : 0));
        unit.All();
    });
}

FAULT(gm_alignment) {
    Break(rule, [](const Io& io, bool wrong) {
        Unit unit(io);
        TBuf<TPosition::VECIN> place;
        unit.pipe.InitBuffer(place, 256);
        GlobalTensor<float> x;
        x.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(io.x + 2));
        if (wrong) {
            DataCopy(place.Get<float>(), x, 8);
        } else {
            DataCopyPad(place.Get<float>(), x, DataCopyExtParams(1, 32, 0, 0, 0),
                        DataCopyPadExtParams<float>());
        }
        unit.All();
    });
}

// ---- Global memory

FAULT(gm_bounds) {
    Break(rule, [](const Io& io, bool wrong) {  // one element behind the end
        Unit unit(io);
        unit.Load(wrong ? kInput - kOutput + 1 : kInput - kOutput);
        unit.Work();
        unit.Store();
    });
    Break(rule, [](const Io& io, bool wrong) {  // one byte before the start
        Unit unit(io);
        TBuf<TPosition::VECIN> place;
        unit.pipe.InitBuffer(place, 32);
        GlobalTensor<uint8_t> x;
        x.SetGlobalBuffer(wrong ? io.x - 1 : io.x);
        DataCopyPad(place.Get<uint8_t>(), x, DataCopyExtParams(1, 2, 0, 0, 0),
                    DataCopyPadExtParams<uint8_t>());
        unit.All();
    });
    Break(
        rule,
        [](const Io& io, bool wrong) {  // whole blocks over an output that ends inside one
            Unit unit(io);
            unit.Load();
            unit.Work();
            LocalTensor<float> result = unit.out.DeQue<float>();
            GlobalTensor<float> y;
            y.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(io.y));
            if (wrong) {
                DataCopy(y, result, kOutput);
            } else {
                DataCopyPad(y, result, DataCopyExtParams(1, 61 * sizeof(float), 0, 0, 0));
            }
            unit.out.FreeTensor(result);
        },
        [](vnpu::Launch& launch, bool) { launch.arguments[1].bytes = 61 * sizeof(float); });
    Break(rule, [](const Io& io, bool wrong) {  // by the scalar unit
        GlobalTensor<float> x;
        x.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(io.x));
        x.GetValue(wrong ? kInput : kInput - 1);
        Correct(io);
    });
}

FAULT(gm_tensor_bounds) {
    Break(rule, [](const Io& io, bool wrong) {
        Unit unit(io);
        unit.x.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(io.x), wrong ? 127 : 128);
        unit.Load(64);
        unit.Work();
        unit.Store();
    });
}

FAULT(gm_read_only) {
    Break(rule, [](const Io& io, bool wrong) {
        Unit unit(io);
        if (wrong) unit.y.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(io.x));
        unit.All();
    });
}

FAULT(gm_written_twice) {
    Break(
        rule,  // by two cores
        [](const Io& io, bool wrong) {
            if (wrong || AscendC::GetBlockIdx() == 1) Correct(io);
        },
        [](vnpu::Launch& launch, bool) { launch.blockDim = 2; });
    Break(rule, [](const Io& io, bool wrong) {  // one byte, by one core
        Unit unit(io);
        unit.Load();
        unit.Work();
        LocalTensor<float> result = unit.out.DeQue<float>();
        GlobalTensor<uint8_t> y;
        y.SetGlobalBuffer(io.y);
        const uint32_t first = 100;
        DataCopyPad(y, result.ReinterpretCast<uint8_t>(), DataCopyExtParams(1, first, 0, 0, 0));
        DataCopyPad(y[wrong ? first - 1 : first], result.ReinterpretCast<uint8_t>(),
                    DataCopyExtParams(1, 256 - first, 0, 0, 0));
        unit.out.FreeTensor(result);
    });
}

FAULT(gm_unwritten) {
    Break(rule, [](const Io& io, bool wrong) {
        Unit unit(io);
        unit.Load();
        unit.Work();
        LocalTensor<float> result = unit.out.DeQue<float>();
        const uint32_t bytes = wrong ? 252 : 256;
        DataCopyPad(unit.y, result, DataCopyExtParams(1, bytes, 0, 0, 0));
        unit.out.FreeTensor(result);
    });
    Break(rule, [](const Io& io, bool wrong) {  // a hole
        GlobalTensor<float> y;
        y.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(io.y));
        for (uint32_t i = kOutput; i > 0; --i) {
            if (!wrong || i != 17) y.SetValue(i - 1, 1.0f);
        }
    });
}

FAULT(gm_read_unwritten) {
    Break(rule, [](const Io& io, bool wrong) {
        if (!wrong) Correct(io);
        GlobalTensor<float> y;
        y.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(io.y));
        PipeBarrier<PIPE_ALL>();
        y.GetValue(5);
        if (wrong) Correct(io);
    });
}

// The output lies on the input, two cores; the second must not read what the first has replaced.
FAULT(gm_read_written) {
    Break(
        rule,
        [](const Io& io, bool wrong) {
            if (AscendC::GetBlockIdx() == 0) {
                Correct(io);
            } else {
                Unit unit(io);
                unit.Load(wrong ? 32 : 64);
                LocalTensor<float> loaded = unit.in.DeQue<float>();
                unit.in.FreeTensor(loaded);
            }
        },
        [](vnpu::Launch& launch, bool) {
            launch.blockDim = 2;
            launch.arguments[1].device = launch.arguments[0].device;
            launch.arguments[1].host = launch.arguments[0].host;
        });
}

FAULT(gm_sync) {
    Break(rule, [](const Io& io, bool wrong) {
        Unit unit(io);
        unit.All();
        if (!wrong) Sync<HardEvent::MTE3_MTE2>();
        LocalTensor<float> loaded = unit.in.AllocTensor<float>();
        DataCopy(loaded, unit.y, kOutput);
        unit.in.EnQue(loaded);
        loaded = unit.in.DeQue<float>();
        unit.in.FreeTensor(loaded);
    });
}

// ---- Vector instructions

FAULT(compare_granularity) {
    Break(rule, [](const Io& io, bool wrong) {
        Loose loose(io);
        AscendC::Duplicate(loose.a, 1.0f, kCount);
        PipeBarrier<PIPE_V>();
        AscendC::CompareScalar(loose.b.ReinterpretCast<uint8_t>(), loose.a, 0.0f, CMPMODE::GE,
                               wrong ? 63 : 64);
        loose.unit.All();
    });
    Break(rule, [](const Io& io, bool wrong) {  // 64 halves are 128 bytes
        Loose loose(io);
        LocalTensor<half> halves = loose.a.ReinterpretCast<half>();
        AscendC::Duplicate(halves, half(1.0f), 128);
        PipeBarrier<PIPE_V>();
        AscendC::Compare(loose.b.ReinterpretCast<uint8_t>(), halves, halves, CMPMODE::EQ, wrong ? 64 : 128);
        loose.unit.All();
    });
}

FAULT(instruction_dtype) {
    const auto with = [&](const std::function<void(Loose&, bool)>& use) {
        Break(rule, [&](const Io& io, bool wrong) {
            Loose loose(io);
            AscendC::Duplicate(loose.a, 1.0f, kCount);
            AscendC::Duplicate(loose.b, 1.0f, kCount);
            PipeBarrier<PIPE_V>();
            use(loose, wrong);
            loose.unit.All();
        });
    };
    with([](Loose& loose, bool wrong) {
        if (wrong) {
            const auto words = loose.a.ReinterpretCast<uint32_t>();
            AscendC::And(words, words, words, 8);
        } else {
            const auto words = loose.a.ReinterpretCast<uint16_t>();
            AscendC::And(words, words, words, 8);
        }
    });
    with([](Loose& loose, bool wrong) {
        if (wrong) {
            AscendC::Compares(loose.b.ReinterpretCast<uint16_t>(), loose.a, 0.0f, CMPMODE::GT, kOutput);
        } else {
            AscendC::Compares(loose.b.ReinterpretCast<uint8_t>(), loose.a, 0.0f, CMPMODE::GT, kOutput);
        }
    });
    with([](Loose& loose, bool wrong) {
        AscendC::Compares(loose.b.ReinterpretCast<uint8_t>(), loose.a.ReinterpretCast<int32_t>(), 0,
                          wrong ? CMPMODE::GT : CMPMODE::EQ, kOutput);
    });
    with([](Loose& loose, bool wrong) {
        if (wrong) {
            AscendC::Select(loose.a, loose.b.ReinterpretCast<int8_t>(), loose.a, 0.0f,
                            SELMODE::VSEL_TENSOR_SCALAR_MODE, kOutput);
        } else {
            AscendC::Select(loose.a, loose.b.ReinterpretCast<uint64_t>(), loose.a, 0.0f,
                            SELMODE::VSEL_TENSOR_SCALAR_MODE, kOutput);
        }
    });
}

FAULT(cast_mode) {
    Break(rule, [](const Io& io, bool wrong) {
        Loose loose(io);
        LocalTensor<half> halves = loose.b.ReinterpretCast<half>();
        AscendC::Duplicate(halves, half(1.0f), kCount);
        PipeBarrier<PIPE_V>();
        AscendC::Cast(loose.a, halves, wrong ? RoundMode::CAST_RINT : RoundMode::CAST_NONE, kOutput);
        loose.unit.All();
    });
    Break(rule, [](const Io& io, bool wrong) {
        Loose loose(io);
        AscendC::Duplicate(loose.a, 1.0f, kCount);
        PipeBarrier<PIPE_V>();
        AscendC::Cast(loose.b.ReinterpretCast<bfloat16_t>(), loose.a,
                      wrong ? RoundMode::CAST_NONE : RoundMode::CAST_RINT, kOutput);
        loose.unit.All();
    });
}

FAULT(select_mode) {
    Break(rule, [](const Io& io, bool wrong) {
        Loose loose(io);
        AscendC::Duplicate(loose.a, 1.0f, kCount);
        AscendC::Duplicate(loose.b, 1.0f, kCount);
        PipeBarrier<PIPE_V>();
        AscendC::Select(loose.a, loose.b.ReinterpretCast<uint8_t>(), loose.a, loose.a,
                        wrong ? SELMODE::VSEL_TENSOR_SCALAR_MODE : SELMODE::VSEL_TENSOR_TENSOR_MODE, kOutput);
        loose.unit.All();
    });
    Break(rule, [](const Io& io, bool wrong) {
        Loose loose(io);
        AscendC::Duplicate(loose.a, 1.0f, kCount);
        AscendC::Duplicate(loose.b, 1.0f, kCount);
        PipeBarrier<PIPE_V>();
        AscendC::Select(loose.a, loose.b.ReinterpretCast<uint8_t>(), loose.a, 0.0f,
                        wrong ? SELMODE::VSEL_CMPMASK_SPR : SELMODE::VSEL_TENSOR_SCALAR_MODE, kOutput);
        loose.unit.All();
    });
}

FAULT(operand_overlap) {
    Break(rule, [](const Io& io, bool wrong) {  // shifted by a block
        Loose loose(io);
        AscendC::Duplicate(loose.a, 1.0f, kCount);
        PipeBarrier<PIPE_V>();
        AscendC::Maxs(loose.a, wrong ? loose.a[8] : loose.a, 0.0f, 32);
        loose.unit.All();
    });
    Break(rule, [](const Io& io, bool wrong) {  // widening in place
        Loose loose(io);
        LocalTensor<half> halves = (wrong ? loose.a : loose.b).ReinterpretCast<half>();
        AscendC::Duplicate(halves, half(1.0f), kCount);
        PipeBarrier<PIPE_V>();
        AscendC::Cast(loose.a, halves, RoundMode::CAST_NONE, kOutput);
        loose.unit.All();
    });
    Break(rule, [](const Io& io, bool wrong) {  // the mask over the compared values
        Loose loose(io);
        AscendC::Duplicate(loose.a, 1.0f, kCount);
        PipeBarrier<PIPE_V>();
        AscendC::Compares((wrong ? loose.a : loose.b).ReinterpretCast<uint8_t>(), loose.a, 0.0f, CMPMODE::GT,
                          kOutput);
        loose.unit.All();
    });
}

FAULT(element_count) {
    Break(rule, [](const Io& io, bool wrong) {
        Loose loose(io);
        AscendC::Duplicate(loose.a, 1.0f, wrong ? -1 : 0);
        loose.unit.All();
    });
    Break(rule, [](const Io& io, bool wrong) {
        Loose loose(io);
        AscendC::Duplicate(loose.a, 1.0f, kCount);
        AscendC::Duplicate(loose.b, 1.0f, kCount);
        PipeBarrier<PIPE_V>();
        AscendC::Select(loose.a, loose.b.ReinterpretCast<uint8_t>(), loose.a, 0.0f,
                        SELMODE::VSEL_TENSOR_SCALAR_MODE, wrong ? 0 : 1);
        loose.unit.All();
    });
}

TEST(every_rule_is_broken) {
    std::vector<std::string> broken;
    for (const auto& [name, test] : check::Tests()) broken.push_back(RuleOf(name));
    for (const std::string& rule : vnpu::Rules()) {
        if (std::find(broken.begin(), broken.end(), rule) == broken.end()) {
            std::fprintf(stderr, "rule %s has no kernel that breaks it\n", rule.c_str());
        }
        CHECK(std::find(broken.begin(), broken.end(), rule) != broken.end());
    }
    CHECK_EQ(broken.size(), vnpu::Rules().size() + 1);
}

}  // namespace
