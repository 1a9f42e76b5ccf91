// The macros with which a level-0 operator adds its kernel to an executor.
#ifndef OPDEV_MAKE_OP_EXECUTOR_H
#define OPDEV_MAKE_OP_EXECUTOR_H

#include "opdev/op_arg_def.h"
#include "opdev/op_executor.h"
#include "opdev/platform.h"

#define CREATE_EXECUTOR() UniqueExecutor(__func__)

// The tiling function runs here, in phase 1, for the workspace it asks for; its result is kept for phase 2.
#define ADD_TO_LAUNCHER_LIST_AICORE(KERNEL_NAME, op_args...) \
    CreatAiCoreKernelLauncher(#KERNEL_NAME, KERNEL_NAME##OpTypeId(), executor, op::GetOpArgContext(op_args))

#endif
