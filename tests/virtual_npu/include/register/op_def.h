// An operator's definition: inputs, outputs, attributes and the SoCs it has kernels for.
#ifndef REGISTER_OP_DEF_H
#define REGISTER_OP_DEF_H

#include <map>
#include <string>
#include <vector>

#include "register/op_impl_registry.h"

namespace vnpu {
struct OpDefinition;
}

namespace ops {

enum Option { IGNORE = 0, OPTIONAL = 1, REQUIRED = 2, DYNAMIC = 3 };

class OpParamDef {
public:
    explicit OpParamDef(const char* name) : name_(name) {}
    OpParamDef& ParamType(Option type);
    // Entry i of all lists of an operator together is one kernel.
    OpParamDef& DataType(std::vector<ge::DataType> types);
    OpParamDef& Format(std::vector<ge::Format> formats);
    OpParamDef& UnknownShapeFormat(std::vector<ge::Format> formats);

private:
    friend struct vnpu::OpDefinition;
    std::string name_;
    Option type_ = REQUIRED;
    std::vector<ge::DataType> dataTypes_;
    std::vector<ge::Format> formats_;
    std::vector<ge::Format> unknownShapeFormats_;
};

class OpAttrDef {
public:
    explicit OpAttrDef(const char* name) : name_(name) {}
    OpAttrDef& AttrType(Option type);
    OpAttrDef& Float();
    OpAttrDef& Float(float value);

private:
    friend struct vnpu::OpDefinition;
    std::string name_;
    Option type_ = REQUIRED;
    bool isFloat_ = false;
    bool hasDefault_ = false;
    float default_ = 0;
};

class OpAICoreConfig {
public:
    OpAICoreConfig& DynamicCompileStaticFlag(bool flag);
    OpAICoreConfig& DynamicFormatFlag(bool flag);
    OpAICoreConfig& DynamicRankSupportFlag(bool flag);
    OpAICoreConfig& DynamicShapeSupportFlag(bool flag);
    OpAICoreConfig& NeedCheckSupportFlag(bool flag);
    OpAICoreConfig& PrecisionReduceFlag(bool flag);
    OpAICoreConfig& ExtendCfgInfo(const char* key, const char* value);

private:
    friend struct vnpu::OpDefinition;
    std::map<std::string, std::string> values_;
};

class OpAICoreDef {
public:
    OpAICoreDef& SetTiling(gert::OpImplRegisterV2::TilingKernelFunc function);
    gert::OpImplRegisterV2::TilingKernelFunc& GetTiling() { return tiling_; }
    OpAICoreDef& AddConfig(const char* soc);
    OpAICoreDef& AddConfig(const char* soc, OpAICoreConfig& config);

private:
    friend struct vnpu::OpDefinition;
    gert::OpImplRegisterV2::TilingKernelFunc tiling_ = nullptr;
    std::map<std::string, OpAICoreConfig> configs_;
};

class OpDef {
public:
    explicit OpDef(const char* type) : type_(type) {}
    OpParamDef& Input(const char* name);
    OpParamDef& Output(const char* name);
    OpAttrDef& Attr(const char* name);
    OpAICoreDef& AICore() { return aiCore_; }

private:
    friend struct vnpu::OpDefinition;
    std::string type_;
    std::vector<OpParamDef> inputs_;
    std::vector<OpParamDef> outputs_;
    std::vector<OpAttrDef> attrs_;
    OpAICoreDef aiCore_;
};

}  // namespace ops

#endif
