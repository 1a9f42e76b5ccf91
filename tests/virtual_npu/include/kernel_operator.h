// Ascend C for virtual vector cores: a kernel compiled with these headers runs on the host under the rules of
// the hardware. Only what the operators of this project use is here, with CANN's signatures.
#ifndef KERNEL_OPERATOR_H
#define KERNEL_OPERATOR_H

#include "ascendc/instructions.h"
#include "ascendc/pipe.h"

#define KERNEL_TASK_TYPE_DEFAULT(value) vnpu::device::SetKernelType(value)

#define TILING_KEY_IS(k) (vnpu::device::TilingKey() == (k))

#define REGISTER_TILING_DEFAULT(tiling_struct) using VnpuDefaultTiling [[maybe_unused]] = tiling_struct

// In a statically shaped compile the variable is a constant, so it is one here too.
#define GET_TILING_DATA_WITH_STRUCT(tiling_struct, tiling_data, tiling_arg) \
    const tiling_struct tiling_data = vnpu::device::Tiling<tiling_struct>(tiling_arg)

#define GET_TILING_DATA(tiling_data, tiling_arg) \
    GET_TILING_DATA_WITH_STRUCT(VnpuDefaultTiling, tiling_data, tiling_arg)

namespace vnpu::device {

template <typename T>
T Tiling(const uint8_t* tiling) {
    static_assert(std::is_standard_layout_v<T> && std::is_trivially_copyable_v<T>,
                  "tiling data is a plain struct");
    T data;
    FetchTiling(&data, sizeof(T), tiling);
    return data;
}

}  // namespace vnpu::device

#endif
