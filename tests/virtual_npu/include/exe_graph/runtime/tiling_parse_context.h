// The context of a tiling parse function, which prepares compile info. The operators here need none.
#ifndef EXE_GRAPH_RUNTIME_TILING_PARSE_CONTEXT_H
#define EXE_GRAPH_RUNTIME_TILING_PARSE_CONTEXT_H

#include "exe_graph/runtime/extended_kernel_context.h"

namespace gert {

class TilingParseContext : public ExtendedKernelContext {
public:
    using ExtendedKernelContext::ExtendedKernelContext;
};

}  // namespace gert

#endif
