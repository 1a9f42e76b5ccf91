// The platform as a tiling function sees it.
#ifndef TILING_PLATFORM_PLATFORM_ASCENDC_H
#define TILING_PLATFORM_PLATFORM_ASCENDC_H

#include <cstdint>

namespace fe {
class PlatFormInfos;
}

namespace platform_ascendc {

enum class CoreMemType { L0_A = 0, L0_B = 1, L0_C = 2, L1 = 3, L2 = 4, UB = 5, HBM = 6 };

class PlatformAscendC {
public:
    explicit PlatformAscendC(fe::PlatFormInfos* platformInfo) : platformInfo_(platformInfo) {}
    uint32_t GetCoreNumAiv() const;
    void GetCoreMemSize(const CoreMemType& type, uint64_t& bytes) const;

private:
    fe::PlatFormInfos* platformInfo_;
};

}  // namespace platform_ascendc

#endif
