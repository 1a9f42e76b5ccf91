// Logging, and the checks that log before they return.
#ifndef OPDEV_OP_LOG_H
#define OPDEV_OP_LOG_H

#include "opdev/op_errno.h"

namespace op {
namespace internal {

enum class LogLevel { Debug = 0, Info = 1, Warning = 2, Error = 3 };

// Printed to stdout where ASCEND_SLOG_PRINT_TO_STDOUT=1 and the level reaches ASCEND_GLOBAL_LOG_LEVEL
// (default 3).
void Log(LogLevel level, const char* function, const char* format, ...) __attribute__((format(printf, 3, 4)));
// An error that also goes into what aclGetRecentErrMsg returns.
void ReportError(int code, const char* function, const char* format, ...)
    __attribute__((format(printf, 3, 4)));

}  // namespace internal
}  // namespace op

#define OP_LOGD(fmt, ...) op::internal::Log(op::internal::LogLevel::Debug, __func__, fmt, ##__VA_ARGS__)
#define OP_LOGI(fmt, ...) op::internal::Log(op::internal::LogLevel::Info, __func__, fmt, ##__VA_ARGS__)
#define OP_LOGW(fmt, ...) op::internal::Log(op::internal::LogLevel::Warning, __func__, fmt, ##__VA_ARGS__)
#define OP_LOGE(code, fmt, ...) op::internal::ReportError(code, __func__, fmt, ##__VA_ARGS__)
#define OP_LOGE_WITHOUT_REPORT(code, fmt, ...) \
    op::internal::Log(op::internal::LogLevel::Error, __func__, "errno[%d] " fmt, code, ##__VA_ARGS__)

#define CHECK_RET(condition, returned)                                               \
    do {                                                                             \
        if (!(condition)) {                                                          \
            OP_LOGE_WITHOUT_REPORT(ACLNN_ERR_INNER, "check %s failed.", #condition); \
            return returned;                                                         \
        }                                                                            \
    } while (false)

#define OP_CHECK(condition, log, action) \
    do {                                 \
        if (!(condition)) {              \
            log;                         \
            action;                      \
        }                                \
    } while (false)

#define OP_CHECK_NO_RETURN(condition, log) \
    do {                                   \
        if (!(condition)) {                \
            log;                           \
        }                                  \
    } while (false)

#endif
