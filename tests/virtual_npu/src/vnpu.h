// The inner interfaces of the stand-in: what its runtime, its host layers and its engine use of one another.
#ifndef VNPU_H
#define VNPU_H

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace vnpu {

// Runtime. The device hands out addresses of an inaccessible range; an alias of it is what the stand-in uses.
// The alias of a device address; nullptr when it is not live device memory.
uint8_t* HostAlias(const void* device);
// Bytes from this address to the end of its allocation; 0 when it is not live.
size_t LiveBytes(const void* device);
// Runs later, in order, on the stream's thread; a non-zero return becomes the stream's error. Returns the
// runtime's code when the handle is no live stream of the thread's context.
int Enqueue(void* stream, std::function<int()> work);
// What aclGetRecentErrMsg answers next on this thread; from a task, what it answers where the stream's error
// is reported.
void SetErrorMessage(const std::string& message);

// Host layers.
struct Platform {
    std::string soc;
    uint32_t vectorCores;
    uint64_t ubBytes;  // as PlatformAscendC reports it (196352 on ascend910b)
};
const Platform& CurrentPlatform();
struct Objects {
    size_t tensors;
    size_t scalars;
    size_t executors;
};
Objects LiveObjects();  // made and not yet destroyed by the user

// Engine.
struct GmRange {
    const char* name;
    uint8_t* device;
    uint8_t* host;
    size_t bytes;
    bool writable;
};
struct Launch {
    std::string kernel;  // path of the kernel's library; empty: the program itself
    std::string opType;
    uint64_t tilingKey;
    uint32_t blockDim;
    std::vector<uint8_t> tilingData;
    std::vector<GmRange> arguments;  // inputs, outputs, workspace in kernel order
};
int RunKernel(const Launch& launch);      // 0, or 507035 after recording the violations
const std::vector<std::string>& Rules();  // the ids under which violations are recorded

}  // namespace vnpu

#endif
