// Registration of an operator's tiling and infer functions.
#ifndef REGISTER_OP_IMPL_REGISTRY_H
#define REGISTER_OP_IMPL_REGISTRY_H

#include <memory>

#include "exe_graph/runtime/infer_datatype_context.h"
#include "exe_graph/runtime/infer_shape_context.h"
#include "exe_graph/runtime/tiling_context.h"
#include "exe_graph/runtime/tiling_parse_context.h"
#include "graph/ascend_string.h"

typedef unsigned int UINT32;

namespace vnpu {
struct OpFunctions;
}

namespace gert {

// Collects functions; a copy of it, as the macros below make, registers those that were given.
class OpImplRegisterV2 {
public:
    using InferShapeKernelFunc = UINT32 (*)(InferShapeContext*);
    using InferDataTypeKernelFunc = UINT32 (*)(InferDataTypeContext*);
    using TilingKernelFunc = UINT32 (*)(TilingContext*);
    using TilingParseFunc = UINT32 (*)(TilingParseContext*);

    explicit OpImplRegisterV2(const ge::char_t* opType);
    OpImplRegisterV2(const OpImplRegisterV2& other);
    ~OpImplRegisterV2();
    OpImplRegisterV2& operator=(const OpImplRegisterV2&) = delete;

    OpImplRegisterV2& InferShape(InferShapeKernelFunc function);
    OpImplRegisterV2& InferDataType(InferDataTypeKernelFunc function);
    OpImplRegisterV2& Tiling(TilingKernelFunc function, size_t maxTilingDataSize = 2048);
    // T, which the framework makes for it, stays empty here.
    template <typename T>
    OpImplRegisterV2& TilingParse(TilingParseFunc function) {
        return TilingParse(function);
    }

private:
    OpImplRegisterV2& TilingParse(TilingParseFunc function);
    std::unique_ptr<vnpu::OpFunctions> functions_;
};

}  // namespace gert

#define VAR_UNUSED __attribute__((unused))
#define IMPL_OP_INFERSHAPE(op_type) \
    gert::OpImplRegisterV2 VAR_UNUSED op_impl_register_infershape_##op_type = gert::OpImplRegisterV2(#op_type)
#define IMPL_OP_OPTILING(op_type) \
    gert::OpImplRegisterV2 VAR_UNUSED op_impl_register_optiling_##op_type = gert::OpImplRegisterV2(#op_type)

#endif
