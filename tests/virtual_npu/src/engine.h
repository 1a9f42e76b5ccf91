// What the engine counts of a launch, for the report and for tests in C++.
#ifndef VNPU_ENGINE_H
#define VNPU_ENGINE_H

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace vnpu {

struct Violation {
    std::string rule;
    std::string call;
    int64_t core;  // -1: the launch as a whole
    std::string detail;
};

struct CopyCounters {
    uint64_t bytes = 0;
    std::map<uint64_t, uint64_t> sizes;  // bytes of a copy -> number of copies
};

struct InstructionCounters {
    uint64_t instructions = 0;
    uint64_t elements = 0;
    uint64_t repeats = 0;  // of 256 bytes of the widest operand
};

struct CoreCounters {
    uint32_t core = 0;
    uint64_t elementsWritten = 0;
    uint64_t bytesRead = 0;
    uint64_t bytesWritten = 0;
    uint64_t tilingBytes = 0;  // read by GET_TILING_DATA
    uint64_t copiesIn = 0;
    uint64_t copiesOut = 0;
    uint64_t repeats = 0;
};

struct LaunchRecord {
    std::string kernel;
    std::string opType;
    uint64_t tilingKey = 0;
    uint32_t blockDim = 0;
    uint32_t tilingBytes = 0;
    uint64_t ubBytes = 0;      // capacity
    uint64_t ubHighWater = 0;  // largest end of a buffer on any core
    uint64_t scalarGmAccesses = 0;
    CopyCounters copiesIn;
    CopyCounters copiesOut;
    std::map<std::string, InstructionCounters> vector;
    std::vector<CoreCounters> cores;  // in the order in which they ran
    std::vector<Violation> violations;
};

LaunchRecord LastLaunch();  // of any thread; empty when there was none since vnpuReset

}  // namespace vnpu

#endif
