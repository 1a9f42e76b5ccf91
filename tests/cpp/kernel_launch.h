// Launches of the real kernel with the operator's own tiling, past the aclnn layer.
#ifndef KERNEL_LAUNCH_H
#define KERNEL_LAUNCH_H

#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>

#include "../../custom_op/op_host/hardtanh_grad_tiling.h"
#include "../../custom_op/op_kernel/hardtanh_grad_tiling_key.h"
#include "vnpu.h"

struct Dtype {
    const char* name;
    int64_t size;
};
constexpr Dtype kDtypes[] = {{"float32", 4}, {"float16", 2}, {"bfloat16", 2}};

struct Bounds {
    float min;
    float max;
};

// ASCEND_CUSTOM_OPP_PATH names the vendor package.
inline std::string KernelPath(const Dtype& dtype) {
    const char* package = std::getenv("ASCEND_CUSTOM_OPP_PATH");
    return std::string(package == nullptr ? "." : package) +
           "/op_impl/ai_core/tbe/kernel/ascend910b/hardtanh_grad/HardtanhGrad_" + dtype.name + ".so";
}

// elements may differ from what the ranges hold: that launch is a wrong one.
inline vnpu::Launch KernelLaunch(const Dtype& dtype, int64_t elements, const Bounds& bounds,
                                 const vnpu::GmRange& self, const vnpu::GmRange& grad,
                                 const vnpu::GmRange& y) {
    const vnpu::Platform& platform = vnpu::CurrentPlatform();
    optiling::HardtanhGradTiling tiling;
    if (!optiling::ComputeHardtanhGradTiling(elements, dtype.size, platform.ubBytes, platform.vectorCores,
                                             tiling)) {
        throw std::runtime_error("the tiling refuses the platform");
    }
    tiling.data.minVal = bounds.min;
    tiling.data.maxVal = bounds.max;
    vnpu::Launch launch;
    launch.kernel = KernelPath(dtype);
    launch.opType = "HardtanhGrad";
    launch.tilingKey = GET_TPL_TILING_KEY(tiling.schMode);
    launch.blockDim = tiling.blockDim;
    launch.tilingData.resize(sizeof(tiling.data));
    std::memcpy(launch.tilingData.data(), &tiling.data, sizeof(tiling.data));
    launch.arguments = {self, grad, y, {"workspace", nullptr, nullptr, 0, true}};
    return launch;
}

#endif
