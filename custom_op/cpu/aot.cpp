// MindSpore's AOT operators: HardtanhGrad (grad_output, x -> dx) and Hardtanh (x -> y), attributes min_val
// and max_val.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "hardtanh.h"

// What is called of MindSpore's class of this name; the order of the virtual functions is its ABI.
class AotExtra {
public:
    virtual ~AotExtra() = default;
    virtual bool HasAttr(std::string name) = 0;
    virtual bool GetAttrBool(std::string name) = 0;
    virtual int64_t GetAttrInt(std::string name) = 0;
    virtual float GetAttrFloat(std::string name) = 0;
};

namespace {
constexpr int kMaxDims = 8;
constexpr int64_t kUnknownDim = -1;
constexpr int64_t kUnknownRank = -2;

// What the tensors of a call have in common.
struct Tensors {
    bool alike;  // in number, dtype and shape
    int64_t count = 1;
    int dtype = -1;

    Tensors(int expected, int nparam, const int* ndims, int64_t** shapes, const char** dtypes)
        : alike(nparam == expected) {
        for (int i = 1; alike && i < nparam; ++i) {
            alike = std::strcmp(dtypes[i], dtypes[0]) == 0 && ndims[i] == ndims[0] &&
                    std::equal(shapes[i], shapes[i] + ndims[i], shapes[0]);
        }
        for (int i = 0; alike && i < ndims[0]; ++i) {
            count *= shapes[0][i];
        }
        const std::string name = alike ? dtypes[0] : "";
        if (name == "float32") {
            dtype = HARDTANH_FLOAT32;
        } else if (name == "float16") {
            dtype = HARDTANH_FLOAT16;
        } else if (name == "bfloat16") {
            dtype = HARDTANH_BFLOAT16;
        }
    }
};

std::string ShapeText(const int64_t* dims, int count) {
    std::string text = "(";
    for (int i = 0; i < count; ++i) {
        text += (i > 0 ? ", " : "") + std::to_string(dims[i]);
    }
    return text + (count == 1 ? ",)" : ")");
}

[[noreturn]] void Refuse(const std::string& name, const std::string& got, const std::string& accepts) {
    throw std::runtime_error("[" + std::to_string(kInvalidParameter) + "] " + name + ": got " + got +
                             ", accepts " + accepts);
}

// The output's shape, which is that of the last tensor. The checks and their words are the Python infer
// pair's.
std::vector<int64_t> InferShape(const std::vector<std::string>& names, const int* ndims, int64_t** shapes) {
    const size_t last = names.size() - 1;
    for (size_t i = 0; i <= last; ++i) {
        if (ndims[i] > kMaxDims) {
            Refuse(names[i], std::to_string(ndims[i]) + " dimensions", "at most " + std::to_string(kMaxDims));
        }
    }
    const auto rankUnknown = [&](size_t i) { return ndims[i] == 1 && shapes[i][0] == kUnknownRank; };
    const auto compatible = [](int64_t left, int64_t right) {
        return left == right || left == kUnknownDim || right == kUnknownDim;
    };
    for (size_t i = 0; i < last; ++i) {
        if (rankUnknown(i) || rankUnknown(last)) {
            continue;
        }
        if (ndims[i] != ndims[last] ||
            !std::equal(shapes[i], shapes[i] + ndims[i], shapes[last], compatible)) {
            Refuse(names[i], "shape " + ShapeText(shapes[i], ndims[i]),
                   "that of " + names[last] + ", which is " + ShapeText(shapes[last], ndims[last]));
        }
    }
    return {shapes[last], shapes[last] + ndims[last]};
}
}  // namespace

HARDTANH_EXPORT int HardtanhGrad(int nparam, void** params, int* ndims, int64_t** shapes, const char** dtypes,
                                 void*, void* extra) {
    const Tensors tensors(3, nparam, ndims, shapes, dtypes);
    if (!tensors.alike) {
        return kInvalidParameter;
    }
    auto* attributes = static_cast<AotExtra*>(extra);
    return hardtanh_grad_cpu(params[0], params[1], params[2], tensors.count, tensors.dtype,
                             attributes->GetAttrFloat("min_val"), attributes->GetAttrFloat("max_val"), 0);
}

HARDTANH_EXPORT int Hardtanh(int nparam, void** params, int* ndims, int64_t** shapes, const char** dtypes,
                             void*, void* extra) {
    const Tensors tensors(2, nparam, ndims, shapes, dtypes);
    if (!tensors.alike) {
        return kInvalidParameter;
    }
    auto* attributes = static_cast<AotExtra*>(extra);
    return hardtanh_cpu(params[0], params[1], tensors.count, tensors.dtype,
                        attributes->GetAttrFloat("min_val"), attributes->GetAttrFloat("max_val"), 0);
}

HARDTANH_EXPORT std::vector<int64_t> HardtanhGradInferShape(int* ndims, int64_t** shapes, AotExtra*) {
    return InferShape({"grad_output", "x"}, ndims, shapes);
}

HARDTANH_EXPORT std::vector<int64_t> HardtanhInferShape(int* ndims, int64_t** shapes, AotExtra*) {
    return InferShape({"x"}, ndims, shapes);
}
