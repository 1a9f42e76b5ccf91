// The context of a data type inference function.
#ifndef EXE_GRAPH_RUNTIME_INFER_DATATYPE_CONTEXT_H
#define EXE_GRAPH_RUNTIME_INFER_DATATYPE_CONTEXT_H

#include "exe_graph/runtime/extended_kernel_context.h"

namespace gert {

class InferDataTypeContext : public ExtendedKernelContext {
public:
    using ExtendedKernelContext::ExtendedKernelContext;
    ge::DataType GetInputDataType(size_t index) const;  // DT_UNDEFINED beyond the inputs
    ge::graphStatus SetOutputDataType(size_t index, ge::DataType dataType);
};

}  // namespace gert

#endif
