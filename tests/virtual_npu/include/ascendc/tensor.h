// GlobalTensor and LocalTensor.
#ifndef VNPU_ASCENDC_TENSOR_H
#define VNPU_ASCENDC_TENSOR_H

#include "ascendc/engine.h"

namespace AscendC {

template <typename T>
class GlobalTensor {
public:
    using PrimType = T;

    void SetGlobalBuffer(__gm__ T* buffer, uint64_t bufferSize) {
        SetGlobalBuffer(buffer);
        tensor_.end = tensor_.begin + bufferSize * sizeof(T);
        size_ = bufferSize;
    }
    void SetGlobalBuffer(__gm__ T* buffer) {
        tensor_.address = reinterpret_cast<uint64_t>(buffer);
        tensor_.begin = tensor_.address;
        tensor_.end = 0;
        size_ = 0;
    }
    const __gm__ T* GetPhyAddr() const { return reinterpret_cast<const __gm__ T*>(tensor_.address); }
    __gm__ T* GetPhyAddr(const uint64_t offset) const {
        return reinterpret_cast<__gm__ T*>(tensor_.address + offset * sizeof(T));
    }
    T GetValue(const uint64_t offset) const {
        T value;
        vnpu::device::ReadGm((*this)[offset].tensor_, &value, sizeof(T));
        return value;
    }
    void SetValue(const uint64_t offset, T value) {
        vnpu::device::WriteGm((*this)[offset].tensor_, &value, sizeof(T));
    }
    // The size of the whole buffer, of a slice too.
    uint64_t GetSize() const { return size_; }
    GlobalTensor operator[](const uint64_t offset) const {
        GlobalTensor slice = *this;
        slice.tensor_.address += offset * sizeof(T);
        return slice;
    }
    // Changes the speed on hardware, not the result.
    void SetL2CacheHint(CacheMode) {}

    const vnpu::device::GmTensor& Place() const { return tensor_; }

private:
    vnpu::device::GmTensor tensor_;
    uint64_t size_ = 0;
};

template <typename T>
class LocalTensor {
public:
    using PrimType = T;

    LocalTensor() = default;
    explicit LocalTensor(const vnpu::device::UbTensor& tensor) : tensor_(tensor) {}

    T GetValue(const uint32_t index) const {
        T value;
        vnpu::device::ReadUb(tensor_, uint64_t{index} * sizeof(T), &value, sizeof(T));
        return value;
    }
    template <typename S>
    void SetValue(const uint32_t index, const S value) const {
        const T converted = static_cast<T>(value);
        vnpu::device::WriteUb(tensor_, uint64_t{index} * sizeof(T), &converted, sizeof(T));
    }
    LocalTensor operator[](const uint32_t offset) const {
        const uint64_t bytes = uint64_t{offset} * sizeof(T);
        vnpu::device::Slice(tensor_, bytes);
        LocalTensor slice = *this;
        slice.tensor_.address += static_cast<uint32_t>(bytes);
        slice.tensor_.bytes -= static_cast<uint32_t>(bytes);
        return slice;
    }
    template <typename U>
    LocalTensor<U> ReinterpretCast() const {
        return LocalTensor<U>(tensor_);
    }
    int32_t GetPosition() const { return static_cast<int32_t>(tensor_.position); }
    void SetSize(const uint32_t size) { tensor_.bytes = size * static_cast<uint32_t>(sizeof(T)); }
    uint32_t GetSize() const { return tensor_.bytes / static_cast<uint32_t>(sizeof(T)); }

    const vnpu::device::UbTensor& Place() const { return tensor_; }

private:
    vnpu::device::UbTensor tensor_;
};

}  // namespace AscendC

#endif
