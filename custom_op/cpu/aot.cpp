// MindSpore's AOT operators: HardtanhGrad (grad_output, x -> dx) and Hardtanh (x -> y), attributes min_val
// and max_val.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>
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

// The checks of the Python infer pair, in its words, for shapes that were not known when it ran.
void CheckShapes(const std::vector<std::string>& names, const int* ndims, int64_t** shapes) {
    const size_t last = names.size() - 1;
    for (size_t i = 0; i <= last; ++i) {
        if (ndims[i] > kMaxDims) {
            Refuse(names[i], std::to_string(ndims[i]) + " dimensions", "at most " + std::to_string(kMaxDims));
        }
    }
    for (size_t i = 0; i < last; ++i) {
        if (ndims[i] != ndims[last] || !std::equal(shapes[i], shapes[i] + ndims[i], shapes[last])) {
            Refuse(names[i], "shape " + ShapeText(shapes[i], ndims[i]),
                   "that of " + names[last] + ", which is " + ShapeText(shapes[last], ndims[last]));
        }
    }
}

int64_t Count(int ndim, const int64_t* shape) {
    return std::accumulate(shape, shape + ndim, int64_t{1}, std::multiplies<int64_t>());
}

// -1, which no kernel takes, for a dtype that the operator does not have.
int Dtype(const std::string& name) {
    return name == "float32"    ? HARDTANH_FLOAT32
           : name == "float16"  ? HARDTANH_FLOAT16
           : name == "bfloat16" ? HARDTANH_BFLOAT16
                                : -1;
}
}  // namespace

HARDTANH_EXPORT int HardtanhGrad(int, void** params, int* ndims, int64_t** shapes, const char** dtypes, void*,
                                 void* extra) {
    CheckShapes({"grad_output", "x"}, ndims, shapes);
    auto* attributes = static_cast<AotExtra*>(extra);
    return hardtanh_grad_cpu(params[0], params[1], params[2], Count(ndims[1], shapes[1]), Dtype(dtypes[1]),
                             attributes->GetAttrFloat("min_val"), attributes->GetAttrFloat("max_val"), 0);
}

HARDTANH_EXPORT int Hardtanh(int, void** params, int* ndims, int64_t** shapes, const char** dtypes, void*,
                             void* extra) {
    CheckShapes({"x"}, ndims, shapes);
    auto* attributes = static_cast<AotExtra*>(extra);
    return hardtanh_cpu(params[0], params[1], Count(ndims[0], shapes[0]), Dtype(dtypes[0]),
                        attributes->GetAttrFloat("min_val"), attributes->GetAttrFloat("max_val"), 0);
}

// Output shapes while a graph runs, for both device targets. Nothing is refused here: MindSpore calls these
// before the Python infer pair too, whose errors are the ones that a user is to see, and the operators check
// again.
HARDTANH_EXPORT std::vector<int64_t> HardtanhGradInferShape(int* ndims, int64_t** shapes, AotExtra*) {
    return {shapes[1], shapes[1] + ndims[1]};
}

HARDTANH_EXPORT std::vector<int64_t> HardtanhInferShape(int* ndims, int64_t** shapes, AotExtra*) {
    return {shapes[0], shapes[0] + ndims[0]};
}

HARDTANH_EXPORT std::vector<int64_t> aclnnHardtanhBackwardInferShape(int* ndims, int64_t** shapes,
                                                                     AotExtra* extra) {
    return HardtanhGradInferShape(ndims, shapes, extra);
}

HARDTANH_EXPORT std::vector<int64_t> aclnnHardtanhInferShape(int* ndims, int64_t** shapes, AotExtra* extra) {
    return HardtanhInferShape(ndims, shapes, extra);
}
