// What the contexts of tiling and infer functions share.
#ifndef EXE_GRAPH_RUNTIME_EXTENDED_KERNEL_CONTEXT_H
#define EXE_GRAPH_RUNTIME_EXTENDED_KERNEL_CONTEXT_H

#include <cstddef>

#include "exe_graph/runtime/compute_node_info.h"
#include "exe_graph/runtime/runtime_attrs.h"
#include "exe_graph/runtime/storage_shape.h"
#include "graph/error_codes.h"

namespace vnpu {
struct Node;
}

namespace gert {

class ExtendedKernelContext {
public:
    explicit ExtendedKernelContext(vnpu::Node& node) : node_(node) {}
    const CompileTimeTensorDesc* GetInputDesc(size_t index) const;
    const RuntimeAttrs* GetAttrs() const;

protected:
    vnpu::Node& node_;
};

}  // namespace gert

#endif
