// The context of a tiling function.
#ifndef EXE_GRAPH_RUNTIME_TILING_CONTEXT_H
#define EXE_GRAPH_RUNTIME_TILING_CONTEXT_H

#include "exe_graph/runtime/extended_kernel_context.h"

namespace fe {
class PlatFormInfos;
}

namespace gert {

class TilingData {
public:
    TilingData(void* data, size_t capacity) : data_(data), capacity_(capacity) {}
    size_t GetCapacity() const { return capacity_; }
    size_t GetDataSize() const { return dataSize_; }
    void SetDataSize(size_t size) { dataSize_ = size; }
    void* GetData() { return data_; }
    const void* GetData() const { return data_; }

private:
    void* data_;
    size_t capacity_;
    size_t dataSize_ = 0;
};

class TilingContext : public ExtendedKernelContext {
public:
    using ExtendedKernelContext::ExtendedKernelContext;
    const StorageShape* GetInputShape(size_t index) const;
    fe::PlatFormInfos* GetPlatformInfo() const;

    ge::graphStatus SetTilingKey(uint64_t tilingKey);
    ge::graphStatus SetBlockDim(uint32_t blockDim);
    // nullptr where the buffer is smaller than T; the contents are whatever the buffer held.
    template <typename T>
    T* GetTilingData() {
        TilingData* data = GetRawTilingData();
        if (data == nullptr || data->GetCapacity() < sizeof(T)) {
            return nullptr;
        }
        data->SetDataSize(sizeof(T));
        return static_cast<T*>(data->GetData());
    }
    TilingData* GetRawTilingData();
    // Bytes of each workspace, to be set; nullptr where count is more than the framework holds.
    size_t* GetWorkspaceSizes(size_t count);
};

}  // namespace gert

#endif
