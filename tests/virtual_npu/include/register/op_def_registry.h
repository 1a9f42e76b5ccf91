// OP_ADD: what becomes of an operator's definition depends on the library that its source is compiled for.
#ifndef REGISTER_OP_DEF_REGISTRY_H
#define REGISTER_OP_DEF_REGISTRY_H

#include "register/op_def.h"

namespace ops {

class OpDefFactory {
public:
    // Keeps the definition; the stand-in's counterpart of the files that op_build writes from it.
    static int OpDefRegister(const OpDef& definition);
};

}  // namespace ops

#if defined(OP_PROTO_LIB)

// The infer functions are registered by themselves.
#define OP_ADD(opType, ...) static_assert(true, "")

#elif defined(OP_TILING_LIB)

#define OP_ADD(opType, ...)                           \
    static int VAR_UNUSED g_##opType##_added = [] {   \
        opType op(#opType);                           \
        gert::OpImplRegisterV2 functions(#opType);    \
        functions.Tiling(op.AICore().GetTiling());    \
        gert::OpImplRegisterV2 registered(functions); \
        return ops::OpDefFactory::OpDefRegister(op);  \
    }()

#else

#define OP_ADD(opType, ...) \
    static int VAR_UNUSED g_##opType##_added = ops::OpDefFactory::OpDefRegister(opType(#opType))

#endif

#endif
