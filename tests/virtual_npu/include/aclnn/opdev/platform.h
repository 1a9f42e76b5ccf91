// The platform as a two-phase operator sees it.
#ifndef OPDEV_PLATFORM_H
#define OPDEV_PLATFORM_H

namespace op {

enum class SocVersion {
    ASCEND910 = 0,
    ASCEND910B,
    ASCEND910_93,
    ASCEND910_95,
    ASCEND950 = ASCEND910_95,
    ASCEND910E,
    ASCEND310,
    ASCEND310P,
    ASCEND310B,
    ASCEND310C,
    ASCEND610LITE,
    RESERVED_VERSION = 99999
};

class PlatformInfo {
public:
    SocVersion GetSocVersion() const;
};

const PlatformInfo& GetCurrentPlatformInfo();

}  // namespace op

#endif
