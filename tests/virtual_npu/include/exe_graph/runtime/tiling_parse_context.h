// The context of a tiling parse function, which prepares the compile info.
#ifndef EXE_GRAPH_RUNTIME_TILING_PARSE_CONTEXT_H
#define EXE_GRAPH_RUNTIME_TILING_PARSE_CONTEXT_H

#include "exe_graph/runtime/extended_kernel_context.h"

namespace fe {
class PlatFormInfos;
}

namespace gert {

class TilingParseContext : public ExtendedKernelContext {
public:
    using ExtendedKernelContext::ExtendedKernelContext;
    template <typename T>
    T* GetCompiledInfo() {
        return static_cast<T*>(GetCompiledInfo());
    }
    fe::PlatFormInfos* GetPlatformInfo() const;

private:
    void* GetCompiledInfo();
};

}  // namespace gert

#endif
