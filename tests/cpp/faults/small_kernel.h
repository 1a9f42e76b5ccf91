// Launches of small kernels that live in the test program itself: the program is the kernel library of its
// launches.
#ifndef SMALL_KERNEL_H
#define SMALL_KERNEL_H

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <functional>
#include <vector>

#include "../check.h"
#include "engine.h"
#include "kernel_operator.h"
#include "virtual_npu.h"
#include "vnpu.h"

namespace small {

using AscendC::DataCopy;
using AscendC::DataCopyExtParams;
using AscendC::DataCopyPad;
using AscendC::DataCopyPadExtParams;
using AscendC::DataCopyParams;
using AscendC::GlobalTensor;
using AscendC::HardEvent;
using AscendC::LocalTensor;
using AscendC::PipeBarrier;
using AscendC::TBuf;
using AscendC::TPipe;
using AscendC::TPosition;
using AscendC::TQue;

constexpr uint32_t kInput = 1024;  // floats of x, x[i] = i
constexpr uint32_t kOutput = 64;   // floats of y

struct Io {
    GM_ADDR x;
    GM_ADDR y;
    GM_ADDR tiling;
};

using Kernel = std::function<void(const Io&)>;

inline Kernel& Loaded() {
    static Kernel kernel;
    return kernel;
}

// The memory of x and y, and the inaccessible addresses under which the kernel knows it.
struct Memory {
    Memory() : x(kInput), y(kOutput) {
        for (uint32_t i = 0; i < kInput; ++i) x[i] = static_cast<float>(i);
        void* reserved = mmap(nullptr, 16384, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (reserved == MAP_FAILED) std::abort();
        device = static_cast<uint8_t*>(reserved);
    }
    ~Memory() { munmap(device, 16384); }
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;

    vnpu::Launch Launch() {
        vnpu::Launch launch;
        launch.opType = "SmallKernel";
        launch.tilingKey = 0;
        launch.blockDim = 1;
        launch.tilingData.assign(8, 1);
        launch.arguments = {
            {"x", device, reinterpret_cast<uint8_t*>(x.data()), kInput * sizeof(float), false},
            {"y", device + 8192, reinterpret_cast<uint8_t*>(y.data()), kOutput * sizeof(float), true}};
        return launch;
    }

    std::vector<float> x;
    std::vector<float> y;
    uint8_t* device;
};

inline int Run(const vnpu::Launch& launch, const Kernel& kernel) {
    Loaded() = kernel;
    return vnpu::RunKernel(launch);
}

// The ordinary way of 64 floats: copied in, passed through Maxs, copied out.
class Unit {
public:
    explicit Unit(const Io& io, uint8_t buffers = 1) {
        x.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(io.x));
        y.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(io.y), kOutput);
        pipe.InitBuffer(in, buffers, kOutput * sizeof(float));
        pipe.InitBuffer(out, buffers, kOutput * sizeof(float));
    }
    void Load(uint32_t from = 0) {
        LocalTensor<float> loaded = in.AllocTensor<float>();
        DataCopy(loaded, x[from], kOutput);
        in.EnQue(loaded);
    }
    void Work() {
        LocalTensor<float> loaded = in.DeQue<float>();
        LocalTensor<float> result = out.AllocTensor<float>();
        AscendC::Maxs(result, loaded, -1.0f, static_cast<int32_t>(kOutput));
        out.EnQue(result);
        in.FreeTensor(loaded);
    }
    void Store() {
        LocalTensor<float> result = out.DeQue<float>();
        DataCopy(y, result, kOutput);
        out.FreeTensor(result);
    }
    void All() {
        Load();
        Work();
        Store();
    }

    TPipe pipe;
    TQue<TPosition::VECIN, 2> in;
    TQue<TPosition::VECOUT, 2> out;
    GlobalTensor<float> x;
    GlobalTensor<float> y;
};

}  // namespace small

extern "C" void vnpuKernelEntry(uint64_t, uint8_t** arguments, uint8_t* tiling) {
    small::Loaded()({arguments[0], arguments[1], tiling});
}

#endif
