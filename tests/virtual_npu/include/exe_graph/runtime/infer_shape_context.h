// The context of a shape inference function.
#ifndef EXE_GRAPH_RUNTIME_INFER_SHAPE_CONTEXT_H
#define EXE_GRAPH_RUNTIME_INFER_SHAPE_CONTEXT_H

#include "exe_graph/runtime/extended_kernel_context.h"

namespace gert {

class InferShapeContext : public ExtendedKernelContext {
public:
    using ExtendedKernelContext::ExtendedKernelContext;
    const Shape* GetInputShape(size_t index) const;
    Shape* GetOutputShape(size_t index);
};

}  // namespace gert

#endif
