// Operators that are compiled and run by name, which MindSpore does where it has no aclnn kernel.
#include <algorithm>
#include <cmath>
#include <map>
#include <memory>

#include "acl/acl.h"
#include "compute.h"

struct aclTensorDesc {
    aclDataType dataType;
    std::vector<int64_t> dims;
    bool onHost = false;
    std::shared_ptr<std::vector<uint8_t>> constant;
};

struct aclopAttr {
    std::map<std::string, double> numbers;
    std::map<std::string, std::string> strings;
    std::map<std::string, std::vector<int64_t>> lists;

    double Number(const char* name) const {
        const auto found = numbers.find(name);
        return found == numbers.end() ? 0 : found->second;
    }
};

namespace vnpu {
namespace {

using Operands = std::vector<Operand>;

HostTask Binary(double (*f)(double, double)) {
    return Map([f](const double* x) { return f(x[0], x[1]); });
}

// A vector along dimension 1 of the tensor, which holds the channels in NCHW.
Operand AlongChannels(const Operand& vector, const Operand& tensor) {
    Operand turned = vector;
    turned.shape = op::Shape();
    turned.strides.clear();
    for (size_t i = 0; i < tensor.shape.GetDimNum(); ++i) {
        turned.shape.AppendDim(i == 1 ? vector.shape[0] : 1);
        turned.strides.push_back(i == 1 ? vector.strides[0] : 0);
    }
    return turned;
}

int BiasAdd(const aclopAttr&, const Operands& x) {
    return Binary([](double a, double b) { return a + b; })({x[0], AlongChannels(x[1], x[0]), x[2]});
}

int BiasAddGrad(const aclopAttr&, const Operands& x) {
    std::vector<int64_t> dims;
    for (size_t i = 0; i < x[0].shape.GetDimNum(); ++i) {
        if (i != 1) {
            dims.push_back(static_cast<int64_t>(i));
        }
    }
    return Reduce(dims, Reduction::Sum)(x);
}

int AddN(const aclopAttr&, const Operands& x) {
    return Map([count = x.size() - 1](const double* values) {
        double sum = 0;
        for (size_t i = 0; i < count; ++i) {
            sum += values[i];
        }
        return sum;
    })(x);
}

template <Reduction reduction>
int ReduceAxes(const aclopAttr&, const Operands& x) {
    std::vector<int64_t> dims;
    for (const double dim : Read(x[1])) {
        dims.push_back(static_cast<int64_t>(dim));
    }
    return Reduce(dims, reduction)({x[0], x[2]});
}

// Inputs: values and the dimension.
int ArgMaxV2(const aclopAttr&, const Operands& x) {
    return ArgMax(static_cast<int64_t>(Read(x[1])[0]))({x[0], x[2]});
}

// The class is the last dimension.
int OneHot(const aclopAttr&, const Operands& x) {
    const Values classes = Read(x[0]);
    const double on = Read(x[2])[0];
    const double off = Read(x[3])[0];
    const auto depth = static_cast<size_t>(Read(x[1])[0]);
    Values result;
    for (const double value : classes) {
        for (size_t i = 0; i < depth; ++i) {
            result.push_back(value == static_cast<double>(i) ? on : off);
        }
    }
    Write(x[4], result);
    return ACL_SUCCESS;
}

// Outputs: the loss of each row, and its gradient in the features.
int SoftmaxCrossEntropyWithLogits(const aclopAttr&, const Operands& x) {
    const Values labels = Read(x[1]);
    Operand logits = x[3];
    const int status = LogSoftmax(-1)({x[0], x[3]});
    const Values logProbability = Read(logits);
    const auto columns = static_cast<size_t>(x[0].shape[1]);
    Values loss(static_cast<size_t>(x[0].shape[0]));
    Values gradient(labels.size());
    for (size_t i = 0; i < labels.size(); ++i) {
        loss[i / columns] -= labels[i] * logProbability[i];
        gradient[i] = std::exp(logProbability[i]) - labels[i];
    }
    Write(x[2], loss);
    Write(x[3], gradient);
    return status;
}

// Sets a variable, which is the first input, and the output that stands for it.
int Assign(const Operands& x, const Values& values) {
    Write(x.front(), values);
    Write(x.back(), values);
    return ACL_SUCCESS;
}

// Inputs: parameters, gradient, learning rate, accumulation, momentum, and 1 before the first step.
int SGD(const aclopAttr& attr, const Operands& x) {
    Values parameters = Read(x[0]);
    Values gradient = Read(x[1]);
    const double rate = Read(x[2])[0];
    Values accumulation = Read(x[3]);
    const double momentum = Read(x[4])[0];
    const bool first = Read(x[5])[0] > 0;
    const double dampening = attr.Number("dampening");
    for (size_t i = 0; i < parameters.size(); ++i) {
        gradient[i] += attr.Number("weight_decay") * parameters[i];
        if (momentum > 0) {
            accumulation[i] =
                first ? gradient[i] : accumulation[i] * momentum + (1 - dampening) * gradient[i];
            gradient[i] =
                attr.Number("nesterov") != 0 ? gradient[i] + momentum * accumulation[i] : accumulation[i];
        }
        parameters[i] -= rate * gradient[i];
    }
    Write(x[3], accumulation);
    Fill(0)({x[5]});
    return Assign(x, parameters);
}

// Inputs: variable, accumulation, learning rate, gradient, momentum.
int ApplyMomentum(const aclopAttr& attr, const Operands& x) {
    Values variable = Read(x[0]);
    Values accumulation = Read(x[1]);
    const double rate = Read(x[2])[0];
    const Values gradient = Read(x[3]);
    const double momentum = Read(x[4])[0];
    for (size_t i = 0; i < variable.size(); ++i) {
        accumulation[i] = accumulation[i] * momentum + gradient[i];
        const bool nesterov = attr.Number("use_nesterov") != 0;
        variable[i] -= rate * (nesterov ? gradient[i] + momentum * accumulation[i] : accumulation[i]);
    }
    Write(x[1], accumulation);
    return Assign(x, variable);
}

// Inputs: variable, first and second moment, the powers of both betas, learning rate, both betas, epsilon,
// gradient. Outputs: variable and both moments.
int ApplyAdam(const aclopAttr& attr, const Operands& x) {
    Values variable = Read(x[0]);
    Values first = Read(x[1]);
    Values second = Read(x[2]);
    double scalars[6];
    for (size_t i = 0; i < 6; ++i) {
        scalars[i] = Read(x[3 + i])[0];
    }
    const auto [beta1Power, beta2Power, rate, beta1, beta2, epsilon] = scalars;
    const Values gradient = Read(x[9]);
    const double step = rate * std::sqrt(1 - beta2Power) / (1 - beta1Power);
    for (size_t i = 0; i < variable.size(); ++i) {
        first[i] = beta1 * first[i] + (1 - beta1) * gradient[i];
        second[i] = beta2 * second[i] + (1 - beta2) * gradient[i] * gradient[i];
        const bool nesterov = attr.Number("use_nesterov") != 0;
        const double moment = nesterov ? beta1 * first[i] + (1 - beta1) * gradient[i] : first[i];
        variable[i] -= step * moment / (std::sqrt(second[i]) + epsilon);
    }
    for (size_t k : {size_t{0}, size_t{10}}) {
        Write(x[k], variable);
        Write(x[k + 1], first);
        Write(x[k + 2], second);
    }
    return ACL_SUCCESS;
}

// Inputs: gradient, second and first moment, variable, learning rate, then beta1, 1 - beta1, beta2, 1 -
// beta2, the weight decay and epsilon. The tensors are set in place and are the outputs too.
int AdamApplyOneWithDecay(const aclopAttr&, const Operands& x) {
    const Values gradient = Read(x[0]);
    Values second = Read(x[1]);
    Values first = Read(x[2]);
    Values variable = Read(x[3]);
    double scalars[7];
    for (size_t i = 0; i < 7; ++i) {
        scalars[i] = Read(x[4 + i])[0];
    }
    const auto [rate, beta1, rest1, beta2, rest2, decay, epsilon] = scalars;
    for (size_t i = 0; i < variable.size(); ++i) {
        first[i] = beta1 * first[i] + rest1 * gradient[i];
        second[i] = beta2 * second[i] + rest2 * gradient[i] * gradient[i];
        variable[i] -= rate * (first[i] / (std::sqrt(second[i]) + epsilon) + decay * variable[i]);
    }
    for (size_t k : {size_t{1}, size_t{11}}) {
        Write(x[k], second);
        Write(x[k + 1], first);
        Write(x[k + 2], variable);
    }
    return ACL_SUCCESS;
}

using Function = std::function<int(const aclopAttr&, const Operands&)>;

Function Plain(HostTask task) {
    return [task](const aclopAttr&, const Operands& x) { return task(x); };
}

// The operands are the inputs, then the outputs.
const std::map<std::string, Function>& Functions() {
    static const std::map<std::string, Function> functions = {
        {"AdamApplyOneWithDecayAssign", AdamApplyOneWithDecay},
        {"AddN", AddN},
        {"ApplyAdamD", ApplyAdam},
        {"ApplyMomentum", ApplyMomentum},
        {"ArgMaxV2", ArgMaxV2},
        {"Assign", [](const aclopAttr&, const Operands& x) { return Assign(x, Read(x[1], x[0].shape)); }},
        {"AssignAdd", Plain(Binary([](double a, double b) { return a + b; }))},
        {"BiasAdd", BiasAdd},
        {"BiasAddGrad", BiasAddGrad},
        {"Cast", Plain(Copy())},
        {"Fill", [](const aclopAttr&, const Operands& x) { return Copy()({x[1], x[2]}); }},
        {"IsNan", Plain(Map([](const double* x) -> double { return std::isnan(x[0]); }))},
        {"OneHot", OneHot},
        {"OnesLike", [](const aclopAttr&, const Operands& x) { return Fill(1)({x[1]}); }},
        {"RealDiv", Plain(Binary([](double a, double b) { return a / b; }))},
        {"ReduceMean", ReduceAxes<Reduction::Mean>},
        {"ReduceSum", ReduceAxes<Reduction::Sum>},
        {"SGD", SGD},
        {"SoftmaxCrossEntropyWithLogits", SoftmaxCrossEntropyWithLogits},
        {"Sub", Plain(Binary([](double a, double b) { return a - b; }))},
        {"TensorMove", Plain(Copy())},
    };
    return functions;
}

// On the stream: from the device's addresses to the host's, checked against the allocations.
bool Resolve(Operand& operand) {
    const size_t bytes = static_cast<size_t>(operand.shape.GetShapeSize()) * op::TypeSize(operand.dataType);
    if (bytes == 0) {
        return true;
    }
    const bool live = LiveBytes(operand.data) >= bytes;
    operand.data = HostAlias(operand.data);
    return live && operand.data != nullptr;
}

std::string Describe(const aclTensorDesc& desc) {
    std::string text = op::ToString(static_cast<op::DataType>(desc.dataType)).GetString();
    for (size_t i = 0; i < desc.dims.size(); ++i) {
        text += (i == 0 ? "[" : ",") + std::to_string(desc.dims[i]);
    }
    return text + (desc.dims.empty() ? "" : "]");
}

struct Argument {
    Operand operand;
    std::shared_ptr<std::vector<uint8_t>> onHost;
};

Argument ToArgument(const aclTensorDesc& desc, const aclDataBuffer* buffer) {
    Argument argument;
    for (const int64_t dim : desc.dims) {
        argument.operand.shape.AppendDim(dim);
    }
    op::ToContiguousStrides(argument.operand.shape, argument.operand.strides);
    argument.operand.dataType = static_cast<op::DataType>(desc.dataType);
    argument.operand.data = static_cast<uint8_t*>(aclGetDataBufferAddr(buffer));
    argument.onHost = desc.constant;
    if (desc.onHost && desc.constant == nullptr) {
        argument.onHost = std::make_shared<std::vector<uint8_t>>(
            argument.operand.data, argument.operand.data + aclGetDataBufferSizeV2(buffer));
    }
    if (argument.onHost != nullptr) {
        argument.operand.data = argument.onHost->data();
    }
    return argument;
}

}  // namespace
}  // namespace vnpu

using namespace vnpu;

extern "C" {

aclTensorDesc* aclCreateTensorDesc(aclDataType dataType, int numDims, const int64_t* dims, int) {
    return new aclTensorDesc{dataType, {dims, dims + numDims}, false, nullptr};
}

void aclDestroyTensorDesc(const aclTensorDesc* desc) { delete desc; }

void aclSetTensorDescName(aclTensorDesc*, const char*) {}

aclError aclSetTensorFormat(aclTensorDesc*, int) { return ACL_SUCCESS; }

aclError aclSetTensorShape(aclTensorDesc*, int, const int64_t*) { return ACL_SUCCESS; }

aclError aclSetTensorPlaceMent(aclTensorDesc* desc, aclMemType memType) {
    desc->onHost = memType != ACL_MEMTYPE_DEVICE;
    return ACL_SUCCESS;
}

aclError aclSetTensorConst(aclTensorDesc* desc, void* data, size_t length) {
    const auto* const bytes = static_cast<const uint8_t*>(data);
    desc->constant = std::make_shared<std::vector<uint8_t>>(bytes, bytes + length);
    return ACL_SUCCESS;
}

aclopAttr* aclopCreateAttr() { return new aclopAttr; }

void aclopDestroyAttr(const aclopAttr* attr) { delete attr; }

aclError aclopSetAttrBool(aclopAttr* attr, const char* name, uint8_t value) {
    attr->numbers[name] = value;
    return ACL_SUCCESS;
}

aclError aclopSetAttrInt(aclopAttr* attr, const char* name, int64_t value) {
    attr->numbers[name] = static_cast<double>(value);
    return ACL_SUCCESS;
}

aclError aclopSetAttrDataType(aclopAttr* attr, const char* name, aclDataType value) {
    return aclopSetAttrInt(attr, name, value);
}

aclError aclopSetAttrFloat(aclopAttr* attr, const char* name, float value) {
    attr->numbers[name] = value;
    return ACL_SUCCESS;
}

aclError aclopSetAttrString(aclopAttr* attr, const char* name, const char* value) {
    attr->strings[name] = value;
    return ACL_SUCCESS;
}

aclError aclopSetAttrListInt(aclopAttr* attr, const char* name, int count, const int64_t* values) {
    attr->lists[name] = {values, values + count};
    return ACL_SUCCESS;
}

aclError aclopSetCompileFlag(int) { return ACL_SUCCESS; }

aclError aclopCompileAndExecuteV2(const char* opType, int numInputs, aclTensorDesc* inputDesc[],
                                  aclDataBuffer* inputs[], int numOutputs, aclTensorDesc* outputDesc[],
                                  aclDataBuffer* outputs[], aclopAttr* attr, int, int, const char*,
                                  aclrtStream stream) {
    const auto found = Functions().find(opType);
    if (found == Functions().end()) {
        std::string message =
            "operator " + std::string(opType) + " is not part of the virtual NPU; operands:";
        for (int i = 0; i < numInputs + numOutputs; ++i) {
            message += " " + Describe(i < numInputs ? *inputDesc[i] : *outputDesc[i - numInputs]);
        }
        SetErrorMessage(message);
        std::fprintf(stderr, "virtual NPU: %s\n", message.c_str());
        return ACL_ERROR_OP_NOT_FOUND;
    }
    LogCall(std::string("aclop/") + opType);
    std::vector<Argument> arguments;
    for (int i = 0; i < numInputs; ++i) {
        arguments.push_back(ToArgument(*inputDesc[i], inputs[i]));
    }
    for (int i = 0; i < numOutputs; ++i) {
        arguments.push_back(ToArgument(*outputDesc[i], outputs[i]));
    }
    return Enqueue(stream, [function = found->second, name = std::string(opType), arguments,
                            attributes = attr == nullptr ? aclopAttr() : *attr] {
        Operands operands;
        for (const Argument& argument : arguments) {
            operands.push_back(argument.operand);
            if (argument.onHost == nullptr && !Resolve(operands.back())) {
                SetErrorMessage(name + ": an operand lies outside live device memory");
                return ACL_ERROR_RT_VECTOR_CORE_EXCEPTION;
            }
        }
        return function(attributes, operands);
    });
}

aclError aclopCompileAndExecute(const char* opType, int numInputs, aclTensorDesc* inputDesc[],
                                aclDataBuffer* inputs[], int numOutputs, aclTensorDesc* outputDesc[],
                                aclDataBuffer* outputs[], aclopAttr* attr, int engineType, int compileFlag,
                                const char* opPath, aclrtStream stream) {
    return aclopCompileAndExecuteV2(opType, numInputs, inputDesc, inputs, numOutputs, outputDesc, outputs,
                                    attr, engineType, compileFlag, opPath, stream);
}

}  // extern "C"
