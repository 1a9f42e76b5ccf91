// The inner interfaces of the host layers; tests and the operators of opapi.cpp use them too.
#ifndef VNPU_HOST_H
#define VNPU_HOST_H

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "opdev/op_executor.h"
#include "register/op_def.h"
#include "vnpu.h"

// A platform is what CurrentPlatform says; this is only what tiling functions are handed.
namespace fe {
class PlatFormInfos {};
}  // namespace fe

namespace vnpu {

// ---- Objects that the user holds

enum class Kind { Tensor, Scalar, Array, TensorList, Executor };
void Track(Kind kind, const void* object);
// False, with an error logged, when the object is not live: made up, of another kind, or destroyed before.
bool Untrack(Kind kind, const void* object, const char* call);
// A number that no other object of the process has had; 0 when the object is not live.
uint64_t SerialOf(Kind kind, const void* object);

// ---- Calls

// Adds a line to what vnpuCallLog returns.
void LogCall(const std::string& name);
// What this thread's current call has reported; aclGetRecentErrMsg answers all of it.
std::string& CallErrors();

// ---- Tasks that the host computes

// A tensor on the stream's thread: data is the host address of the view's first element.
struct Operand {
    uint8_t* data;
    op::DataType dataType;
    op::Shape shape;
    op::Strides strides;  // elements
};
using HostTask = std::function<int(const std::vector<Operand>& operands)>;
// Phase 2 will run task on the stream, with the addresses that the tensors then have, after checking that
// every element lies in live device memory. A non-zero return becomes the stream's error.
void AddHostTask(aclOpExecutor* executor, const char* name, std::vector<const aclTensor*> tensors,
                 HostTask task);

// ---- Platform

// Short name of the SoC in the directories of a vendor package: ascend910b, ascend910_93, ascend910.
std::string SocDirectory();
fe::PlatFormInfos* PlatformForTiling();

// ---- Operators

// What an OpDef says.
struct OpDefinition {
    struct Param {
        std::string name;
        ops::Option type;
        std::vector<ge::DataType> dataTypes;
        std::vector<ge::Format> formats;
        std::vector<ge::Format> unknownShapeFormats;
    };
    struct Attr {
        std::string name;
        ops::Option type;
        bool isFloat;
        bool hasDefault;
        float defaultValue;
    };
    std::string type;
    std::vector<Param> inputs;
    std::vector<Param> outputs;
    std::vector<Attr> attrs;
    std::map<std::string, std::map<std::string, std::string>>
        socs;  // per SoC, the values of its configuration

    OpDefinition() = default;
    explicit OpDefinition(const ops::OpDef& definition);
    // Why op_build would refuse the definition; empty where it would not.
    std::string Fault() const;
};

struct OpFunctions {
    std::string type;
    gert::OpImplRegisterV2::InferShapeKernelFunc inferShape = nullptr;
    gert::OpImplRegisterV2::InferDataTypeKernelFunc inferDataType = nullptr;
    gert::OpImplRegisterV2::TilingKernelFunc tiling = nullptr;
    size_t maxTilingDataSize = 0;
    gert::OpImplRegisterV2::TilingParseFunc tilingParse = nullptr;
};

// An operator as the vendor packages have it: directories of ASCEND_CUSTOM_OPP_PATH first, then
// ASCEND_OPP_PATH/vendors in the order of config.ini, as they were at the first call.
struct Operator {
    OpFunctions functions;
    OpDefinition definition;
    std::vector<std::string> kernelDirectories;  // that exist, first come first served
};
const Operator& FindOperator(const std::string& type);

// What a tiling or infer function is told of a node and, below, what a tiling function sets.
struct Node {
    struct Tensor {
        bool exists = true;
        gert::StorageShape shape;
        gert::CompileTimeTensorDesc desc;
    };
    std::string type;
    std::vector<Tensor> inputs;
    std::vector<Tensor> outputs;
    std::unique_ptr<gert::RuntimeAttrs> attrs;
    fe::PlatFormInfos* platform = nullptr;

    std::unique_ptr<gert::TilingData> tilingData;
    size_t workspaceLimit = 8;
    bool hasTilingKey = false;
    uint64_t tilingKey = 0;
    bool hasBlockDim = false;
    uint32_t blockDim = 0;
    std::vector<size_t> workspaces;
};
// What a workspace size is before tiling sets it.
constexpr size_t kUnsetWorkspace = SIZE_MAX;

}  // namespace vnpu

#endif
