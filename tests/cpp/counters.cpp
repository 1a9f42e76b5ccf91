// Prints the engine's report of the kernel's launches, from 1 K to 64 M elements of each dtype on
// ascend910b1: what predict.py calculates from.
#include <sys/mman.h>

#include <cstdio>

#include "kernel_launch.h"
#include "virtual_npu.h"

int main() {
    constexpr int64_t kSizes[] = {1 << 10, 1 << 12, 1 << 14, 1 << 16, 1 << 18,
                                  1 << 20, 1 << 22, 1 << 23, 1 << 24, 1 << 26};
    constexpr size_t kBytes = size_t{4} << 26;
    void* input = mmap(nullptr, kBytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    void* output =
        mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (input == MAP_FAILED || output == MAP_FAILED) return 1;
    vnpuSetPlatform("ascend910b1", 0, 0);
    int status = 0;
    for (const Dtype& dtype : kDtypes) {
        for (const int64_t elements : kSizes) {
            const size_t bytes = static_cast<size_t>(elements * dtype.size);
            const auto range = [bytes](const char* name, void* memory, bool writable) {
                uint8_t* first = static_cast<uint8_t*>(memory);
                return vnpu::GmRange{name, first, first, bytes, writable};
            };
            status |=
                vnpu::RunKernel(KernelLaunch(dtype, elements, {-1.0f, 1.0f}, range("self", input, false),
                                             range("grad", input, false), range("y", output, true)));
        }
    }
    std::puts(vnpuReport());
    return status == 0 ? 0 : 1;
}
