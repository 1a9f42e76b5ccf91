// Hardtanh and its gradient on the CPU as C functions.
//
// Tensors are contiguous, of `count` elements, and aligned to their element; `out` may be an input but may
// not overlap one partly. Bounds are compared in float32. `threads` is the most to use, 0 for as many as the
// calling thread may run on; the result has the same bits for any number. Functions return 0, or 161002
// (ACLNN_ERR_PARAM_INVALID) for a `dtype` that is none of HardtanhDtype or a negative number, and then touch
// nothing.
#pragma once

#include <cstdint>

#define HARDTANH_EXPORT extern "C" __attribute__((visibility("default")))

constexpr int kInvalidParameter = 161002;

// CANN's numbers of the data types.
enum HardtanhDtype { HARDTANH_FLOAT32 = 0, HARDTANH_FLOAT16 = 1, HARDTANH_BFLOAT16 = 27 };

// out = 0 where self > max or self < min, else the bits of gradOutput.
HARDTANH_EXPORT int hardtanh_grad_cpu(const void* gradOutput, const void* self, void* out, int64_t count,
                                      int dtype, float min, float max, int threads);

// out = max where self > max, min where self < min, rounded to the type of self (nearest, ties to even), else
// the bits of self.
HARDTANH_EXPORT int hardtanh_cpu(const void* self, void* out, int64_t count, int dtype, float min, float max,
                                 int threads);

// Makes the process use instruction set 0 (baseline), 1 (AVX2) or 2 (AVX-512), so that each can be tested;
// the best one is in use from the start and the results are the same. Returns 161002 for one that the
// processor does not have.
HARDTANH_EXPORT int hardtanh_cpu_use_instruction_set(int set);
