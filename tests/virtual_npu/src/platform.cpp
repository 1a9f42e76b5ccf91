// The platform, the log and the call log.
#include "opdev/platform.h"

#include <unistd.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <mutex>

#include "host.h"
#include "tiling/platform/platform_ascendc.h"
#include "virtual_npu.h"

namespace {

struct Soc {
    const char* name;
    const char* directory;
    op::SocVersion version;
    uint32_t vectorCores;
    uint64_t
        ubBytes;  // without the 256 bytes that CANN keeps for itself where cube and vector cores are apart
};

constexpr uint64_t kUb = 192 * 1024 - 256;
constexpr Soc kSocs[] = {
    {"ascend910b1", "ascend910b", op::SocVersion::ASCEND910B, 48, kUb},
    {"ascend910b2", "ascend910b", op::SocVersion::ASCEND910B, 48, kUb},
    {"ascend910b2c", "ascend910b", op::SocVersion::ASCEND910B, 48, kUb},
    {"ascend910b3", "ascend910b", op::SocVersion::ASCEND910B, 40, kUb},
    {"ascend910b4", "ascend910b", op::SocVersion::ASCEND910B, 40, kUb},
    {"ascend910b4-1", "ascend910b", op::SocVersion::ASCEND910B, 40, kUb},
    {"ascend910_9391", "ascend910_93", op::SocVersion::ASCEND910_93, 48, kUb},
    {"ascend910_9362", "ascend910_93", op::SocVersion::ASCEND910_93, 40, kUb},
    // Its 32 AI cores are cube and vector core in one.
    {"ascend910a", "ascend910", op::SocVersion::ASCEND910, 32, 256 * 1024},
};

struct Current {
    const Soc* soc = &kSocs[0];
    vnpu::Platform platform{kSocs[0].name, kSocs[0].vectorCores, kSocs[0].ubBytes};
};

Current& current() {
    static Current it;
    return it;
}

struct Calls {
    static constexpr size_t kKept = 1 << 16;
    std::mutex mutex;
    std::deque<std::string> names;
};

Calls& calls() {
    static Calls it;
    return it;
}

std::string Printed(const char* format, va_list arguments) {
    va_list again;
    va_copy(again, arguments);
    std::string text(static_cast<size_t>(std::vsnprintf(nullptr, 0, format, again)), '\0');
    va_end(again);
    std::vsnprintf(text.data(), text.size() + 1, format, arguments);
    return text;
}

void Print(op::internal::LogLevel level, const char* function, const std::string& text) {
    static const bool toStdout = [] {
        const char* value = std::getenv("ASCEND_SLOG_PRINT_TO_STDOUT");
        return value != nullptr && std::strcmp(value, "1") == 0;
    }();
    static const int lowest = [] {
        const char* value = std::getenv("ASCEND_GLOBAL_LOG_LEVEL");
        return value == nullptr ? static_cast<int>(op::internal::LogLevel::Error) : std::atoi(value);
    }();
    if (toStdout && static_cast<int>(level) >= lowest) {
        const char* const names[] = {"DEBUG", "INFO", "WARNING", "ERROR"};
        std::printf("[%s] NNOP(%d) [%s] %s\n", names[static_cast<int>(level)], getpid(), function,
                    text.c_str());
        std::fflush(stdout);
    }
}

}  // namespace

namespace vnpu {

const Platform& CurrentPlatform() { return current().platform; }

std::string SocDirectory() { return current().soc->directory; }

fe::PlatFormInfos* PlatformForTiling() {
    static fe::PlatFormInfos it;
    return &it;
}

std::string& CallErrors() {
    static thread_local std::string errors;
    return errors;
}

void LogCall(const std::string& name) {
    Calls& all = calls();
    std::lock_guard<std::mutex> lock(all.mutex);
    all.names.push_back(name);
    if (all.names.size() > Calls::kKept) {
        all.names.pop_front();
    }
}

}  // namespace vnpu

extern "C" {

void vnpuSetPlatform(const char* name, uint32_t vectorCores, uint64_t ubBytes) {
    for (const Soc& soc : kSocs) {
        if (std::strcmp(soc.name, name) == 0) {
            current().soc = &soc;
            current().platform = {soc.name, vectorCores == 0 ? soc.vectorCores : vectorCores,
                                  ubBytes == 0 ? soc.ubBytes : ubBytes};
            return;
        }
    }
    std::fprintf(stderr, "vnpuSetPlatform: there is no SoC %s\n", name);
    std::abort();
}

const char* vnpuCallLog() {
    static thread_local std::string text;
    text.clear();
    Calls& all = calls();
    std::lock_guard<std::mutex> lock(all.mutex);
    for (const std::string& name : all.names) {
        text += name + "\n";
    }
    return text.c_str();
}

}  // extern "C"

namespace op {

SocVersion PlatformInfo::GetSocVersion() const { return current().soc->version; }

const PlatformInfo& GetCurrentPlatformInfo() {
    static const PlatformInfo it;
    return it;
}

namespace internal {

void Log(LogLevel level, const char* function, const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    Print(level, function, Printed(format, arguments));
    va_end(arguments);
}

void ReportError(int code, const char* function, const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const std::string text = "errno[" + std::to_string(code) + "] " + Printed(format, arguments);
    va_end(arguments);
    Print(LogLevel::Error, function, text);
    std::string& all = vnpu::CallErrors();
    all += (all.empty() ? "" : "\n") + text;
    vnpu::SetErrorMessage(all);
}

}  // namespace internal
}  // namespace op

namespace platform_ascendc {

namespace {

const vnpu::Platform& Checked(const fe::PlatFormInfos* info) {
    if (info == nullptr) {
        std::fprintf(stderr, "PlatformAscendC: the platform info is null\n");
        std::abort();
    }
    return vnpu::CurrentPlatform();
}

}  // namespace

uint32_t PlatformAscendC::GetCoreNumAiv() const { return Checked(platformInfo_).vectorCores; }

void PlatformAscendC::GetCoreMemSize(const CoreMemType& type, uint64_t& bytes) const {
    if (type != CoreMemType::UB) {
        std::fprintf(stderr, "PlatformAscendC: the stand-in knows the size of UB only\n");
        std::abort();
    }
    bytes = Checked(platformInfo_).ubBytes;
}

}  // namespace platform_ascendc
