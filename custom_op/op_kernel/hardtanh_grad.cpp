#include "hardtanh_grad.h"

#include "hardtanh_grad_tiling_key.h"

template <uint32_t schMode>
__global__ __aicore__ void hardtanh_grad(GM_ADDR result, GM_ADDR grad, GM_ADDR y, GM_ADDR workspace,
                                         GM_ADDR tiling) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    REGISTER_TILING_DEFAULT(HardtanhGradTilingData);
    // First of all: on the device the fetch passes through the start of UB.
    GET_TILING_DATA_WITH_STRUCT(HardtanhGradTilingData, tilingData, tiling);
    (void)workspace;

    AscendC::TPipe pipe;
    HardtanhGradKernel<DTYPE_RESULT, schMode == HARDTANH_GRAD_DOUBLE_BUFFER ? 2 : 1> kernel;
    kernel.Init(result, grad, y, &tilingData, &pipe);
    kernel.Process();
}
