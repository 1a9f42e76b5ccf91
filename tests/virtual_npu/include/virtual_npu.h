/* Control of the stand-in, for tests and for run_kernel.py. */
#ifndef VIRTUAL_NPU_H
#define VIRTUAL_NPU_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The platform that tiling and launches see: soc is ascend910b1, ascend910b3, ascend910b4, ...; 0 keeps the
 * SoC's own value of vectorCores or ubBytes. */
void vnpuSetPlatform(const char* soc, uint32_t vectorCores, uint64_t ubBytes);

/* The order in which the cores of a launch run: 0 in order, 1 reverse, 2 shuffled with seed. */
void vnpuSetCoreOrder(int order, uint32_t seed);

/* JSON with the launches since vnpuReset, their counters and violations (schema in README.md). The text stays
 * valid until the next call from any thread. */
const char* vnpuReport(void);

/* Forgets the launches recorded so far. */
void vnpuReset(void);

/* Names of the aclnn phase-1 and phase-2 calls and of the launches, in order, one per line. */
const char* vnpuCallLog(void);

#ifdef __cplusplus
}
#endif

#endif
