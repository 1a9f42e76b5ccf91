// Tensors, scalars and arrays as an operator's code sees them.
#ifndef OPDEV_COMMON_TYPES_H
#define OPDEV_COMMON_TYPES_H

#include <memory>
#include <vector>

#include "aclnn/acl_meta.h"
#include "exe_graph/runtime/shape.h"
#include "graph/ascend_string.h"
#include "graph/types.h"
#include "opdev/object.h"

namespace op {

template <typename T, size_t N = 8>
using FVector = std::vector<T>;
constexpr uint64_t MAX_DIM_NUM = 25;
using Strides = FVector<int64_t, MAX_DIM_NUM>;
using ShapeVector = FVector<int64_t, MAX_DIM_NUM>;
using Shape = gert::Shape;
using Format = ge::Format;
using DataType = ge::DataType;

ge::AscendString ToString(DataType dataType);
size_t TypeSize(DataType dataType);
void ToContiguousStrides(const Shape& shape, Strides& strides);

}  // namespace op

// Where a tensor's data lie. Views of a tensor share it.
struct aclStorage {
    void* address = nullptr;  // of the tensor's storage, or of the executor's workspace
    bool fromWorkspace = false;
    uint64_t workspaceOffset = 0;  // bytes
    int64_t storageOffset = 0;     // elements
};

class aclTensor : public op::Object {
public:
    aclTensor(const op::Shape& view, const op::Strides& strides, int64_t offset, const op::Shape& storage,
              op::DataType dataType, op::Format format, std::shared_ptr<aclStorage> data);
    aclTensor(const aclTensor&) = delete;
    aclTensor& operator=(const aclTensor&) = delete;

    const op::Shape& GetStorageShape() const { return storageShape_; }
    const op::Shape& GetViewShape() const { return viewShape_; }
    // Also makes the strides contiguous.
    void SetViewShape(const op::Shape& shape);
    op::Format GetStorageFormat() const { return format_; }
    op::Format GetViewFormat() const { return format_; }
    const op::Strides& GetViewStrides() const { return viewStrides_; }
    int64_t GetViewOffset() const { return viewOffset_; }
    op::DataType GetDataType() const { return dataType_; }
    int64_t Size() const { return storageShape_.GetShapeSize(); }
    int64_t Numel() const { return viewShape_.GetShapeSize(); }
    // Whether a dimension of the view is 0.
    bool IsEmpty() const;
    // Device address of the view's first element.
    void* GetData() const;
    void* GetStorageAddr() const { return data_->address; }
    void SetStorageAddr(void* address) const { data_->address = address; }
    int64_t GetStorageOffset() const { return data_->storageOffset; }
    void SetStorageOffset(int64_t offset) { data_->storageOffset = offset; }
    bool IsFromWorkspace() const { return data_->fromWorkspace; }
    void SetFromWorkspace(bool fromWorkspace) const { data_->fromWorkspace = fromWorkspace; }
    void SetWorkspaceOffset(uint64_t offset) const { data_->workspaceOffset = offset; }
    const std::shared_ptr<aclStorage>& GetStorage() const { return data_; }
    void InitTensor(const int64_t* viewDims, uint64_t viewDimsNum, aclDataType dataType,
                    const int64_t* stride, int64_t offset, aclFormat format, const int64_t* storageDims,
                    uint64_t storageDimsNum, void* address);
    ge::AscendString ToString() const;

private:
    std::shared_ptr<aclStorage> data_;
    op::Shape viewShape_;
    op::Shape storageShape_;
    op::Strides viewStrides_;
    int64_t viewOffset_;
    op::DataType dataType_;
    op::Format format_;
};

class aclScalar : public op::Object {
public:
    aclScalar(const void* data, op::DataType dataType);
    op::DataType GetDataType() const { return dataType_; }
    float ToFloat() const;
    double ToDouble() const;
    int64_t ToInt64() const;

private:
    op::DataType dataType_;
    uint8_t bytes_[8] = {};
};

template <typename T>
class aclArray : public op::Object {
public:
    aclArray(const T* value, uint64_t size) : values_(value, value + size) {}
    T operator[](uint64_t index) const { return values_[index]; }
    uint64_t Size() const { return values_.size(); }

private:
    std::vector<T> values_;
};

class aclIntArray : public aclArray<int64_t> {
    using aclArray::aclArray;
};
class aclFloatArray : public aclArray<float> {
    using aclArray::aclArray;
};
class aclBoolArray : public aclArray<bool> {
    using aclArray::aclArray;
};

struct aclTensorList : public op::Object {
public:
    aclTensorList(const aclTensor* const* tensors, uint64_t size);
    aclTensor* operator[](uint64_t index) const { return tensors_[index]; }
    uint64_t Size() const { return tensors_.size(); }

private:
    std::vector<aclTensor*> tensors_;
};

#endif
