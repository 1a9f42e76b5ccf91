// CANN's own aclnn operators, as far as small networks need them: forward, backward and optimizer.
#include <cmath>
#include <limits>

#include "aclnn_kernels/common/op_error_check.h"
#include "compute.h"
#include "opdev/make_op_executor.h"

namespace vnpu {
namespace {

using Tensors = std::vector<const aclTensor*>;

bool Computable(op::DataType type) {
    switch (type) {
        case ge::DT_FLOAT:
        case ge::DT_FLOAT16:
        case ge::DT_BF16:
        case ge::DT_DOUBLE:
        case ge::DT_INT8:
        case ge::DT_UINT8:
        case ge::DT_BOOL:
        case ge::DT_INT16:
        case ge::DT_INT32:
        case ge::DT_INT64:
            return true;
        default:
            return false;
    }
}

// The end of every phase 1: one task over the tensors, the last of which it writes.
aclnnStatus Finish(const char* function, const char* api, const Tensors& tensors, const HostTask& task,
                   uint64_t* workspaceSize, aclOpExecutor** executor) {
    for (const aclTensor* tensor : tensors) {
        if (tensor == nullptr) {
            OP_LOGE(ACLNN_ERR_PARAM_NULLPTR, "%s: a tensor is null.", api);
            return ACLNN_ERR_PARAM_NULLPTR;
        }
        if (!Computable(tensor->GetDataType())) {
            OP_LOGE(ACLNN_ERR_PARAM_INVALID, "%s: the stand-in does not compute %s.", api,
                    op::ToString(tensor->GetDataType()).GetString());
            return ACLNN_ERR_PARAM_INVALID;
        }
    }
    UniqueExecutor unique(function);
    if (!tensors.back()->IsEmpty()) {
        AddHostTask(unique.get(), ("libopapi/" + std::string(api)).c_str(), tensors, task);
    }
    *workspaceSize = 0;
    unique.ReleaseTo(executor);
    return ACLNN_SUCCESS;
}

std::vector<int64_t> ToVector(const aclIntArray* array) {
    std::vector<int64_t> values;
    for (uint64_t i = 0; array != nullptr && i < array->Size(); ++i) {
        values.push_back((*array)[i]);
    }
    return values;
}

Tensors ToTensors(const aclTensorList* list, const aclTensor* out) {
    Tensors tensors;
    for (uint64_t i = 0; i < list->Size(); ++i) {
        tensors.push_back((*list)[i]);
    }
    tensors.push_back(out);
    return tensors;
}

double Relu(double x) { return x > 0 || std::isnan(x) ? x : 0.0; }

// Python's and numpy's power for integers too, since double holds their products.
double Power(double base, double exponent) { return std::pow(base, exponent); }

double NanMax(double a, double b) { return std::isnan(a) || a > b ? a : b; }

double NanMin(double a, double b) { return std::isnan(a) || a < b ? a : b; }

// A bound, or the element with its bits as they are.
HostTask Hardtanh(double low, double high) {
    return [low, high](const std::vector<Operand>& x) {
        Values values = Read(x[0]);
        const HostTask copy = Copy();
        const int status = copy(x);
        Operand element = x[1];
        const std::vector<int64_t> offsets = Offsets(x[1], x[1].shape);
        element.shape = op::Shape();
        element.strides.clear();
        for (size_t i = 0; i < values.size(); ++i) {
            if (values[i] < low || values[i] > high) {
                element.data = x[1].data + offsets[i] * static_cast<int64_t>(op::TypeSize(x[1].dataType));
                Write(element, {values[i] < low ? low : high});
            }
        }
        return status;
    };
}

struct AdamW {
    double rate;
    double beta1;
    double beta2;
    double weightDecay;
    double epsilon;
    bool maximize;
};

// Operands: variable, first and second moment, gradient, and the number of steps before this one; the first
// three are written.
HostTask ApplyAdamW(AdamW p) {
    return [p](const std::vector<Operand>& x) {
        Values variable = Read(x[0]);
        Values first = Read(x[1]);
        Values second = Read(x[2]);
        const Values gradient = Read(x[3]);
        const double step = Read(x[4])[0] + 1;
        for (size_t i = 0; i < variable.size(); ++i) {
            const double g = p.maximize ? -gradient[i] : gradient[i];
            first[i] = p.beta1 * first[i] + (1 - p.beta1) * g;
            second[i] = p.beta2 * second[i] + (1 - p.beta2) * g * g;
            const double firstMean = first[i] / (1 - std::pow(p.beta1, step));
            const double secondMean = second[i] / (1 - std::pow(p.beta2, step));
            variable[i] -=
                p.rate * (firstMean / (std::sqrt(secondMean) + p.epsilon) + p.weightDecay * variable[i]);
        }
        Write(x[0], variable);
        Write(x[1], first);
        Write(x[2], second);
        return 0;
    };
}

}  // namespace
}  // namespace vnpu

using namespace vnpu;

// Both phases of an operator: its parameters, the tensors in the order of the task, and the task.
#define ACLNN(api, parameters, inputs, outputs, tensors, ...)                                               \
    aclnnStatus api##GetWorkspaceSize(ACLNN_LIST parameters, uint64_t* workspaceSize,                       \
                                      aclOpExecutor** executor) {                                           \
        L2_DFX_PHASE_1(api, DFX_IN inputs, DFX_OUT outputs);                                                \
        return Finish(__func__, #api, tensors, __VA_ARGS__, workspaceSize, executor);                       \
    }                                                                                                       \
    aclnnStatus api(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream) { \
        L2_DFX_PHASE_2(api);                                                                                \
        return CommonOpExecutorRun(workspace, workspaceSize, executor, stream);                             \
    }
#define ACLNN_LIST(...) __VA_ARGS__

#define UNARY(api, expression)                                                               \
    ACLNN(api, (const aclTensor* self, aclTensor* out), (self), (out), (Tensors{self, out}), \
          Map([](const double* x) -> double { return expression; }))

#define BINARY(api, expression)                                                                       \
    ACLNN(api, (const aclTensor* self, const aclTensor* other, aclTensor* out), (self, other), (out), \
          (Tensors{self, other, out}), Map([](const double* x) -> double { return expression; }))

// y is the scalar.
#define WITH_SCALAR(api, expression)                                                                  \
    ACLNN(api, (const aclTensor* self, const aclScalar* other, aclTensor* out), (self, other), (out), \
          (Tensors{self, out}),                                                                       \
          Map([y = other->ToDouble()](const double* x) -> double { return expression; }))

// In place, and with a factor for the second argument.
#define INPLACE(api, expression)                                                  \
    ACLNN(api, (aclTensor * self, const aclTensor* other), (self, other), (self), \
          (Tensors{self, other, self}), Map([](const double* x) -> double { return expression; }))

#define WITH_ALPHA(api, expression)                                                                     \
    ACLNN(api, (const aclTensor* self, const aclTensor* other, const aclScalar* alpha, aclTensor* out), \
          (self, other, alpha), (out), (Tensors{self, other, out}),                                     \
          Map([alpha = alpha->ToDouble()](const double* x) -> double { return expression; }))

#define REDUCE(api, reduction)                                                                              \
    ACLNN(api,                                                                                              \
          (const aclTensor* self, const aclIntArray* dim, bool keepDim, aclDataType dtype, aclTensor* out), \
          (self, dim, keepDim, dtype), (out), (Tensors{self, out}), Reduce(ToVector(dim), reduction))

extern "C" {

UNARY(aclnnNeg, -x[0])
UNARY(aclnnAbs, std::fabs(x[0]))
UNARY(aclnnExp, std::exp(x[0]))
UNARY(aclnnLog, std::log(x[0]))
UNARY(aclnnSqrt, std::sqrt(x[0]))
UNARY(aclnnRsqrt, 1 / std::sqrt(x[0]))
UNARY(aclnnReciprocal, 1 / x[0])
UNARY(aclnnTanh, std::tanh(x[0]))
UNARY(aclnnSigmoid, 1 / (1 + std::exp(-x[0])))
UNARY(aclnnRelu, Relu(x[0]))
UNARY(aclnnIsFinite, std::isfinite(x[0]))
UNARY(aclnnLogicalNot, x[0] == 0)

BINARY(aclnnMul, x[0] * x[1])
BINARY(aclnnDiv, x[0] / x[1])
BINARY(aclnnMaximum, NanMax(x[0], x[1]))
BINARY(aclnnMinimum, NanMin(x[0], x[1]))
BINARY(aclnnPowTensorTensor, Power(x[0], x[1]))
BINARY(aclnnEqTensor, x[0] == x[1])
BINARY(aclnnNeTensor, x[0] != x[1])
BINARY(aclnnGtTensor, x[0] > x[1])
BINARY(aclnnGeTensor, x[0] >= x[1])
BINARY(aclnnLtTensor, x[0] < x[1])
BINARY(aclnnLeTensor, x[0] <= x[1])
BINARY(aclnnLogicalAnd, x[0] != 0 && x[1] != 0)
BINARY(aclnnLogicalOr, x[0] != 0 || x[1] != 0)

WITH_SCALAR(aclnnMuls, x[0] * y)
WITH_SCALAR(aclnnDivs, x[0] / y)
WITH_SCALAR(aclnnPowTensorScalar, Power(x[0], y))
WITH_SCALAR(aclnnEqScalar, x[0] == y)
WITH_SCALAR(aclnnGeScalar, x[0] >= y)
WITH_SCALAR(aclnnLtScalar, x[0] < y)

INPLACE(aclnnInplaceMul, x[0] * x[1])
INPLACE(aclnnInplaceDiv, x[0] / x[1])

WITH_ALPHA(aclnnAdd, x[0] + alpha * x[1])
WITH_ALPHA(aclnnSub, x[0] - alpha * x[1])

ACLNN(aclnnAdds, (const aclTensor* self, const aclScalar* other, const aclScalar* alpha, aclTensor* out),
      (self, other, alpha), (out), (Tensors{self, out}),
      Map([y = alpha->ToDouble() * other->ToDouble()](const double* x) { return x[0] + y; }))
ACLNN(aclnnSubs, (const aclTensor* self, const aclScalar* other, const aclScalar* alpha, aclTensor* out),
      (self, other, alpha), (out), (Tensors{self, out}),
      Map([y = alpha->ToDouble() * other->ToDouble()](const double* x) { return x[0] - y; }))
ACLNN(aclnnInplaceAdd, (aclTensor * self, const aclTensor* other, const aclScalar* alpha),
      (self, other, alpha), (self), (Tensors{self, other, self}),
      Map([alpha = alpha->ToDouble()](const double* x) { return x[0] + alpha * x[1]; }))
ACLNN(aclnnInplaceSub, (aclTensor * self, const aclTensor* other, const aclScalar* alpha),
      (self, other, alpha), (self), (Tensors{self, other, self}),
      Map([alpha = alpha->ToDouble()](const double* x) { return x[0] - alpha * x[1]; }))
ACLNN(aclnnPowScalarTensor, (const aclScalar* self, const aclTensor* exponent, aclTensor* out),
      (self, exponent), (out), (Tensors{exponent, out}),
      Map([base = self->ToDouble()](const double* x) { return Power(base, x[0]); }))
ACLNN(aclnnClamp, (const aclTensor* self, const aclScalar* min, const aclScalar* max, aclTensor* out),
      (self, min, max), (out), (Tensors{self, out}),
      Map([low = min == nullptr ? -INFINITY : min->ToDouble(),
           high = max == nullptr ? INFINITY : max->ToDouble()](const double* x) {
          return NanMin(NanMax(x[0], low), high);
      }))
ACLNN(aclnnSWhere,
      (const aclTensor* condition, const aclTensor* self, const aclTensor* other, aclTensor* out),
      (condition, self, other), (out), (Tensors{condition, self, other, out}),
      Map([](const double* x) { return x[0] != 0 ? x[1] : x[2]; }))
ACLNN(aclnnInplaceMaskedFillTensor, (aclTensor * self, const aclTensor* mask, const aclTensor* value),
      (self, mask, value), (self), (Tensors{self, mask, value, self}),
      Map([](const double* x) { return x[1] != 0 ? x[2] : x[0]; }))
ACLNN(aclnnThresholdBackward,
      (const aclTensor* gradOutput, const aclTensor* self, const aclScalar* threshold, aclTensor* out),
      (gradOutput, self, threshold), (out), (Tensors{gradOutput, self, out}),
      Map([limit = threshold->ToDouble()](const double* x) { return x[1] <= limit ? 0.0 : x[0]; }))

ACLNN(aclnnHardtanh,
      (const aclTensor* self, const aclScalar* clipMin, const aclScalar* clipMax, aclTensor* out),
      (self, clipMin, clipMax), (out), (Tensors{self, out}), Hardtanh(clipMin->ToFloat(), clipMax->ToFloat()))
// What a vendor package that defines the name takes the place of. Open at the bounds, so that results tell
// which of the two ran.
ACLNN(aclnnHardtanhBackward,
      (const aclTensor* gradOutput, const aclTensor* self, const aclScalar* min, const aclScalar* max,
       aclTensor* out),
      (gradOutput, self, min, max), (out), (Tensors{gradOutput, self, out}),
      Map([low = min->ToFloat(), high = max->ToFloat()](const double* x) {
          return x[1] <= low || x[1] >= high ? 0.0 : x[0];
      }))

ACLNN(aclnnInplaceOne, (aclTensor * self), (self), (self), (Tensors{self}), Fill(1))
ACLNN(aclnnInplaceZero, (aclTensor * self), (self), (self), (Tensors{self}), Fill(0))
ACLNN(aclnnInplaceFillScalar, (aclTensor * self, const aclScalar* value), (self, value), (self),
      (Tensors{self}), Fill(value->ToDouble()))
ACLNN(aclnnInplaceCopy, (aclTensor * self, const aclTensor* src), (self, src), (self), (Tensors{src, self}),
      Copy())
ACLNN(aclnnCast, (const aclTensor* self, aclDataType dtype, aclTensor* out), (self, dtype), (out),
      (Tensors{self, out}), Copy())
ACLNN(aclnnExpand, (const aclTensor* self, const aclIntArray* size, aclTensor* out), (self, size), (out),
      (Tensors{self, out}), Copy())
ACLNN(aclnnPermute, (const aclTensor* self, const aclIntArray* dims, aclTensor* out), (self, dims), (out),
      (Tensors{self, out}), Permute(ToVector(dims)))
ACLNN(aclnnRepeat, (const aclTensor* self, const aclIntArray* repeats, aclTensor* out), (self, repeats),
      (out), (Tensors{self, out}), Repeat())
ACLNN(aclnnCat, (const aclTensorList* tensors, int64_t dim, aclTensor* out), (tensors, dim), (out),
      ToTensors(tensors, out), Cat(dim))

REDUCE(aclnnReduceSum, Reduction::Sum)
REDUCE(aclnnMean, Reduction::Mean)
ACLNN(aclnnAmax, (const aclTensor* self, const aclIntArray* dim, bool keepDim, aclTensor* out),
      (self, dim, keepDim), (out), (Tensors{self, out}), Reduce(ToVector(dim), Reduction::Max))
ACLNN(aclnnArgMax, (const aclTensor* self, int64_t dim, bool keepDim, aclTensor* out), (self, dim, keepDim),
      (out), (Tensors{self, out}), ArgMax(dim))
ACLNN(aclnnGather, (const aclTensor* self, int64_t dim, const aclTensor* index, aclTensor* out),
      (self, dim, index), (out), (Tensors{self, index, out}), Gather(dim))
ACLNN(aclnnScatterAdd,
      (const aclTensor* self, int64_t dim, const aclTensor* index, const aclTensor* src, aclTensor* out),
      (self, dim, index, src), (out), (Tensors{self, index, src, out}), ScatterAdd(dim))
ACLNN(aclnnLogSoftmax, (const aclTensor* self, int64_t dim, aclTensor* out), (self, dim), (out),
      (Tensors{self, out}), LogSoftmax(dim))

ACLNN(aclnnSoftmax, (const aclTensor* self, int64_t dim, aclTensor* out), (self, dim), (out),
      (Tensors{self, out}), Softmax(dim))
ACLNN(aclnnLogSoftmaxBackward,
      (const aclTensor* gradOutput, const aclTensor* output, int64_t dim, aclTensor* out),
      (gradOutput, output, dim), (out), (Tensors{gradOutput, output, out}), LogSoftmaxBackward(dim))

ACLNN(aclnnMm, (const aclTensor* self, const aclTensor* mat2, aclTensor* out, int8_t cubeMathType),
      (self, mat2, cubeMathType), (out), (Tensors{self, mat2, out}), MatMul())
ACLNN(aclnnMatmul, (const aclTensor* self, const aclTensor* mat2, aclTensor* out, int8_t cubeMathType),
      (self, mat2, cubeMathType), (out), (Tensors{self, mat2, out}), MatMul())
ACLNN(aclnnAddmm,
      (const aclTensor* self, const aclTensor* mat1, const aclTensor* mat2, const aclScalar* beta,
       const aclScalar* alpha, aclTensor* out, int8_t cubeMathType),
      (self, mat1, mat2, beta, alpha, cubeMathType), (out), (Tensors{self, mat1, mat2, out}),
      MatMul(alpha->ToDouble(), beta->ToDouble()))

// Without amsgrad, so that the optional tensor is not used.
ACLNN(aclnnApplyAdamWV2,
      (aclTensor * var, aclTensor* m, aclTensor* v, aclTensor* maxGradNorm, const aclTensor* grad,
       const aclTensor* step, float lr, float beta1, float beta2, float weightDecay, float eps, bool amsgrad,
       bool maximize),
      (var, m, v, maxGradNorm, grad, step, lr, beta1, beta2, weightDecay, eps, amsgrad, maximize),
      (var, m, v), (Tensors{var, m, v, grad, step}),
      ApplyAdamW({lr, beta1, beta2, weightDecay, eps, maximize}))

}  // extern "C"
