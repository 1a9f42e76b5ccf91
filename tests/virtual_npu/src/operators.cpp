// Operators of vendor packages: definitions, registered functions, their contexts, and the kernel launcher.
#include <dlfcn.h>
#include <sys/stat.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <fstream>
#include <mutex>
#include <set>
#include <sstream>

#include "acl/acl.h"
#include "host.h"
#include "opdev/format_utils.h"
#include "opdev/op_dfx.h"
#include "opdev/shape_utils.h"
#include "register/op_def_registry.h"

namespace {

// ---- Vendor packages

struct Package {
    std::string root;
    bool isLoaded = false;
    std::map<std::string, vnpu::OpFunctions> functions;
    std::map<std::string, vnpu::OpDefinition> definitions;
};

struct Packages {
    std::recursive_mutex mutex;  // held while a library registers its operators
    bool isRead = false;
    std::vector<Package> all;
    Package outside;  // of libraries that the program itself has loaded
    Package* loading = &outside;
    std::map<std::string, vnpu::Operator> operators;
    std::vector<std::string> opTypes;  // id is the place, from 1
};

Packages& packages() {
    static Packages it;
    return it;
}

std::string Environment(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
}

bool Exists(const std::string& path) {
    struct stat info;
    return stat(path.c_str(), &info) == 0;
}

std::vector<std::string> Split(const std::string& text, char separator) {
    std::vector<std::string> parts;
    std::istringstream stream(text);
    for (std::string part; std::getline(stream, part, separator);) {
        if (!part.empty()) {
            parts.push_back(part);
        }
    }
    return parts;
}

std::vector<std::string> VendorNames(const std::string& config) {
    std::ifstream file(config);
    const std::string key = "load_priority=";
    for (std::string line; std::getline(file, line);) {
        if (line.compare(0, key.size(), key) == 0) {
            return Split(line.substr(key.size()), ',');
        }
    }
    return {};
}

void ReadEnvironment(Packages& packages) {
    packages.isRead = true;
    const auto add = [&packages](const std::string& root) {
        packages.all.emplace_back();
        packages.all.back().root = root;
    };
    for (const std::string& root : Split(Environment("ASCEND_CUSTOM_OPP_PATH"), ':')) {
        if (root[0] == '/') {
            add(root);
        } else {
            OP_LOGW("ASCEND_CUSTOM_OPP_PATH holds %s, which is not absolute.", root.c_str());
        }
    }
    const std::string vendors = Environment("ASCEND_OPP_PATH") + "/vendors";
    for (const std::string& name : VendorNames(vendors + "/config.ini")) {
        add(vendors + "/" + name);
    }
}

void Load(Packages& packages, Package& package) {
#if defined(__x86_64__)
    const std::string system = "linux/x86_64";
#else
    const std::string system = "linux/aarch64";
#endif
    package.isLoaded = true;
    packages.loading = &package;
    for (const std::string& library :
         {package.root + "/op_impl/ai_core/tbe/op_tiling/lib/" + system + "/libcust_opmaster_rt2.0.so",
          package.root + "/op_proto/lib/" + system + "/libcust_opsproto_rt2.0.so"}) {
        if (dlopen(library.c_str(), RTLD_NOW) == nullptr) {
            OP_LOGW("%s", dlerror());
        }
    }
    packages.loading = &packages.outside;
}

std::string SnakeCase(const std::string& name) {
    std::string snake;
    for (const char letter : name) {
        if (std::isupper(letter) != 0 && !snake.empty()) {
            snake += '_';
        }
        snake += static_cast<char>(std::tolower(letter));
    }
    return snake;
}

// What to gives, and from where to does not.
void Merge(const vnpu::OpFunctions& from, vnpu::OpFunctions& to) {
    to.type = from.type;
    to.inferShape = to.inferShape == nullptr ? from.inferShape : to.inferShape;
    to.inferDataType = to.inferDataType == nullptr ? from.inferDataType : to.inferDataType;
    if (to.tiling == nullptr) {
        to.tiling = from.tiling;
        to.maxTilingDataSize = from.maxTilingDataSize;
    }
    to.tilingParse = to.tilingParse == nullptr ? from.tilingParse : to.tilingParse;
}

void Register(const vnpu::OpFunctions& functions) {
    Packages& all = packages();
    std::lock_guard<std::recursive_mutex> lock(all.mutex);
    // A later registration wins.
    vnpu::OpFunctions& registered = all.loading->functions[functions.type];
    vnpu::OpFunctions merged = functions;
    Merge(registered, merged);
    registered = merged;
}

// ---- The launcher

std::string OpTypeName(uint32_t opType) {
    Packages& all = packages();
    std::lock_guard<std::recursive_mutex> lock(all.mutex);
    return all.opTypes.at(opType - 1);
}

const char* DataTypeInFileName(op::DataType dataType) {
    switch (dataType) {
        case ge::DT_FLOAT:
            return "float32";
        case ge::DT_FLOAT16:
            return "float16";
        case ge::DT_BF16:
            return "bfloat16";
        default:
            return "other";
    }
}

std::vector<const aclTensor*> Tensors(const std::vector<op::OpArg>& args) {
    std::vector<const aclTensor*> tensors;
    for (const op::OpArg& arg : args) {
        tensors.push_back(arg.type == op::OpArgType::OPARG_ACLTENSOR ? arg.tensor : nullptr);
    }
    return tensors;
}

bool IsGiven(const aclTensor* tensor) { return tensor != nullptr; }

vnpu::Node::Tensor Describe(const aclTensor* tensor) {
    vnpu::Node::Tensor described;
    described.shape.MutableOriginShape() = tensor->GetStorageShape();
    described.shape.MutableStorageShape() = tensor->GetStorageShape();
    described.desc.SetDataType(tensor->GetDataType());
    return described;
}

bool Accepts(const vnpu::OpDefinition::Param& param, size_t kernel, const aclTensor* tensor) {
    // ND stands for every format that is no private one.
    const bool isFormat = param.formats[kernel] == ge::FORMAT_ND
                              ? !op::IsPrivateFormat(tensor->GetStorageFormat())
                              : param.formats[kernel] == tensor->GetStorageFormat();
    return isFormat && param.dataTypes[kernel] == tensor->GetDataType();
}

std::string Names(const std::vector<const aclTensor*>& tensors) {
    std::string names;
    for (const aclTensor* tensor : tensors) {
        names += std::string(names.empty() ? "" : ", ") + op::ToString(tensor->GetDataType()).GetString();
    }
    return names;
}

// Why these are no arguments of the operator; empty where they are.
std::string Mismatch(const vnpu::OpDefinition& definition, const std::vector<const aclTensor*>& inputs,
                     const std::vector<const aclTensor*>& outputs, const std::vector<op::OpArg>& attrs) {
    if (!definition.Fault().empty()) {
        return definition.Fault();
    }
    if (definition.socs.count(vnpu::SocDirectory()) == 0) {
        return "it is not defined for " + vnpu::SocDirectory();
    }
    if (inputs.size() != definition.inputs.size() || outputs.size() != definition.outputs.size() ||
        attrs.size() != definition.attrs.size()) {
        return "it has " + std::to_string(definition.inputs.size()) + " inputs, " +
               std::to_string(definition.outputs.size()) + " outputs and " +
               std::to_string(definition.attrs.size()) + " attributes, and was given " +
               std::to_string(inputs.size()) + ", " + std::to_string(outputs.size()) + " and " +
               std::to_string(attrs.size());
    }
    if (!std::all_of(inputs.begin(), inputs.end(), IsGiven) ||
        !std::all_of(outputs.begin(), outputs.end(), IsGiven)) {
        return "a tensor is null";
    }
    for (size_t i = 0; i < attrs.size(); ++i) {
        if (attrs[i].type != op::OpArgType::OPARG_FLOAT) {
            return "attribute " + definition.attrs[i].name + " is a float";
        }
    }
    for (size_t kernel = 0; kernel < definition.inputs[0].dataTypes.size(); ++kernel) {
        bool fits = true;
        for (size_t i = 0; i < inputs.size(); ++i) {
            fits = fits && Accepts(definition.inputs[i], kernel, inputs[i]);
        }
        for (size_t i = 0; i < outputs.size(); ++i) {
            fits = fits && Accepts(definition.outputs[i], kernel, outputs[i]);
        }
        if (fits) {
            return "";
        }
    }
    return "no kernel takes the inputs " + Names(inputs) + " and the outputs " + Names(outputs);
}

class AiCoreLauncher : public op::KernelLauncher {
public:
    AiCoreLauncher(vnpu::Launch launch, const vnpu::OpDefinition& definition,
                   std::vector<const aclTensor*> inputs, std::vector<const aclTensor*> outputs,
                   const aclTensor* workspace)
        : launch_(std::move(launch)), tensors_(std::move(inputs)) {
        for (const vnpu::OpDefinition::Param& param : definition.inputs) {
            launch_.arguments.push_back({param.name.c_str(), nullptr, nullptr, 0, false});
        }
        for (const vnpu::OpDefinition::Param& param : definition.outputs) {
            launch_.arguments.push_back({param.name.c_str(), nullptr, nullptr, 0, true});
        }
        launch_.arguments.push_back({"workspace", nullptr, nullptr, 0, true});
        tensors_.insert(tensors_.end(), outputs.begin(), outputs.end());
        if (workspace != nullptr) {
            tensors_.push_back(workspace);
        }
    }

    const std::vector<const aclTensor*>& Tensors() const override { return tensors_; }

    aclnnStatus Launch(aclrtStream stream) override {
        vnpu::LogCall(launch_.opType);
        for (size_t i = 0; i < tensors_.size(); ++i) {
            launch_.arguments[i].device = static_cast<uint8_t*>(tensors_[i]->GetData());
            launch_.arguments[i].bytes =
                static_cast<size_t>(tensors_[i]->Numel()) * op::TypeSize(tensors_[i]->GetDataType());
        }
        const auto work = [launch = launch_]() mutable {
            for (vnpu::GmRange& argument : launch.arguments) {
                argument.host = argument.bytes == 0 ? nullptr : vnpu::HostAlias(argument.device);
                if (argument.bytes != 0 &&
                    (argument.host == nullptr || vnpu::LiveBytes(argument.device) < argument.bytes)) {
                    vnpu::SetErrorMessage(launch.opType + ": " + argument.name +
                                          " is no live device memory of " + std::to_string(argument.bytes) +
                                          " bytes");
                    return ACL_ERROR_RT_VECTOR_CORE_EXCEPTION;
                }
            }
            return vnpu::RunKernel(launch);
        };
        return vnpu::Enqueue(stream, work) == ACL_SUCCESS ? ACLNN_SUCCESS : ACLNN_ERR_RUNTIME_ERROR;
    }

private:
    vnpu::Launch launch_;
    std::vector<const aclTensor*> tensors_;  // in the order of launch_.arguments
};

// Runs the tiling function; why it failed, or empty.
std::string Tile(const vnpu::OpFunctions& functions, vnpu::Node& node, std::vector<uint8_t>& buffer) {
    // Nothing of what a kernel reads may be left to chance.
    buffer.assign(functions.maxTilingDataSize, 0xA5);
    node.tilingData = std::make_unique<gert::TilingData>(buffer.data(), buffer.size());
    gert::TilingParseContext parseContext(node);
    if (functions.tilingParse != nullptr && functions.tilingParse(&parseContext) != ge::GRAPH_SUCCESS) {
        return "its tiling parse function failed";
    }
    gert::TilingContext context(node);
    if (functions.tiling(&context) != ge::GRAPH_SUCCESS) {
        return "its tiling function failed";
    }
    if (!node.hasTilingKey || !node.hasBlockDim || node.blockDim == 0) {
        return "its tiling function set no tiling key or no block dim";
    }
    if (node.workspaces.size() > 1 ||
        std::count(node.workspaces.begin(), node.workspaces.end(), vnpu::kUnsetWorkspace) != 0) {
        return "its tiling function asked for a workspace without a size, or for several";
    }
    buffer.resize(node.tilingData->GetDataSize());
    return "";
}

}  // namespace

namespace vnpu {

OpDefinition::OpDefinition(const ops::OpDef& definition) : type(definition.type_) {
    const auto params = [](const std::vector<ops::OpParamDef>& from) {
        std::vector<Param> to;
        for (const ops::OpParamDef& param : from) {
            to.push_back(
                {param.name_, param.type_, param.dataTypes_, param.formats_, param.unknownShapeFormats_});
        }
        return to;
    };
    inputs = params(definition.inputs_);
    outputs = params(definition.outputs_);
    for (const ops::OpAttrDef& attr : definition.attrs_) {
        attrs.push_back({attr.name_, attr.type_, attr.isFloat_, attr.hasDefault_, attr.default_});
    }
    for (const auto& [soc, config] : definition.aiCore_.configs_) {
        socs[soc] = config.values_;
    }
}

std::string OpDefinition::Fault() const {
    if (inputs.empty() || outputs.empty() || socs.empty()) {
        return "the definition has no input, no output or no SoC";
    }
    std::vector<Param> params = inputs;
    params.insert(params.end(), outputs.begin(), outputs.end());
    std::set<std::string> names;
    const size_t kernels = inputs[0].dataTypes.size();
    for (const Param& param : params) {
        if (!names.insert(param.name).second) {
            return param.name + " is defined twice";
        }
        if (kernels == 0 || param.dataTypes.size() != kernels || param.formats.size() != kernels ||
            (!param.unknownShapeFormats.empty() && param.unknownShapeFormats.size() != kernels)) {
            return "the lists of " + param.name + " differ in length from those of " + inputs[0].name;
        }
    }
    for (const Attr& attr : attrs) {
        if (!names.insert(attr.name).second) {
            return attr.name + " is defined twice";
        }
        if (!attr.isFloat) {
            return "attribute " + attr.name + " has no type";
        }
    }
    return "";
}

const Operator& FindOperator(const std::string& type) {
    Packages& all = packages();
    std::lock_guard<std::recursive_mutex> lock(all.mutex);
    if (!all.isRead) {
        ReadEnvironment(all);
    }
    // The same operator has other kernels on another SoC.
    const auto [found, isNew] = all.operators.try_emplace(SocDirectory() + "/" + type);
    if (!isNew) {
        return found->second;
    }
    Operator& result = found->second;
    for (Package& package : all.all) {
        const std::string kernels =
            package.root + "/op_impl/ai_core/tbe/kernel/" + SocDirectory() + "/" + SnakeCase(type);
        if (!Exists(kernels)) {
            continue;
        }
        result.kernelDirectories.push_back(kernels);
        if (!package.isLoaded) {
            Load(all, package);
        }
        if (package.functions.count(type) != 0) {
            Merge(package.functions.at(type), result.functions);
        }
        if (result.definition.type.empty() && package.definitions.count(type) != 0) {
            result.definition = package.definitions.at(type);
        }
    }
    return result;
}

}  // namespace vnpu

namespace ops {

OpParamDef& OpParamDef::ParamType(Option type) {
    type_ = type;
    return *this;
}
OpParamDef& OpParamDef::DataType(std::vector<ge::DataType> types) {
    dataTypes_ = std::move(types);
    return *this;
}
OpParamDef& OpParamDef::Format(std::vector<ge::Format> formats) {
    formats_ = std::move(formats);
    return *this;
}
OpParamDef& OpParamDef::UnknownShapeFormat(std::vector<ge::Format> formats) {
    unknownShapeFormats_ = std::move(formats);
    return *this;
}

OpAttrDef& OpAttrDef::AttrType(Option type) {
    type_ = type;
    return *this;
}
OpAttrDef& OpAttrDef::Float() {
    isFloat_ = true;
    return *this;
}
OpAttrDef& OpAttrDef::Float(float value) {
    hasDefault_ = true;
    default_ = value;
    return Float();
}

namespace {
const char* Text(bool flag) { return flag ? "true" : "false"; }
}  // namespace

OpAICoreConfig& OpAICoreConfig::DynamicCompileStaticFlag(bool flag) {
    return ExtendCfgInfo("dynamicCompileStatic.flag", Text(flag));
}
OpAICoreConfig& OpAICoreConfig::DynamicFormatFlag(bool flag) {
    return ExtendCfgInfo("dynamicFormat.flag", Text(flag));
}
OpAICoreConfig& OpAICoreConfig::DynamicRankSupportFlag(bool flag) {
    return ExtendCfgInfo("dynamicRankSupport.flag", Text(flag));
}
OpAICoreConfig& OpAICoreConfig::DynamicShapeSupportFlag(bool flag) {
    return ExtendCfgInfo("dynamicShapeSupport.flag", Text(flag));
}
OpAICoreConfig& OpAICoreConfig::NeedCheckSupportFlag(bool flag) {
    return ExtendCfgInfo("needCheckSupport.flag", Text(flag));
}
OpAICoreConfig& OpAICoreConfig::PrecisionReduceFlag(bool flag) {
    return ExtendCfgInfo("precision_reduce.flag", Text(flag));
}
OpAICoreConfig& OpAICoreConfig::ExtendCfgInfo(const char* key, const char* value) {
    values_[key] = value;
    return *this;
}

OpAICoreDef& OpAICoreDef::SetTiling(gert::OpImplRegisterV2::TilingKernelFunc function) {
    tiling_ = function;
    return *this;
}
OpAICoreDef& OpAICoreDef::AddConfig(const char* soc) {
    OpAICoreConfig config;
    return AddConfig(soc, config);
}
OpAICoreDef& OpAICoreDef::AddConfig(const char* soc, OpAICoreConfig& config) {
    configs_[soc] = config;
    return *this;
}

OpParamDef& OpDef::Input(const char* name) {
    inputs_.emplace_back(name);
    return inputs_.back();
}
OpParamDef& OpDef::Output(const char* name) {
    outputs_.emplace_back(name);
    return outputs_.back();
}
OpAttrDef& OpDef::Attr(const char* name) {
    attrs_.emplace_back(name);
    return attrs_.back();
}

int OpDefFactory::OpDefRegister(const OpDef& definition) {
    Packages& all = packages();
    std::lock_guard<std::recursive_mutex> lock(all.mutex);
    const vnpu::OpDefinition described(definition);
    all.loading->definitions[described.type] = described;
    return 0;
}

}  // namespace ops

namespace gert {

OpImplRegisterV2::OpImplRegisterV2(const ge::char_t* opType) : functions_(new vnpu::OpFunctions) {
    functions_->type = opType;
}

OpImplRegisterV2::OpImplRegisterV2(const OpImplRegisterV2& other) {
    if (other.functions_ != nullptr) {
        Register(*other.functions_);
    }
}

OpImplRegisterV2::~OpImplRegisterV2() = default;

OpImplRegisterV2& OpImplRegisterV2::InferShape(InferShapeKernelFunc function) {
    functions_->inferShape = function;
    return *this;
}
OpImplRegisterV2& OpImplRegisterV2::InferDataType(InferDataTypeKernelFunc function) {
    functions_->inferDataType = function;
    return *this;
}
OpImplRegisterV2& OpImplRegisterV2::Tiling(TilingKernelFunc function, size_t maxTilingDataSize) {
    functions_->tiling = function;
    functions_->maxTilingDataSize = maxTilingDataSize;
    return *this;
}
OpImplRegisterV2& OpImplRegisterV2::TilingParse(TilingParseFunc function) {
    functions_->tilingParse = function;
    return *this;
}

namespace {

const vnpu::Node::Tensor* At(const std::vector<vnpu::Node::Tensor>& tensors, size_t index) {
    return index < tensors.size() && tensors[index].exists ? &tensors[index] : nullptr;
}

}  // namespace

const CompileTimeTensorDesc* ExtendedKernelContext::GetInputDesc(size_t index) const {
    const vnpu::Node::Tensor* tensor = At(node_.inputs, index);
    return tensor == nullptr ? nullptr : &tensor->desc;
}
const RuntimeAttrs* ExtendedKernelContext::GetAttrs() const { return node_.attrs.get(); }

const StorageShape* TilingContext::GetInputShape(size_t index) const {
    const vnpu::Node::Tensor* tensor = At(node_.inputs, index);
    return tensor == nullptr ? nullptr : &tensor->shape;
}
fe::PlatFormInfos* TilingContext::GetPlatformInfo() const { return node_.platform; }
ge::graphStatus TilingContext::SetTilingKey(uint64_t tilingKey) {
    node_.hasTilingKey = true;
    node_.tilingKey = tilingKey;
    return ge::GRAPH_SUCCESS;
}
ge::graphStatus TilingContext::SetBlockDim(uint32_t blockDim) {
    node_.hasBlockDim = true;
    node_.blockDim = blockDim;
    return ge::GRAPH_SUCCESS;
}
TilingData* TilingContext::GetRawTilingData() { return node_.tilingData.get(); }
size_t* TilingContext::GetWorkspaceSizes(size_t count) {
    if (count > node_.workspaceLimit) {
        return nullptr;
    }
    node_.workspaces.resize(count, vnpu::kUnsetWorkspace);
    return node_.workspaces.data();
}

const Shape* InferShapeContext::GetInputShape(size_t index) const {
    const vnpu::Node::Tensor* tensor = At(node_.inputs, index);
    return tensor == nullptr ? nullptr : &tensor->shape.GetOriginShape();
}
Shape* InferShapeContext::GetOutputShape(size_t index) {
    return At(node_.outputs, index) == nullptr ? nullptr : &node_.outputs[index].shape.MutableOriginShape();
}

ge::DataType InferDataTypeContext::GetInputDataType(size_t index) const {
    const vnpu::Node::Tensor* tensor = At(node_.inputs, index);
    return tensor == nullptr ? ge::DT_UNDEFINED : tensor->desc.GetDataType();
}
ge::graphStatus InferDataTypeContext::SetOutputDataType(size_t index, ge::DataType dataType) {
    if (At(node_.outputs, index) == nullptr) {
        return ge::GRAPH_FAILED;
    }
    node_.outputs[index].desc.SetDataType(dataType);
    return ge::GRAPH_SUCCESS;
}

}  // namespace gert

namespace op {

uint32_t GenOpTypeId(const char* opName) {
    Packages& all = packages();
    std::lock_guard<std::recursive_mutex> lock(all.mutex);
    all.opTypes.emplace_back(opName);
    return static_cast<uint32_t>(all.opTypes.size());
}

}  // namespace op

aclnnStatus CreatAiCoreKernelLauncher(const char*, uint32_t opType, aclOpExecutor* executor,
                                      const op::OpArgContext& args) {
    if (executor == nullptr) {
        return ACLNN_ERR_PARAM_NULLPTR;
    }
    const std::string type = OpTypeName(opType);
    // CANN's launcher, too, keeps the reason's own code for the error text.
    const auto refuse = [&type](int code, const std::string& reason) {
        OP_LOGE(code, "%s: %s.", type.c_str(), reason.c_str());
        return ACLNN_ERR_INNER;
    };
    const vnpu::Operator& found = vnpu::FindOperator(type);
    if (found.kernelDirectories.empty()) {
        return refuse(ACLNN_ERR_INNER_OPP_KERNEL_PKG_NOT_FOUND,
                      "no vendor package has kernels for " + vnpu::SocDirectory());
    }
    if (found.functions.tiling == nullptr || found.definition.type.empty()) {
        return refuse(ACLNN_ERR_INNER_TILING_ERROR,
                      "no vendor package has a tiling library with its function");
    }
    const std::vector<const aclTensor*> inputs = Tensors(args.Get(op::OP_INPUT_ARG));
    const std::vector<const aclTensor*> outputs = Tensors(args.Get(op::OP_OUTPUT_ARG));
    const std::string mismatch = Mismatch(found.definition, inputs, outputs, args.Get(op::OP_ATTR_ARG));
    if (!mismatch.empty()) {
        return refuse(ACLNN_ERR_INNER, mismatch);
    }

    vnpu::Launch launch;
    launch.opType = type;
    for (const std::string& directory : found.kernelDirectories) {
        const std::string file =
            directory + "/" + type + "_" + DataTypeInFileName(inputs[0]->GetDataType()) + ".so";
        if (launch.kernel.empty() && Exists(file)) {
            launch.kernel = file;
        }
    }
    if (launch.kernel.empty()) {
        return refuse(ACLNN_ERR_INNER_FIND_KERNEL_ERROR,
                      "no vendor package has a kernel for the inputs " + Names(inputs));
    }

    vnpu::Node node;
    node.type = type;
    node.platform = vnpu::PlatformForTiling();
    std::transform(inputs.begin(), inputs.end(), std::back_inserter(node.inputs), Describe);
    std::transform(outputs.begin(), outputs.end(), std::back_inserter(node.outputs), Describe);
    std::vector<float> attrs;
    for (const op::OpArg& attr : args.Get(op::OP_ATTR_ARG)) {
        attrs.push_back(attr.single);
    }
    node.attrs = std::make_unique<gert::RuntimeAttrs>(attrs);
    const std::string failure = Tile(found.functions, node, launch.tilingData);
    if (!failure.empty()) {
        return refuse(ACLNN_ERR_INNER_TILING_ERROR, failure);
    }
    launch.tilingKey = node.tilingKey;
    launch.blockDim = node.blockDim;
    const size_t workspaceBytes = node.workspaces.empty() ? 0 : node.workspaces[0];
    const aclTensor* workspace =
        workspaceBytes == 0
            ? nullptr
            : executor->AllocTensor({static_cast<int64_t>(workspaceBytes)}, op::DataType::DT_UINT8);
    executor->AddToKernelLauncherList(
        new AiCoreLauncher(std::move(launch), found.definition, inputs, outputs, workspace));
    return ACLNN_SUCCESS;
}
