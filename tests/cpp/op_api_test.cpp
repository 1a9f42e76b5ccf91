// The two-phase C API against the contract: codes, layouts, scalars, executors, and what the stand-in itself
// must refuse.
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "acl/acl.h"
#include "aclnn_hardtanh_backward.h"
#include "aclnn_kernels/contiguous.h"
#include "check.h"
#include "host.h"
#include "opdev/make_op_executor.h"
#include "virtual_npu.h"

namespace {

using Dims = std::vector<int64_t>;
using Bits = std::vector<uint32_t>;  // one element each, in its low bits

constexpr aclDataType kDataTypes[] = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16};
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr int kNullPointer = 161001;
constexpr int kInvalid = 161002;
constexpr int kInner = 561000;
constexpr int kInnerNull = 561103;
constexpr int kVectorCoreException = 507035;

uint32_t FloatBits(float value) {
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof(bits));
    return bits;
}

float FromBits(aclDataType dataType, uint32_t bits) {
    if (dataType == ACL_FLOAT16) return aclFloat16ToFloat(static_cast<aclFloat16>(bits));
    bits <<= dataType == ACL_BF16 ? 16 : 0;
    float value;
    std::memcpy(&value, &bits, sizeof(value));
    return value;
}

// Rounded toward zero for bfloat16, which is enough here.
uint32_t ToBits(aclDataType dataType, float value) {
    if (dataType == ACL_FLOAT16) return aclFloatToFloat16(value);
    return FloatBits(value) >> (dataType == ACL_BF16 ? 16 : 0);
}

int64_t Product(const Dims& dims) {
    return std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<int64_t>());
}

struct Layout {
    Dims dims;
    Dims strides;
    int64_t offset;
    Dims storage;

    // Calls use with the storage index of each element, in order.
    void Each(const std::function<void(int64_t)>& use, size_t dim = 0, int64_t index = 0) const {
        if (dim == dims.size()) return use(offset + index);
        for (int64_t i = 0; i < dims[dim]; ++i) Each(use, dim + 1, index + i * strides[dim]);
    }
};

Layout Contiguous(const Dims& dims, int64_t offset = 0, int64_t behind = 0) {
    Dims strides(dims.size(), 1);
    for (size_t i = dims.size(); i-- > 1;) strides[i - 1] = strides[i] * dims[i];
    return {dims, strides, offset, offset + behind == 0 ? dims : Dims{offset + Product(dims) + behind}};
}

// A stream on a device, for one test.
class Device {
public:
    explicit Device(const char* soc = "ascend910b1") {
        vnpuSetPlatform(soc, 0, 0);
        CHECK_EQ(aclInit(nullptr), 0);
        CHECK_EQ(aclrtSetDevice(0), 0);
        CHECK_EQ(aclrtCreateStream(&stream), 0);
    }
    ~Device() {
        aclrtDestroyStream(stream);
        aclrtResetDevice(0);
        aclFinalize();
    }
    aclrtStream stream = nullptr;
};

class Buffer {
public:
    explicit Buffer(size_t bytes) {
        if (bytes != 0) CHECK_EQ(aclrtMalloc(&address, bytes, ACL_MEM_MALLOC_HUGE_FIRST), 0);
    }
    Buffer(const Buffer&) = delete;
    ~Buffer() {
        if (address != nullptr) aclrtFree(address);
    }
    void* address = nullptr;
};

class Tensor {
public:
    Tensor(aclDataType type, const Layout& where, const Bits& storage)
        : dataType(type), layout(where), size(aclDataTypeSize(type)), buffer(storage.size() * size) {
        Write(buffer, storage);
        Create(buffer.address, ACL_FORMAT_ND);
    }
    // Without memory.
    Tensor(aclDataType type, const Layout& where)
        : dataType(type), layout(where), size(aclDataTypeSize(type)), buffer(0) {
        Create(nullptr, ACL_FORMAT_ND);
    }
    ~Tensor() {
        if (tensor != nullptr) aclDestroyTensor(tensor);
    }
    void Create(void* address, aclFormat format) {
        if (tensor != nullptr) aclDestroyTensor(tensor);
        tensor =
            aclCreateTensor(layout.dims.data(), layout.dims.size(), dataType, layout.strides.data(),
                            layout.offset, format, layout.storage.data(), layout.storage.size(), address);
    }
    void Write(const Buffer& to, const Bits& storage) const {
        std::vector<uint8_t> bytes(storage.size() * size);
        for (size_t i = 0; i < storage.size(); ++i) std::memcpy(&bytes[i * size], &storage[i], size);
        if (!bytes.empty())
            CHECK_EQ(
                aclrtMemcpy(to.address, bytes.size(), bytes.data(), bytes.size(), ACL_MEMCPY_HOST_TO_DEVICE),
                0);
    }
    Bits Read(const Buffer& from) const {
        std::vector<uint8_t> bytes(static_cast<size_t>(Product(layout.storage)) * size);
        if (!bytes.empty())
            CHECK_EQ(aclrtMemcpy(bytes.data(), bytes.size(), from.address, bytes.size(),
                                 ACL_MEMCPY_DEVICE_TO_HOST),
                     0);
        Bits storage(bytes.size() / size, 0);
        for (size_t i = 0; i < storage.size(); ++i) std::memcpy(&storage[i], &bytes[i * size], size);
        return storage;
    }
    operator aclTensor*() const { return tensor; }

    aclDataType dataType;
    Layout layout;
    size_t size;
    Buffer buffer;
    aclTensor* tensor = nullptr;
};

class Scalar {
public:
    Scalar(float value) : scalar(aclCreateScalar(&value, ACL_FLOAT)) {}
    template <typename T>
    Scalar(T value, aclDataType dataType) : scalar(aclCreateScalar(&value, dataType)) {}
    ~Scalar() {
        if (scalar != nullptr) aclDestroyScalar(scalar);
    }
    operator aclScalar*() const { return scalar; }
    aclScalar* scalar;
};

struct Phase1 {
    uint64_t workspaceSize = 12345;
    aclOpExecutor* executor = nullptr;
    aclnnStatus status;

    Phase1(const aclTensor* grad, const aclTensor* self, const aclScalar* min, const aclScalar* max,
           aclTensor* out)
        : status(
              aclnnHardtanhBackwardGetWorkspaceSize(grad, self, min, max, out, &workspaceSize, &executor)) {}
};

int Phase2(const Device& device, const Phase1& phase1) {
    Buffer workspace(phase1.workspaceSize);
    const aclnnStatus status =
        aclnnHardtanhBackward(workspace.address, phase1.workspaceSize, phase1.executor, device.stream);
    const aclError error = aclrtSynchronizeStream(device.stream);
    return status != 0 ? status : error;
}

int Call(const Device& device, const aclTensor* grad, const aclTensor* self, const aclScalar* min,
         const aclScalar* max, aclTensor* out) {
    const Phase1 phase1(grad, self, min, max, out);
    return phase1.status != 0 ? phase1.status : Phase2(device, phase1);
}

Bits Gather(const Layout& layout, const Bits& storage) {
    Bits values;
    layout.Each([&](int64_t index) { values.push_back(storage[static_cast<size_t>(index)]); });
    return values;
}

// What the storage of out holds afterwards.
Bits Expected(aclDataType dataType, const Bits& self, const Bits& grad, float min, float max,
              const Layout& out, Bits storage) {
    size_t i = 0;
    out.Each([&](int64_t index) {
        const float value = FromBits(dataType, self[i]);
        storage[static_cast<size_t>(index)] = value > max || value < min ? 0 : grad[i];
        ++i;
    });
    return storage;
}

// Every pattern, NaNs, infinities and subnormals among them; seed makes another sequence.
Bits Patterns(aclDataType dataType, int64_t count, uint32_t seed) {
    Bits bits;
    const uint32_t mask = dataType == ACL_FLOAT ? 0xFFFFFFFF : 0xFFFF;
    for (int64_t i = 0; i < count; ++i) {
        seed = seed * 1664525 + 1013904223;
        // Every second one lies around the usual bounds.
        bits.push_back(i % 2 == 0 ? (seed >> 3 ^ seed << 13) & mask
                                  : ToBits(dataType, static_cast<float>(seed >> 8) / (1 << 22) - 2));
    }
    return bits;
}

// Runs the operator over these layouts and compares the whole storage of out.
void CheckLayouts(const Device& device, aclDataType dataType, const Layout& self, const Layout& grad,
                  const Layout& out, float min = -1, float max = 1) {
    const Bits selfStorage = Patterns(dataType, Product(self.storage), 1);
    const Bits gradStorage = Patterns(dataType, Product(grad.storage), 2);
    const Bits outStorage = Patterns(dataType, Product(out.storage), 3);
    Tensor selfTensor(dataType, self, selfStorage);
    Tensor gradTensor(dataType, grad, gradStorage);
    Tensor outTensor(dataType, out, outStorage);
    CHECK_EQ(Call(device, gradTensor, selfTensor, Scalar(min), Scalar(max), outTensor), 0);
    CHECK(outTensor.Read(outTensor.buffer) == Expected(dataType, Gather(self, selfStorage),
                                                       Gather(grad, gradStorage), min, max, out, outStorage));
}

// Lines of the call log since the object was made.
class Calls {
public:
    Calls() : before_(std::string(vnpuCallLog()).size()) {}
    std::string Since() const { return std::string(vnpuCallLog()).substr(before_); }

private:
    size_t before_;
};

std::string ErrorText() {
    const char* text = aclGetRecentErrMsg();
    return text == nullptr ? "" : text;
}

bool Contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

// Sixteen patterns of each kind, contiguous.
struct Sixteen {
    explicit Sixteen(aclDataType dataType = ACL_FLOAT)
        : self(dataType, Contiguous({4, 4}), Patterns(dataType, 16, 1)),
          grad(dataType, Contiguous({4, 4}), Patterns(dataType, 16, 2)),
          out(dataType, Contiguous({4, 4}), Patterns(dataType, 16, 3)) {}
    Tensor self;
    Tensor grad;
    Tensor out;
    Scalar min{-1.0f};
    Scalar max{1.0f};
};

const Layout kTransposed = {{4, 6}, {1, 4}, 0, {6, 4}};
const Layout kSliced = {{4, 6}, {20, 2}, 23, {6, 20}};
const Layout kReversedDims = {{2, 3, 4}, {1, 2, 6}, 0, {4, 3, 2}};

}  // namespace

// ---- Codes

TEST(null_pointers) {
    const Device device;
    const Sixteen all;
    uint64_t workspaceSize = 0;
    aclOpExecutor* executor = nullptr;
    const auto call = [&](int missing) {
        const auto unless = [missing](int place, auto* pointer) {
            return place == missing ? nullptr : pointer;
        };
        return aclnnHardtanhBackwardGetWorkspaceSize(unless(0, all.grad.tensor), unless(1, all.self.tensor),
                                                     unless(2, all.min.scalar), unless(3, all.max.scalar),
                                                     unless(4, all.out.tensor), unless(5, &workspaceSize),
                                                     unless(6, &executor));
    };
    for (int missing = 0; missing < 7; ++missing) CHECK_EQ(call(missing), kNullPointer);
    CHECK(executor == nullptr);
    CHECK_EQ(call(7), 0);
    CHECK_EQ(aclDestroyAclOpExecutor(executor), 0);
    CHECK_EQ(aclnnHardtanhBackward(nullptr, 0, nullptr, device.stream), kNullPointer);
}

TEST(unsupported_dtypes) {
    const Device device;
    const Sixteen good;
    for (const aclDataType dataType :
         {ACL_DOUBLE, ACL_INT8, ACL_INT16, ACL_INT32, ACL_INT64, ACL_UINT8, ACL_UINT16, ACL_UINT32,
          ACL_UINT64, ACL_BOOL, ACL_COMPLEX64, ACL_DT_UNDEFINED}) {
        const Tensor bad(dataType, Contiguous({4, 4}));
        CHECK_EQ(Phase1(bad, good.self, good.min, good.max, good.out).status, kInvalid);
        CHECK_EQ(Phase1(good.grad, bad, good.min, good.max, good.out).status, kInvalid);
        CHECK_EQ(Phase1(good.grad, good.self, good.min, good.max, bad).status, kInvalid);
        CHECK_EQ(Phase1(bad, bad, good.min, good.max, bad).status, kInvalid);
    }
}

TEST(different_dtypes) {
    const Device device;
    for (const aclDataType first : kDataTypes) {
        for (const aclDataType second : kDataTypes) {
            if (first == second) continue;
            const Sixteen good(first);
            const Sixteen other(second);
            CHECK_EQ(Phase1(other.grad, good.self, good.min, good.max, good.out).status, kInvalid);
            CHECK_EQ(Phase1(good.grad, other.self, good.min, good.max, good.out).status, kInvalid);
            CHECK_EQ(Phase1(good.grad, good.self, good.min, good.max, other.out).status, kInvalid);
        }
    }
}

TEST(different_shapes) {
    const Device device;
    const Sixteen good;
    for (const Dims& dims :
         {Dims{4, 5}, Dims{16}, Dims{4, 4, 1}, Dims{1, 4, 4}, Dims{2, 8}, Dims{}, Dims{0}}) {
        const Tensor bad(ACL_FLOAT, Contiguous(dims));
        CHECK_EQ(Phase1(bad, good.self, good.min, good.max, good.out).status, kInvalid);
        CHECK_EQ(Phase1(good.grad, bad, good.min, good.max, good.out).status, kInvalid);
        CHECK_EQ(Phase1(good.grad, good.self, good.min, good.max, bad).status, kInvalid);
        CHECK_EQ(Phase1(good.grad, bad, good.min, good.max, bad).status, kInvalid);
    }
}

TEST(nine_dimensions) {
    const Device device;
    const Scalar min(-1.0f), max(1.0f);
    const Layout eight = Contiguous({1, 2, 1, 2, 1, 2, 1, 2});
    const Layout nine = Contiguous({1, 2, 1, 2, 1, 2, 1, 2, 1});
    CheckLayouts(device, ACL_FLOAT, eight, eight, eight);
    const Tensor a(ACL_FLOAT, nine), b(ACL_FLOAT, nine), c(ACL_FLOAT, nine);
    CHECK_EQ(Phase1(a, b, min, max, c).status, kInvalid);
    CHECK(Contains(ErrorText(), "9"));
    const Tensor self(ACL_FLOAT, eight);
    CHECK_EQ(Phase1(a, self, min, max, c).status, kInvalid);
}

TEST(order_of_checks) {
    const Device device;
    const Sixteen good;
    const Tensor wrongType(ACL_INT32, Contiguous({4, 4}));
    const Tensor wrongShape(ACL_FLOAT, Contiguous({5}));
    const Tensor wrongBoth(ACL_INT32, Contiguous({5}));
    // Null before dtype, and dtype before shape, whatever the argument.
    CHECK_EQ(Phase1(wrongBoth, good.self, good.min, nullptr, good.out).status, kNullPointer);
    CHECK_EQ(Phase1(wrongBoth, good.self, good.min, good.max, nullptr).status, kNullPointer);
    CHECK_EQ(Phase1(wrongShape, good.self, good.min, good.max, wrongType).status, kInvalid);
    CHECK(Contains(ErrorText(), "data type"));
    CHECK_EQ(Phase1(wrongShape, good.self, good.min, good.max, good.out).status, kInvalid);
    CHECK(Contains(ErrorText(), "shape"));
}

TEST(dtypes_of_socs) {
    for (const char* soc : {"ascend910b2", "ascend910_9391"}) {
        const Device device(soc);
        for (const aclDataType dataType : kDataTypes)
            CheckLayouts(device, dataType, Contiguous({100}), Contiguous({100}), Contiguous({100}));
    }
    const Device device("ascend910a");
    const Sixteen bfloat16(ACL_BF16);
    CHECK_EQ(Phase1(bfloat16.grad, bfloat16.self, bfloat16.min, bfloat16.max, bfloat16.out).status, kInvalid);
    CHECK(Contains(ErrorText(), "DT_BF16"));
    // The others pass the checks, and then there is no kernel for this SoC.
    for (const aclDataType dataType : {ACL_FLOAT, ACL_FLOAT16}) {
        const Sixteen all(dataType);
        CHECK_EQ(Phase1(all.grad, all.self, all.min, all.max, all.out).status, kInnerNull);
        CHECK(Contains(ErrorText(), "561112"));
    }
}

// ---- Results

TEST(worked_example) {
    const Device device;
    const float self[] = {1, 1, 1, 2, 1, 2, 3, 3};
    const float expected[] = {0, 0, 0, 3, 0, 5, 0, 0};
    for (const aclDataType dataType : kDataTypes) {
        Bits selfBits, gradBits, expectedBits;
        for (int i = 0; i < 8; ++i) {
            selfBits.push_back(ToBits(dataType, self[i]));
            gradBits.push_back(ToBits(dataType, static_cast<float>(i)));
            expectedBits.push_back(ToBits(dataType, expected[i]));
        }
        const Layout layout = Contiguous({4, 2});
        Tensor selfTensor(dataType, layout, selfBits);
        Tensor gradTensor(dataType, layout, gradBits);
        Tensor out(dataType, layout, Bits(8, 7));
        CHECK_EQ(Call(device, gradTensor, selfTensor, Scalar(1.2f), Scalar(2.4f), out), 0);
        CHECK(out.Read(out.buffer) == expectedBits);
    }
}

TEST(empty_tensors) {
    const Device device;
    const Scalar min(-1.0f), max(1.0f);
    for (const Dims& dims : {Dims{0}, Dims{3, 0, 5}, Dims{0, 0}}) {
        for (const aclDataType dataType : kDataTypes) {
            const Calls calls;
            const Tensor grad(dataType, Contiguous(dims)), self(dataType, Contiguous(dims)),
                out(dataType, Contiguous(dims));
            const Phase1 phase1(grad, self, min, max, out);
            CHECK_EQ(phase1.status, 0);
            CHECK_EQ(phase1.workspaceSize, 0u);
            CHECK_EQ(Phase2(device, phase1), 0);
            CHECK_EQ(calls.Since(), "aclnnHardtanhBackwardGetWorkspaceSize\naclnnHardtanhBackward\n");
        }
    }
}

TEST(no_dimensions) {
    const Device device;
    for (const aclDataType dataType : kDataTypes)
        CheckLayouts(device, dataType, Contiguous({}), Contiguous({}), Contiguous({}));
}

TEST(contiguous_tensors_are_not_copied) {
    const Device device;
    for (const aclDataType dataType : kDataTypes) {
        const Sixteen all(dataType);
        const Calls calls;
        const Phase1 phase1(all.grad, all.self, all.min, all.max, all.out);
        CHECK_EQ(phase1.status, 0);
        CHECK_EQ(phase1.workspaceSize, 0u);
        CHECK_EQ(Phase2(device, phase1), 0);
        CHECK_EQ(calls.Since(),
                 "aclnnHardtanhBackwardGetWorkspaceSize\naclnnHardtanhBackward\nHardtanhGrad\n");
    }
}

TEST(many_cores) {
    const Device device;
    for (const aclDataType dataType : kDataTypes) {
        const Layout layout = Contiguous({7, 30011});
        CheckLayouts(device, dataType, layout, layout, layout);
    }
}

TEST(formats) {
    const Device device;
    for (const aclDataType dataType : kDataTypes) {
        for (const aclFormat format : {ACL_FORMAT_ND, ACL_FORMAT_NCHW, ACL_FORMAT_NHWC, ACL_FORMAT_HWCN,
                                       ACL_FORMAT_NDHWC, ACL_FORMAT_NCDHW}) {
            const Layout layout = Contiguous({2, 3, 4, 5, 6});
            const Bits self = Patterns(dataType, 720, 1), grad = Patterns(dataType, 720, 2);
            Tensor selfTensor(dataType, layout, self), gradTensor(dataType, layout, grad),
                out(dataType, layout, grad);
            for (Tensor* tensor : {&selfTensor, &gradTensor, &out})
                tensor->Create(tensor->buffer.address, format);
            CHECK_EQ(Call(device, gradTensor, selfTensor, Scalar(-1.0f), Scalar(1.0f), out), 0);
            CHECK(out.Read(out.buffer) == Expected(dataType, self, grad, -1, 1, layout, grad));
        }
    }
    // A format of the hardware's own has no kernel.
    Sixteen all;
    all.self.Create(all.self.buffer.address, ACL_FORMAT_FRACTAL_NZ);
    CHECK_EQ(Phase1(all.grad, all.self, all.min, all.max, all.out).status, kInnerNull);
}

TEST(views_of_inputs) {
    const Device device;
    const Layout broadcast = {{4, 6}, {0, 1}, 0, {6}};
    const Layout single = {{4, 6}, {0, 0}, 3, {5}};
    for (const aclDataType dataType : kDataTypes) {
        for (const Layout& view : {kTransposed, kSliced, broadcast, single}) {
            CheckLayouts(device, dataType, view, Contiguous({4, 6}), Contiguous({4, 6}));
            CheckLayouts(device, dataType, Contiguous({4, 6}), view, Contiguous({4, 6}));
            CheckLayouts(device, dataType, view, view, Contiguous({4, 6}));
        }
    }
    CheckLayouts(device, ACL_FLOAT, kReversedDims, Contiguous({2, 3, 4}), kReversedDims);
}

TEST(views_of_out) {
    const Device device;
    for (const aclDataType dataType : kDataTypes) {
        for (const Layout& view : {kTransposed, kSliced}) {
            CheckLayouts(device, dataType, Contiguous({4, 6}), Contiguous({4, 6}), view);
            CheckLayouts(device, dataType, view, kTransposed, view);
        }
    }
    const Calls calls;
    CheckLayouts(device, ACL_FLOAT, kTransposed, kSliced, kTransposed);
    CHECK_EQ(
        calls.Since(),
        "aclnnHardtanhBackwardGetWorkspaceSize\naclnnHardtanhBackward\nAsStrided\nAsStrided\nHardtanhGrad\n"
        "ViewCopy\n");
}

TEST(views_at_any_element) {
    const Device device;
    for (const aclDataType dataType : kDataTypes) {
        for (int64_t offset = 0; offset < 33; ++offset) {
            CheckLayouts(device, dataType, Contiguous({77}, offset, 5), Contiguous({77}, 2 * offset, 3),
                         Contiguous({77}, 32 - offset, 7));
        }
    }
}

TEST(in_place) {
    const Device device;
    for (const aclDataType dataType : kDataTypes) {
        for (const Layout& layout : {Contiguous({16}), Contiguous({16}, 3, 2), kTransposed}) {
            const int64_t size = Product(layout.storage);
            const Bits self = Patterns(dataType, size, 1), grad = Patterns(dataType, size, 2);
            Tensor selfTensor(dataType, layout, self), gradTensor(dataType, layout, grad);
            CHECK_EQ(Call(device, gradTensor, selfTensor, Scalar(-1.0f), Scalar(1.0f), gradTensor), 0);
            CHECK(gradTensor.Read(gradTensor.buffer) ==
                  Expected(dataType, Gather(layout, self), Gather(layout, grad), -1, 1, layout, grad));
            // Another object for the same memory, that of self.
            Tensor out(dataType, layout);
            out.Create(selfTensor.buffer.address, ACL_FORMAT_ND);
            const Bits before = gradTensor.Read(gradTensor.buffer);
            CHECK_EQ(Call(device, gradTensor, selfTensor, Scalar(-1.0f), Scalar(1.0f), out), 0);
            CHECK(selfTensor.Read(selfTensor.buffer) ==
                  Expected(dataType, Gather(layout, self), Gather(layout, before), -1, 1, layout, self));
        }
    }
}

TEST(special_bounds) {
    const Device device;
    const float bounds[][2] = {{kNan, 1},
                               {-1, kNan},
                               {kNan, kNan},
                               {-kInfinity, kInfinity},
                               {1, -1},
                               {kInfinity, 1},
                               {0, 0},
                               {-0.0f, 0},
                               {0.7f, 0.8f},
                               {-kInfinity, 0},
                               {-65504, 65504},
                               {1e-40f, 2e-40f},
                               {kInfinity, kInfinity},
                               {-3.4e38f, 3.4e38f}};
    for (const aclDataType dataType : kDataTypes) {
        for (const auto& bound : bounds) {
            const Layout layout = Contiguous({3000});
            CheckLayouts(device, dataType, layout, layout, layout, bound[0], bound[1]);
        }
    }
}

TEST(special_values) {
    const Device device;
    for (const aclDataType dataType : kDataTypes) {
        const Bits values = {ToBits(dataType, 0),          ToBits(dataType, -0.0f),
                             ToBits(dataType, 1),          ToBits(dataType, -1),
                             ToBits(dataType, kNan),       ToBits(dataType, kInfinity),
                             ToBits(dataType, -kInfinity), 1,
                             ToBits(dataType, kNan) | 1,   ToBits(dataType, 65280)};
        Bits self, grad;
        for (const uint32_t value : values) {
            for (const uint32_t other : values) {
                self.push_back(value);
                grad.push_back(other);
            }
        }
        const Layout layout = Contiguous({static_cast<int64_t>(self.size())});
        Tensor selfTensor(dataType, layout, self), gradTensor(dataType, layout, grad),
            out(dataType, layout, grad);
        CHECK_EQ(Call(device, gradTensor, selfTensor, Scalar(-1.0f), Scalar(1.0f), out), 0);
        CHECK(out.Read(out.buffer) == Expected(dataType, self, grad, -1, 1, layout, grad));
    }
}

TEST(bounds_are_not_rounded) {
    const Device device;
    // Neighbours of 0.7 in bfloat16.
    const Bits self = {0x3F33, 0x3F34}, grad = {0x3F80, 0x3F80};
    CHECK_EQ(FromBits(ACL_BF16, self[0]), 0.69921875f);
    Tensor selfTensor(ACL_BF16, Contiguous({2}), self), gradTensor(ACL_BF16, Contiguous({2}), grad);
    Tensor out(ACL_BF16, Contiguous({2}), {1, 1});
    CHECK_EQ(Call(device, gradTensor, selfTensor, Scalar(-0.7f), Scalar(0.7f), out), 0);
    CHECK(out.Read(out.buffer) == (Bits{0x3F80, 0}));
}

TEST(min_and_max_arrive) {
    const Device device;
    // Every call has its own bounds, while others wait on the stream.
    const int kCalls = 20;
    const Layout layout = Contiguous({101});
    Bits self;
    for (int i = 0; i < 101; ++i) self.push_back(FloatBits(static_cast<float>(i) / 10));
    const Bits grad = Patterns(ACL_FLOAT, 101, 5);
    Tensor selfTensor(ACL_FLOAT, layout, self), gradTensor(ACL_FLOAT, layout, grad);
    std::vector<std::unique_ptr<Tensor>> outs;
    for (int i = 0; i < kCalls; ++i) {
        outs.push_back(std::make_unique<Tensor>(ACL_FLOAT, layout, grad));
        const Scalar min(static_cast<float>(i) / 4), max(static_cast<float>(i) / 2);
        const Phase1 phase1(gradTensor, selfTensor, min, max, *outs.back());
        CHECK_EQ(phase1.status, 0);
        CHECK_EQ(aclnnHardtanhBackward(nullptr, 0, phase1.executor, device.stream), 0);
    }
    CHECK_EQ(aclrtSynchronizeStream(device.stream), 0);
    for (int i = 0; i < kCalls; ++i) {
        CHECK(outs[i]->Read(outs[i]->buffer) == Expected(ACL_FLOAT, self, grad, static_cast<float>(i) / 4,
                                                         static_cast<float>(i) / 2, layout, grad));
    }
}

TEST(scalars_of_any_type) {
    const Device device;
    const Layout layout = Contiguous({4000});
    const Bits self = Patterns(ACL_FLOAT, 4000, 1), grad = Patterns(ACL_FLOAT, 4000, 2);
    Tensor selfTensor(ACL_FLOAT, layout, self), gradTensor(ACL_FLOAT, layout, grad),
        out(ACL_FLOAT, layout, grad);
    const auto check = [&](const aclScalar* min, const aclScalar* max, float minValue, float maxValue) {
        CHECK_EQ(Call(device, gradTensor, selfTensor, min, max, out), 0);
        CHECK(out.Read(out.buffer) == Expected(ACL_FLOAT, self, grad, minValue, maxValue, layout, grad));
    };
    check(Scalar(-0.7f), Scalar(0.7f), -0.7f, 0.7f);
    check(Scalar(-0.7, ACL_DOUBLE), Scalar(0.7, ACL_DOUBLE), -0.7f, 0.7f);
    const aclFloat16 half = aclFloatToFloat16(0.7f);
    check(Scalar(-0.7f), Scalar(half, ACL_FLOAT16), -0.7f, aclFloat16ToFloat(half));
    check(Scalar(-0.7f), Scalar(uint16_t{0x3F33}, ACL_BF16), -0.7f, 0.69921875f);
    check(Scalar(int8_t{-1}, ACL_INT8), Scalar(uint8_t{1}, ACL_UINT8), -1, 1);
    check(Scalar(int16_t{-1}, ACL_INT16), Scalar(uint16_t{2}, ACL_UINT16), -1, 2);
    check(Scalar(int32_t{-2}, ACL_INT32), Scalar(uint32_t{1}, ACL_UINT32), -2, 1);
    check(Scalar(int64_t{-1}, ACL_INT64), Scalar(uint64_t{1}, ACL_UINT64), -1, 1);
    check(Scalar(false, ACL_BOOL), Scalar(true, ACL_BOOL), 0, 1);
    // Mixed, and a double beyond float32.
    check(Scalar(int32_t{-1}, ACL_INT32), Scalar(1e300, ACL_DOUBLE), -1, kInfinity);
}

// ---- Executors

TEST(repeatable_executor) {
    const Device device;
    for (const aclDataType dataType : kDataTypes) {
        for (const Layout& layout : {Contiguous({4, 6}), Contiguous({4, 6}, 3, 1), kTransposed}) {
            // As MindSpore's graph mode does: addresses come after phase 1.
            const Tensor grad(dataType, layout), self(dataType, layout), out(dataType, layout);
            const Phase1 phase1(grad, self, Scalar(-1.0f), Scalar(1.0f), out);
            CHECK_EQ(phase1.status, 0);
            CHECK_EQ(aclSetAclOpExecutorRepeatable(phase1.executor), 0);
            const int64_t size = Product(layout.storage);
            const size_t bytes = static_cast<size_t>(size) * aclDataTypeSize(dataType);
            for (uint32_t run = 0; run < 3; ++run) {
                const Buffer gradBuffer(bytes), selfBuffer(bytes), outBuffer(bytes);
                const Bits gradBits = Patterns(dataType, size, 3 * run),
                           selfBits = Patterns(dataType, size, 3 * run + 1);
                grad.Write(gradBuffer, gradBits);
                self.Write(selfBuffer, selfBits);
                out.Write(outBuffer, gradBits);
                CHECK_EQ(aclSetTensorAddr(phase1.executor, 0, grad, gradBuffer.address), 0);
                if (run == 1) {
                    CHECK_EQ(aclSetInputTensorAddr(phase1.executor, 1, self, selfBuffer.address), 0);
                    CHECK_EQ(aclSetOutputTensorAddr(phase1.executor, 0, out, outBuffer.address), 0);
                } else {
                    CHECK_EQ(aclSetTensorAddr(phase1.executor, 1, self, selfBuffer.address), 0);
                    CHECK_EQ(aclSetTensorAddr(phase1.executor, 2, out, outBuffer.address), 0);
                }
                CHECK_EQ(Phase2(device, phase1), 0);
                CHECK(out.Read(outBuffer) == Expected(dataType, Gather(layout, selfBits),
                                                      Gather(layout, gradBits), -1, 1, layout, gradBits));
            }
            CHECK_EQ(aclDestroyAclOpExecutor(phase1.executor), 0);
        }
    }
}

TEST(repeatable_executor_of_an_empty_tensor) {
    const Device device;
    const Tensor grad(ACL_FLOAT, Contiguous({0})), self(ACL_FLOAT, Contiguous({0})),
        out(ACL_FLOAT, Contiguous({0}));
    const Phase1 phase1(grad, self, Scalar(-1.0f), Scalar(1.0f), out);
    CHECK_EQ(aclSetAclOpExecutorRepeatable(phase1.executor), 0);
    for (int run = 0; run < 3; ++run) CHECK_EQ(Phase2(device, phase1), 0);
    CHECK_EQ(aclDestroyAclOpExecutor(phase1.executor), 0);
}

TEST(threads_with_streams_of_their_own) {
    const Device device;
    std::vector<std::thread> threads;
    std::vector<int> right(4, 0);
    for (int thread = 0; thread < 4; ++thread) {
        threads.emplace_back([thread, &right] {
            aclrtStream stream = nullptr;
            if (aclrtSetDevice(0) != 0 || aclrtCreateStream(&stream) != 0) return;
            const aclDataType dataType = kDataTypes[thread % 3];
            const float min = -1.0f / static_cast<float>(thread + 1), max = 0.5f;
            for (uint32_t run = 0; run < 25; ++run) {
                const Layout layout = run % 2 == 0 ? Contiguous({1000 + run}) : kTransposed;
                const int64_t size = Product(layout.storage);
                const Bits self = Patterns(dataType, size, run), grad = Patterns(dataType, size, run + 1000);
                Tensor selfTensor(dataType, layout, self), gradTensor(dataType, layout, grad);
                Tensor out(dataType, layout, grad);
                const Phase1 phase1(gradTensor, selfTensor, Scalar(min), Scalar(max), out);
                const Buffer workspace(phase1.workspaceSize);
                const bool ok = phase1.status == 0 &&
                                aclnnHardtanhBackward(workspace.address, phase1.workspaceSize,
                                                      phase1.executor, stream) == 0 &&
                                aclrtSynchronizeStream(stream) == 0;
                right[thread] +=
                    ok && out.Read(out.buffer) == Expected(dataType, Gather(layout, self),
                                                           Gather(layout, grad), min, max, layout, grad);
            }
            aclrtDestroyStream(stream);
        });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(right == std::vector<int>(4, 25));
}

TEST(wrong_addresses_are_refused) {
    const Device device;
    const Sixteen all;
    const Phase1 phase1(all.grad, all.self, all.min, all.max, all.out);
    void* const address = all.grad.buffer.address;
    CHECK_EQ(aclSetTensorAddr(phase1.executor, 0, all.grad, address), kInner);  // not repeatable yet
    CHECK_EQ(aclSetAclOpExecutorRepeatable(phase1.executor), 0);
    CHECK_EQ(aclSetTensorAddr(phase1.executor, 0, all.grad, address), 0);
    CHECK_EQ(aclSetTensorAddr(phase1.executor, 3, all.grad, address), kInvalid);
    CHECK_EQ(aclSetTensorAddr(phase1.executor, 1, all.grad, address), kInvalid);
    CHECK_EQ(aclSetTensorAddr(phase1.executor, 2, all.self, address), kInvalid);
    CHECK_EQ(aclSetInputTensorAddr(phase1.executor, 2, all.out, address), kInvalid);
    CHECK_EQ(aclSetOutputTensorAddr(phase1.executor, 2, all.out, address), kInvalid);
    CHECK_EQ(aclSetTensorAddr(nullptr, 0, all.grad, address), kInnerNull);
    CHECK_EQ(aclSetTensorAddr(phase1.executor, 0, nullptr, address), kInnerNull);
    CHECK_EQ(aclDestroyAclOpExecutor(phase1.executor), 0);
    CHECK_EQ(aclSetTensorAddr(phase1.executor, 0, all.grad, address), kInner);
}

TEST(second_run_is_refused) {
    const Device device;
    const Sixteen all;
    const Phase1 phase1(all.grad, all.self, all.min, all.max, all.out);
    CHECK_EQ(Phase2(device, phase1), 0);
    CHECK_EQ(Phase2(device, phase1), kInner);
    CHECK_EQ(aclSetAclOpExecutorRepeatable(phase1.executor), kInner);
    CHECK_EQ(aclDestroyAclOpExecutor(phase1.executor), kInner);
    CHECK_EQ(aclSetAclOpExecutorRepeatable(nullptr), kInnerNull);
    CHECK_EQ(aclDestroyAclOpExecutor(nullptr), kInnerNull);
}

TEST(workspaces_that_do_not_do) {
    const Device device;
    const Layout layout = kTransposed;
    const Bits bits = Patterns(ACL_FLOAT, 24, 1);
    Tensor self(ACL_FLOAT, layout, bits), grad(ACL_FLOAT, layout, bits), out(ACL_FLOAT, layout, bits);
    const Scalar min(-1.0f), max(1.0f);
    const auto run = [&](uint64_t missing, bool isNull) {
        const Phase1 phase1(grad, self, min, max, out);
        CHECK_EQ(phase1.status, 0);
        // Two copies of the inputs and the result, each of 96 bytes in a step of 512.
        CHECK_EQ(phase1.workspaceSize, 3 * 512u);
        const Buffer workspace(phase1.workspaceSize);
        const int status =
            aclnnHardtanhBackward(isNull ? nullptr : workspace.address, phase1.workspaceSize - missing,
                                  phase1.executor, device.stream);
        CHECK_EQ(aclrtSynchronizeStream(device.stream), 0);
        CHECK(status == 0 || vnpu::LiveObjects().executors == 0);
        return status;
    };
    CHECK_EQ(run(0, false), 0);
    CHECK_EQ(run(0, true), kNullPointer);
    CHECK_EQ(run(1, false), kInvalid);
    CHECK_EQ(run(3 * 512, true), kInvalid);
}

TEST(a_shorter_workspace_than_announced_is_an_exception) {
    const Device device;
    Tensor self(ACL_FLOAT, kTransposed, Patterns(ACL_FLOAT, 24, 1));
    Tensor out(ACL_FLOAT, Contiguous({4, 6}), Patterns(ACL_FLOAT, 24, 1));
    const Phase1 phase1(self, self, Scalar(-1.0f), Scalar(1.0f), out);
    const Buffer workspace(8);
    CHECK_EQ(aclnnHardtanhBackward(workspace.address, phase1.workspaceSize, phase1.executor, device.stream),
             0);
    CHECK_EQ(aclrtSynchronizeStream(device.stream), kVectorCoreException);
}

TEST(memory_that_is_gone_is_an_exception) {
    for (const int which : {0, 1, 2}) {
        for (const Layout& layout : {Contiguous({4, 6}), kTransposed}) {
            const Device device;
            const Bits bits = Patterns(ACL_FLOAT, 24, 1);
            Tensor self(ACL_FLOAT, layout, bits), grad(ACL_FLOAT, layout, bits), out(ACL_FLOAT, layout, bits);
            const Phase1 phase1(grad, self, Scalar(-1.0f), Scalar(1.0f), out);
            Tensor* const tensors[] = {&self, &grad, &out};
            CHECK_EQ(aclrtFree(tensors[which]->buffer.address), 0);
            tensors[which]->buffer.address = nullptr;
            CHECK_EQ(Phase2(device, phase1), kVectorCoreException);
        }
    }
}

TEST(a_view_beyond_its_memory_is_an_exception) {
    const Device device;
    const Bits bits = Patterns(ACL_FLOAT, 24, 1);
    Tensor grad(ACL_FLOAT, Contiguous({24}), bits), out(ACL_FLOAT, Contiguous({24}), bits);
    // The storage is said to be longer than the memory is.
    Tensor self(ACL_FLOAT, Contiguous({24}, 4, 0), Patterns(ACL_FLOAT, 24, 1));
    CHECK_EQ(Call(device, grad, self, Scalar(-1.0f), Scalar(1.0f), out), kVectorCoreException);
}

TEST(a_view_beyond_its_storage_is_refused) {
    const Device device;
    const Bits bits = Patterns(ACL_FLOAT, 24, 1);
    Tensor good(ACL_FLOAT, Contiguous({4, 6}), bits), view(ACL_FLOAT, {{4, 6}, {1, 4}, 1, {6, 4}}, bits);
    const Scalar min(-1.0f), max(1.0f);
    CHECK_EQ(Phase1(good, view, min, max, good).status, kInnerNull);
    CHECK_EQ(Phase1(view, good, min, max, good).status, kInnerNull);
    CHECK_EQ(Phase1(good, good, min, max, view).status, kInnerNull);
    CHECK(Contains(ErrorText(), "leaves its storage"));
}

TEST(tensors_that_are_gone_are_refused) {
    const Device device;
    Sixteen all;
    const Phase1 phase1(all.grad, all.self, all.min, all.max, all.out);
    aclTensor* const gone = all.self.tensor;
    CHECK_EQ(aclDestroyTensor(gone), 0);
    CHECK_EQ(Phase2(device, phase1), kInvalid);
    CHECK_EQ(Phase1(all.grad, gone, all.min, all.max, all.out).status, kInvalid);
    int64_t offset;
    CHECK_EQ(aclGetViewOffset(gone, &offset), kInvalid);
    all.self.tensor = nullptr;
}

TEST(objects_are_destroyed_once) {
    const Device device;
    float value = 1;
    aclScalar* const scalar = aclCreateScalar(&value, ACL_FLOAT);
    CHECK_EQ(aclDestroyScalar(scalar), 0);
    CHECK_EQ(aclDestroyScalar(scalar), kInvalid);
    CHECK_EQ(aclDestroyScalar(nullptr), 0);
    aclTensor* const tensor =
        aclCreateTensor(nullptr, 0, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, nullptr, 0, nullptr);
    CHECK_EQ(aclDestroyScalar(reinterpret_cast<aclScalar*>(tensor)), kInvalid);
    CHECK_EQ(aclDestroyTensor(tensor), 0);
    CHECK_EQ(aclDestroyTensor(tensor), kInvalid);
    CHECK_EQ(aclDestroyTensor(nullptr), 0);
}

TEST(live_objects_are_counted) {
    const Device device;
    const auto count = [](size_t tensors, size_t scalars, size_t executors) {
        const vnpu::Objects live = vnpu::LiveObjects();
        return live.tensors == tensors && live.scalars == scalars && live.executors == executors;
    };
    CHECK(count(0, 0, 0));
    {
        const Sixteen all;
        CHECK(count(3, 2, 0));
        const Phase1 first(all.grad, all.self, all.min, all.max, all.out);
        const Phase1 second(all.grad, all.self, all.min, all.max, all.out);
        CHECK(count(3, 2, 2));
        CHECK_EQ(Phase2(device, first), 0);
        CHECK(count(3, 2, 1));
        CHECK_EQ(aclDestroyAclOpExecutor(second.executor), 0);
        CHECK_EQ(Phase1(all.grad, all.self, all.min, nullptr, all.out).status, kNullPointer);
        CHECK(count(3, 2, 0));
    }
    CHECK(count(0, 0, 0));
}

TEST(tensor_getters) {
    const Device device;
    const Tensor tensor(ACL_BF16, kSliced);
    int64_t* values;
    uint64_t number;
    const auto are = [&](const Dims& expected) {
        const bool same = Dims(values, values + number) == expected;
        delete[] values;
        return same;
    };
    CHECK_EQ(aclGetViewShape(tensor, &values, &number), 0);
    CHECK(are(kSliced.dims));
    CHECK_EQ(aclGetViewStrides(tensor, &values, &number), 0);
    CHECK(are(kSliced.strides));
    CHECK_EQ(aclGetStorageShape(tensor, &values, &number), 0);
    CHECK(are(kSliced.storage));
    int64_t offset;
    CHECK_EQ(aclGetViewOffset(tensor, &offset), 0);
    CHECK_EQ(offset, kSliced.offset);
    aclFormat format;
    CHECK_EQ(aclGetFormat(tensor, &format), 0);
    CHECK_EQ(format, ACL_FORMAT_ND);
    aclDataType dataType;
    CHECK_EQ(aclGetDataType(tensor, &dataType), 0);
    CHECK_EQ(dataType, ACL_BF16);
    CHECK_EQ(aclGetDataType(nullptr, &dataType), kNullPointer);
    // Without strides the tensor is contiguous; dimensions that are announced must be given.
    const int64_t dims[] = {2, 3};
    aclTensor* const plain = aclCreateTensor(dims, 2, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, dims, 2, nullptr);
    CHECK_EQ(aclGetViewStrides(plain, &values, &number), 0);
    CHECK(are({3, 1}));
    CHECK_EQ(aclDestroyTensor(plain), 0);
    CHECK(aclCreateTensor(nullptr, 2, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, dims, 2, nullptr) == nullptr);
    CHECK(aclCreateTensor(dims, 2, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, nullptr, 2, nullptr) == nullptr);
    CHECK(aclCreateScalar(nullptr, ACL_FLOAT) == nullptr);
}

// ---- The framework's own functions

TEST(view_copy_in_place_cannot_be_repeated) {
    const Device device;
    const Sixteen all;
    UniqueExecutor executor("test");
    CHECK(l0op::ViewCopy(all.out, all.out, executor.get()) == all.out.tensor);
    aclOpExecutor* released = nullptr;
    executor.ReleaseTo(&released);
    CHECK_EQ(aclSetAclOpExecutorRepeatable(released), kInner);
    CHECK_EQ(aclDestroyAclOpExecutor(released), 0);
}

TEST(view_copy_moves_data) {
    const Device device;
    for (const Layout& from : {Contiguous({4, 6}), kTransposed}) {
        for (const Layout& to : {Contiguous({4, 6}), kSliced}) {
            const Bits fromBits = Patterns(ACL_FLOAT16, Product(from.storage), 1);
            Bits expected = Patterns(ACL_FLOAT16, Product(to.storage), 2);
            Tensor source(ACL_FLOAT16, from, fromBits), target(ACL_FLOAT16, to, expected);
            UniqueExecutor executor("test");
            CHECK(l0op::ViewCopy(source, target, executor.get()) == target.tensor);
            aclOpExecutor* released = nullptr;
            executor.ReleaseTo(&released);
            CHECK_EQ(CommonOpExecutorRun(nullptr, 0, released, device.stream), 0);
            CHECK_EQ(aclrtSynchronizeStream(device.stream), 0);
            const Bits values = Gather(from, fromBits);
            size_t i = 0;
            to.Each([&](int64_t index) { expected[static_cast<size_t>(index)] = values[i++]; });
            CHECK(target.Read(target.buffer) == expected);
        }
    }
}

TEST(view_copy_refuses_what_does_not_fit) {
    const Device device;
    const Sixteen all;
    const Tensor otherType(ACL_FLOAT16, Contiguous({4, 4})), otherShape(ACL_FLOAT, Contiguous({16}));
    UniqueExecutor executor("test");
    CHECK(l0op::ViewCopy(all.self, otherType, executor.get()) == nullptr);
    CHECK(l0op::ViewCopy(all.self, otherShape, executor.get()) == nullptr);
    const aclTensor* const workspace = executor->AllocTensor({4, 4}, op::DataType::DT_FLOAT);
    CHECK(l0op::ViewCopy(all.self, workspace, executor.get()) == nullptr);
}

TEST(contiguous_keeps_the_offset) {
    const Device device;
    const Tensor view(ACL_FLOAT, Contiguous({5}, 3, 2), Patterns(ACL_FLOAT, 10, 1));
    UniqueExecutor executor("test");
    const aclTensor* const contiguous = l0op::Contiguous(view, executor.get());
    CHECK(contiguous != view.tensor);
    CHECK_EQ(contiguous->GetData(), static_cast<void*>(static_cast<char*>(view.buffer.address) + 12));
    CHECK_EQ(contiguous->Size(), 5);
    const Sixteen all;
    CHECK(l0op::Contiguous(all.self, executor.get()) == all.self.tensor);
}

namespace other {

OP_TYPE_REGISTER(HardtanhGrad);
OP_TYPE_REGISTER(NoSuchOperator);

std::string Launch(const std::function<aclnnStatus(aclOpExecutor*)>& launch) {
    vnpu::CallErrors().clear();
    UniqueExecutor executor("test");
    const aclnnStatus status = launch(executor.get());
    CHECK_EQ(status, status == 0 ? 0 : kInner);
    return status == 0 ? "" : ErrorText();
}

}  // namespace other

TEST(launcher_compares_with_the_definition) {
    using namespace other;
    const Device device;
    const Sixteen all, half(ACL_FLOAT16);
    const aclTensor *self = all.self, *grad = all.grad, *y = all.out, *halfGrad = half.grad, *none = nullptr;
    const float min = -1, max = 1;
    const double real = 1;
    CHECK_EQ(Launch([&](aclOpExecutor* executor) {
                 return ADD_TO_LAUNCHER_LIST_AICORE(HardtanhGrad, OP_INPUT(self, grad), OP_OUTPUT(y),
                                                    OP_ATTR(min, max));
             }),
             "");
    CHECK(Contains(Launch([&](aclOpExecutor* executor) {
                       return ADD_TO_LAUNCHER_LIST_AICORE(HardtanhGrad, OP_INPUT(self), OP_OUTPUT(y),
                                                          OP_ATTR(min, max));
                   }),
                   "was given 1, 1 and 2"));
    CHECK(Contains(Launch([&](aclOpExecutor* executor) {
                       return ADD_TO_LAUNCHER_LIST_AICORE(HardtanhGrad, OP_INPUT(self, grad), OP_OUTPUT(y),
                                                          OP_ATTR(min));
                   }),
                   "was given 2, 1 and 1"));
    CHECK(Contains(Launch([&](aclOpExecutor* executor) {
                       return ADD_TO_LAUNCHER_LIST_AICORE(HardtanhGrad, OP_INPUT(self, grad), OP_OUTPUT(y),
                                                          OP_ATTR(min, real));
                   }),
                   "max_val is a float"));
    CHECK(Contains(Launch([&](aclOpExecutor* executor) {
                       return ADD_TO_LAUNCHER_LIST_AICORE(HardtanhGrad, OP_INPUT(self, halfGrad),
                                                          OP_OUTPUT(y), OP_ATTR(min, max));
                   }),
                   "no kernel takes the inputs DT_FLOAT, DT_FLOAT16"));
    CHECK(Contains(Launch([&](aclOpExecutor* executor) {
                       return ADD_TO_LAUNCHER_LIST_AICORE(HardtanhGrad, OP_INPUT(self, none), OP_OUTPUT(y),
                                                          OP_ATTR(min, max));
                   }),
                   "a tensor is null"));
    CHECK(Contains(Launch([&](aclOpExecutor* executor) {
                       return ADD_TO_LAUNCHER_LIST_AICORE(NoSuchOperator, OP_INPUT(self), OP_OUTPUT(y));
                   }),
                   "561112"));
}
