// Tensors, scalars and arrays, and what the C interface does with them.
#include <algorithm>
#include <cstring>
#include <deque>
#include <mutex>
#include <new>
#include <unordered_map>

#include "acl/acl.h"
#include "host.h"
#include "opdev/format_utils.h"
#include "opdev/op_log.h"
#include "opdev/shape_utils.h"
#include "opdev/tensor_view_utils.h"

namespace {

// Live objects of the user. A serial tells an object from a later one at the same address.
struct Table {
    struct Entry {
        vnpu::Kind kind;
        uint64_t serial;
    };
    std::mutex mutex;
    std::unordered_map<const void*, Entry> live;
    uint64_t lastSerial = 0;

    uint64_t Find(vnpu::Kind kind, const void* object) {
        const auto entry = live.find(object);
        return entry == live.end() || entry->second.kind != kind ? 0 : entry->second.serial;
    }
    size_t Count(vnpu::Kind kind) {
        return static_cast<size_t>(std::count_if(
            live.begin(), live.end(), [kind](const auto& item) { return item.second.kind == kind; }));
    }
};

Table& table() {
    static Table* const it = new Table;  // outlives every static object that still asks
    return *it;
}

const char* const kKindNames[] = {"aclTensor", "aclScalar", "array", "aclTensorList", "aclOpExecutor"};

// Freed memory of objects, oldest first.
struct Graveyard {
    static constexpr size_t kKept = 512;
    std::mutex mutex;
    std::deque<void*> blocks;
};

Graveyard& graveyard() {
    static Graveyard* const it = new Graveyard;
    return *it;
}

struct DataTypeName {
    op::DataType dataType;
    int bytes;
    const char* name;
};

constexpr DataTypeName kDataTypes[] = {
    {ge::DT_FLOAT, 4, "DT_FLOAT"},
    {ge::DT_FLOAT16, 2, "DT_FLOAT16"},
    {ge::DT_INT8, 1, "DT_INT8"},
    {ge::DT_INT32, 4, "DT_INT32"},
    {ge::DT_UINT8, 1, "DT_UINT8"},
    {ge::DT_INT16, 2, "DT_INT16"},
    {ge::DT_UINT16, 2, "DT_UINT16"},
    {ge::DT_UINT32, 4, "DT_UINT32"},
    {ge::DT_INT64, 8, "DT_INT64"},
    {ge::DT_UINT64, 8, "DT_UINT64"},
    {ge::DT_DOUBLE, 8, "DT_DOUBLE"},
    {ge::DT_BOOL, 1, "DT_BOOL"},
    {ge::DT_STRING, -1, "DT_STRING"},
    {ge::DT_COMPLEX64, 8, "DT_COMPLEX64"},
    {ge::DT_COMPLEX128, 16, "DT_COMPLEX128"},
    {ge::DT_BF16, 2, "DT_BF16"},
    {ge::DT_INT4, -1, "DT_INT4"},
    {ge::DT_UINT1, -1, "DT_UINT1"},
    {ge::DT_COMPLEX32, 4, "DT_COMPLEX32"},
};

const DataTypeName* Find(op::DataType dataType) {
    const auto* found =
        std::find_if(std::begin(kDataTypes), std::end(kDataTypes),
                     [dataType](const DataTypeName& item) { return item.dataType == dataType; });
    return found == std::end(kDataTypes) ? nullptr : found;
}

bool ScalarHolds(op::DataType dataType) {
    return Find(dataType) != nullptr && Find(dataType)->bytes > 0 && dataType != ge::DT_COMPLEX32 &&
           dataType != ge::DT_COMPLEX64 && dataType != ge::DT_COMPLEX128;
}

// Calls use with the scalar's bytes as a value of its own type.
template <typename F>
auto Read(op::DataType dataType, const uint8_t* bytes, F use) {
    const auto as = [bytes, &use](auto value) {
        std::memcpy(&value, bytes, sizeof(value));
        return use(value);
    };
    switch (dataType) {
        case ge::DT_FLOAT:
            return as(float());
        case ge::DT_DOUBLE:
            return as(double());
        case ge::DT_INT8:
            return as(int8_t());
        case ge::DT_INT16:
            return as(int16_t());
        case ge::DT_INT32:
            return as(int32_t());
        case ge::DT_INT64:
            return as(int64_t());
        case ge::DT_UINT8:
            return as(uint8_t());
        case ge::DT_UINT16:
            return as(uint16_t());
        case ge::DT_UINT32:
            return as(uint32_t());
        case ge::DT_UINT64:
            return as(uint64_t());
        case ge::DT_BOOL:
            return use(bytes[0] != 0);
        default: {
            uint16_t half;
            std::memcpy(&half, bytes, sizeof(half));
            if (dataType == ge::DT_FLOAT16) {
                return use(aclFloat16ToFloat(half));
            }
            const uint32_t bits = static_cast<uint32_t>(half) << 16;
            float value;
            std::memcpy(&value, &bits, sizeof(value));
            return use(value);
        }
    }
}

template <typename T>
std::string Join(const T& items, const char* open, const char* close) {
    std::string text = open;
    for (size_t i = 0; i < items.size(); ++i) {
        text += (i == 0 ? "" : ", ") + items[i];
    }
    return text + close;
}

std::vector<std::string> Dims(const op::Shape& shape) {
    std::vector<std::string> dims;
    for (size_t i = 0; i < shape.GetDimNum(); ++i) {
        dims.push_back(std::to_string(shape[i]));
    }
    return dims;
}

// True where both pointers are given and the tensor is live.
aclnnStatus CheckGetter(const aclTensor* tensor, const void* first, const void* second) {
    if (tensor == nullptr || first == nullptr || second == nullptr) {
        return ACLNN_ERR_PARAM_NULLPTR;
    }
    return vnpu::SerialOf(vnpu::Kind::Tensor, tensor) == 0 ? ACLNN_ERR_PARAM_INVALID : OK;
}

template <typename T>
void Copy(const T& from, size_t count, int64_t** values, uint64_t* number) {
    *number = count;
    *values = new int64_t[count];
    for (size_t i = 0; i < count; ++i) {
        (*values)[i] = from[i];
    }
}

template <typename T>
T* Tracked(vnpu::Kind kind, T* object) {
    vnpu::Track(kind, object);
    return object;
}

template <typename T>
aclnnStatus Destroy(vnpu::Kind kind, const T* object, const char* call) {
    if (object == nullptr) {
        return OK;
    }
    if (!vnpu::Untrack(kind, object, call)) {
        return ACLNN_ERR_PARAM_INVALID;
    }
    delete object;
    return OK;
}

}  // namespace

namespace vnpu {

void Track(Kind kind, const void* object) {
    Table& all = table();
    std::lock_guard<std::mutex> lock(all.mutex);
    all.live[object] = {kind, ++all.lastSerial};
}

bool Untrack(Kind kind, const void* object, const char* call) {
    Table& all = table();
    std::unique_lock<std::mutex> lock(all.mutex);
    if (all.Find(kind, object) == 0) {
        lock.unlock();
        OP_LOGE(ACLNN_ERR_PARAM_INVALID, "%s: %p is no live %s.", call, object,
                kKindNames[static_cast<int>(kind)]);
        return false;
    }
    all.live.erase(object);
    return true;
}

uint64_t SerialOf(Kind kind, const void* object) {
    Table& all = table();
    std::lock_guard<std::mutex> lock(all.mutex);
    return all.Find(kind, object);
}

Objects LiveObjects() {
    Table& all = table();
    std::lock_guard<std::mutex> lock(all.mutex);
    return {all.Count(Kind::Tensor), all.Count(Kind::Scalar), all.Count(Kind::Executor)};
}

}  // namespace vnpu

namespace ge {

AscendString::AscendString(const char_t* name)
    : name_(name == nullptr ? nullptr : std::make_shared<std::string>(name)) {}

const char_t* AscendString::GetString() const { return name_ == nullptr ? "" : name_->c_str(); }

int GetSizeByDataType(DataType dataType) {
    const DataTypeName* found = Find(dataType);
    return found == nullptr ? -1 : found->bytes;
}

}  // namespace ge

namespace gert {

constexpr size_t Shape::kMaxDimNum;
constexpr int64_t Shape::kInvalidDimValue;

Shape::Shape(const std::initializer_list<int64_t>& dims) {
    if (dims.size() <= kMaxDimNum) {
        std::copy(dims.begin(), dims.end(), dims_);
        dimNum_ = dims.size();
    }
}

bool Shape::operator==(const Shape& other) const {
    return std::equal(dims_, dims_ + dimNum_, other.dims_, other.dims_ + other.dimNum_);
}

int64_t Shape::GetShapeSize() const {
    int64_t size = 1;
    for (size_t i = 0; i < dimNum_; ++i) {
        if (__builtin_mul_overflow(size, dims_[i], &size)) {
            return kInvalidDimValue;
        }
    }
    return size;
}

Shape& Shape::AppendDim(int64_t value) {
    if (dimNum_ < kMaxDimNum) {
        dims_[dimNum_++] = value;
    }
    return *this;
}

}  // namespace gert

namespace op {

void* Object::operator new(size_t size) { return ::operator new(size); }

void Object::operator delete(void* address) {
    Graveyard& all = graveyard();
    std::lock_guard<std::mutex> lock(all.mutex);
    all.blocks.push_back(address);
    if (all.blocks.size() > Graveyard::kKept) {
        ::operator delete(all.blocks.front());
        all.blocks.pop_front();
    }
}

ge::AscendString ToString(DataType dataType) {
    const DataTypeName* found = Find(dataType);
    return found == nullptr ? "DT_UNDEFINED" : found->name;
}

ge::AscendString ToString(const std::initializer_list<DataType>& dataTypes) {
    std::vector<std::string> names;
    for (const DataType dataType : dataTypes) {
        names.push_back(ToString(dataType).GetString());
    }
    return Join(names, "[", "]").c_str();
}

ge::AscendString ToString(const Shape& shape) { return Join(Dims(shape), "[", "]").c_str(); }

ge::AscendString ToString(Format format) { return std::to_string(static_cast<int>(format)).c_str(); }

size_t TypeSize(DataType dataType) {
    return static_cast<size_t>(std::max(1, ge::GetSizeByDataType(dataType)));
}

void ToContiguousStrides(const Shape& shape, Strides& strides) {
    strides.assign(shape.GetDimNum(), 1);
    uint64_t stride = 1;  // unsigned: shapes that no memory holds may wrap
    for (size_t i = strides.size(); i-- > 0;) {
        strides[i] = static_cast<int64_t>(stride);
        stride *= static_cast<uint64_t>(shape[i]);
    }
}

void ToShape(const int64_t* dims, uint64_t dimNum, Shape& shape) {
    shape.SetDimNum(0);
    for (uint64_t i = 0; i < dimNum; ++i) {
        shape.AppendDim(dims[i]);
    }
}

bool IsPrivateFormat(Format format) {
    return format == Format::FORMAT_NC1HWC0 || format == Format::FORMAT_FRACTAL_Z ||
           format == Format::FORMAT_FRACTAL_NZ;
}

bool IsContiguous(const aclTensor* tensor) {
    if (tensor == nullptr || IsPrivateFormat(tensor->GetStorageFormat()) || tensor->Numel() == 0 ||
        tensor->Numel() == 1) {
        return true;
    }
    const Shape& shape = tensor->GetViewShape();
    const Strides& strides = tensor->GetViewStrides();
    int64_t expected = 1;
    for (size_t i = strides.size(); i-- > 0;) {
        if (shape[i] == 1) {
            continue;
        }
        if (strides[i] != expected) {
            return false;
        }
        expected *= shape[i];
    }
    return true;
}

bool Validate(const aclTensor* tensor) {
    const Shape& shape = tensor->GetViewShape();
    const Strides& strides = tensor->GetViewStrides();
    int64_t first = tensor->GetViewOffset();
    int64_t last = first;
    for (size_t i = 0; i < strides.size(); ++i) {
        const int64_t reach = strides[i] * (shape[i] - 1);
        (reach < 0 ? first : last) += reach;
    }
    if (first < 0 || last >= tensor->GetStorageShape().GetShapeSize()) {
        OP_LOGE(ACLNN_ERR_PARAM_INVALID, "The view leaves its storage: %s.", tensor->ToString().GetString());
        return false;
    }
    return true;
}

}  // namespace op

aclTensor::aclTensor(const op::Shape& view, const op::Strides& strides, int64_t offset,
                     const op::Shape& storage, op::DataType dataType, op::Format format,
                     std::shared_ptr<aclStorage> data)
    : data_(std::move(data)),
      viewShape_(view),
      storageShape_(storage),
      viewStrides_(strides),
      viewOffset_(offset),
      dataType_(dataType),
      format_(format) {}

void aclTensor::SetViewShape(const op::Shape& shape) {
    viewShape_ = shape;
    op::ToContiguousStrides(viewShape_, viewStrides_);
}

bool aclTensor::IsEmpty() const {
    for (size_t i = 0; i < viewShape_.GetDimNum(); ++i) {
        if (viewShape_[i] == 0) {
            return true;
        }
    }
    return false;
}

void* aclTensor::GetData() const {
    const auto size = static_cast<int64_t>(op::TypeSize(dataType_));
    // The address of a tensor whose memory comes later is null: no pointer to count from.
    const auto base = reinterpret_cast<uintptr_t>(data_->address);
    const uint64_t bytes = data_->fromWorkspace ? data_->workspaceOffset + viewOffset_ * size
                                                : (viewOffset_ + data_->storageOffset) * size;
    return reinterpret_cast<void*>(base + bytes);
}

void aclTensor::InitTensor(const int64_t* viewDims, uint64_t viewDimsNum, aclDataType dataType,
                           const int64_t* stride, int64_t offset, aclFormat format,
                           const int64_t* storageDims, uint64_t storageDimsNum, void* address) {
    op::Shape view;
    op::ToShape(viewDims, viewDimsNum, view);
    SetViewShape(view);
    if (stride != nullptr) {
        viewStrides_.assign(stride, stride + view.GetDimNum());
    }
    viewOffset_ = offset;
    op::ToShape(storageDims, storageDimsNum, storageShape_);
    dataType_ = op::ToOpDataType(dataType);
    format_ = static_cast<op::Format>(format);
    data_->address = address;
}

ge::AscendString aclTensor::ToString() const {
    std::vector<std::string> strides;
    for (const int64_t stride : viewStrides_) {
        strides.push_back(std::to_string(stride));
    }
    const std::string text = std::string(op::ToString(dataType_).GetString()) + " shape " +
                             op::ToString(viewShape_).GetString() + " strides " + Join(strides, "[", "]") +
                             " offset " + std::to_string(viewOffset_) + " storage " +
                             op::ToString(storageShape_).GetString();
    return text.c_str();
}

aclScalar::aclScalar(const void* data, op::DataType dataType) : dataType_(dataType) {
    std::memcpy(bytes_, data, op::TypeSize(dataType));
}

float aclScalar::ToFloat() const {
    return Read(dataType_, bytes_, [](auto value) { return static_cast<float>(value); });
}

double aclScalar::ToDouble() const {
    return Read(dataType_, bytes_, [](auto value) { return static_cast<double>(value); });
}

int64_t aclScalar::ToInt64() const {
    return Read(dataType_, bytes_, [](auto value) { return static_cast<int64_t>(value); });
}

aclTensorList::aclTensorList(const aclTensor* const* tensors, uint64_t size) {
    for (uint64_t i = 0; i < size; ++i) {
        tensors_.push_back(const_cast<aclTensor*>(tensors[i]));
    }
}

extern "C" {

aclTensor* aclCreateTensor(const int64_t* viewDims, uint64_t viewDimsNum, aclDataType dataType,
                           const int64_t* stride, int64_t offset, aclFormat format,
                           const int64_t* storageDims, uint64_t storageDimsNum, void* tensorData) {
    if ((viewDims == nullptr && viewDimsNum > 0) || (storageDims == nullptr && storageDimsNum > 0)) {
        return nullptr;
    }
    auto* tensor =
        new aclTensor({}, {}, 0, {}, ge::DT_UNDEFINED, ge::FORMAT_ND, std::make_shared<aclStorage>());
    tensor->InitTensor(viewDims, viewDimsNum, dataType, stride, offset, format, storageDims, storageDimsNum,
                       tensorData);
    return Tracked(vnpu::Kind::Tensor, tensor);
}

aclnnStatus aclInitTensor(aclTensor* tensor, const int64_t* viewDims, uint64_t viewDimsNum,
                          aclDataType dataType, const int64_t* stride, int64_t offset, aclFormat format,
                          const int64_t* storageDims, uint64_t storageDimsNum, void* tensorDataAddr) {
    if (const aclnnStatus status = CheckGetter(tensor, tensor, tensor)) {
        return status;
    }
    tensor->InitTensor(viewDims, viewDimsNum, dataType, stride, offset, format, storageDims, storageDimsNum,
                       tensorDataAddr);
    return OK;
}

aclScalar* aclCreateScalar(void* value, aclDataType dataType) {
    if (value == nullptr) {
        return nullptr;
    }
    if (!ScalarHolds(op::ToOpDataType(dataType))) {
        OP_LOGE(ACLNN_ERR_INNER, "The stand-in has no scalars of data type %d.", dataType);
        return nullptr;
    }
    return Tracked(vnpu::Kind::Scalar, new aclScalar(value, op::ToOpDataType(dataType)));
}

aclIntArray* aclCreateIntArray(const int64_t* value, uint64_t size) {
    return Tracked(vnpu::Kind::Array, new aclIntArray(value, size));
}

aclFloatArray* aclCreateFloatArray(const float* value, uint64_t size) {
    return Tracked(vnpu::Kind::Array, new aclFloatArray(value, size));
}

aclBoolArray* aclCreateBoolArray(const bool* value, uint64_t size) {
    return Tracked(vnpu::Kind::Array, new aclBoolArray(value, size));
}

aclTensorList* aclCreateTensorList(const aclTensor* const* value, uint64_t size) {
    return Tracked(vnpu::Kind::TensorList, new aclTensorList(value, size));
}

aclnnStatus aclDestroyTensor(const aclTensor* tensor) {
    return Destroy(vnpu::Kind::Tensor, tensor, "aclDestroyTensor");
}

aclnnStatus aclDestroyScalar(const aclScalar* scalar) {
    return Destroy(vnpu::Kind::Scalar, scalar, "aclDestroyScalar");
}

aclnnStatus aclDestroyIntArray(const aclIntArray* array) {
    return Destroy(vnpu::Kind::Array, array, "aclDestroyIntArray");
}

aclnnStatus aclDestroyFloatArray(const aclFloatArray* array) {
    return Destroy(vnpu::Kind::Array, array, "aclDestroyFloatArray");
}

aclnnStatus aclDestroyBoolArray(const aclBoolArray* array) {
    return Destroy(vnpu::Kind::Array, array, "aclDestroyBoolArray");
}

aclnnStatus aclDestroyTensorList(const aclTensorList* array) {
    if (array == nullptr) {
        return OK;
    }
    if (!vnpu::Untrack(vnpu::Kind::TensorList, array, "aclDestroyTensorList")) {
        return ACLNN_ERR_PARAM_INVALID;
    }
    for (uint64_t i = 0; i < array->Size(); ++i) {
        aclDestroyTensor((*array)[i]);
    }
    delete array;
    return OK;
}

aclnnStatus aclGetViewShape(const aclTensor* tensor, int64_t** viewDims, uint64_t* viewDimsNum) {
    if (const aclnnStatus status = CheckGetter(tensor, viewDims, viewDimsNum)) {
        return status;
    }
    Copy(tensor->GetViewShape(), tensor->GetViewShape().GetDimNum(), viewDims, viewDimsNum);
    return OK;
}

aclnnStatus aclGetStorageShape(const aclTensor* tensor, int64_t** storageDims, uint64_t* storageDimsNum) {
    if (const aclnnStatus status = CheckGetter(tensor, storageDims, storageDimsNum)) {
        return status;
    }
    Copy(tensor->GetStorageShape(), tensor->GetStorageShape().GetDimNum(), storageDims, storageDimsNum);
    return OK;
}

aclnnStatus aclGetViewStrides(const aclTensor* tensor, int64_t** stridesValue, uint64_t* stridesNum) {
    if (const aclnnStatus status = CheckGetter(tensor, stridesValue, stridesNum)) {
        return status;
    }
    Copy(tensor->GetViewStrides(), tensor->GetViewStrides().size(), stridesValue, stridesNum);
    return OK;
}

aclnnStatus aclGetViewOffset(const aclTensor* tensor, int64_t* offset) {
    if (const aclnnStatus status = CheckGetter(tensor, offset, offset)) {
        return status;
    }
    *offset = tensor->GetViewOffset();
    return OK;
}

aclnnStatus aclGetFormat(const aclTensor* tensor, aclFormat* format) {
    if (const aclnnStatus status = CheckGetter(tensor, format, format)) {
        return status;
    }
    *format = static_cast<aclFormat>(tensor->GetViewFormat());
    return OK;
}

aclnnStatus aclGetDataType(const aclTensor* tensor, aclDataType* dataType) {
    if (const aclnnStatus status = CheckGetter(tensor, dataType, dataType)) {
        return status;
    }
    *dataType = op::ToAclDataType(tensor->GetDataType());
    return OK;
}

aclnnStatus aclSetRawTensorAddr(aclTensor* tensor, void* addr) {
    if (const aclnnStatus status = CheckGetter(tensor, tensor, tensor)) {
        return status;
    }
    tensor->SetStorageAddr(addr);
    return OK;
}

aclnnStatus aclGetRawTensorAddr(const aclTensor* tensor, void** addr) {
    if (const aclnnStatus status = CheckGetter(tensor, addr, addr)) {
        return status;
    }
    *addr = tensor->GetStorageAddr();
    return OK;
}

}  // extern "C"
