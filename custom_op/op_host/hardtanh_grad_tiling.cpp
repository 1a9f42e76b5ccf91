#include "hardtanh_grad_tiling.h"

#include <cstdio>

#include "../op_kernel/hardtanh_grad_tiling_key.h"
#include "register/op_impl_registry.h"
#include "tiling/platform/platform_ascendc.h"

namespace optiling {
namespace {

constexpr size_t RESULT_INDEX = 0;
constexpr size_t MIN_VAL_INDEX = 0;
constexpr size_t MAX_VAL_INDEX = 1;

ge::graphStatus Refuse(const char* reason) {
    std::fprintf(stderr, "HardtanhGrad tiling: %s\n", reason);
    return ge::GRAPH_FAILED;
}

int64_t ElementSize(ge::DataType dtype) {
    switch (dtype) {
        case ge::DT_FLOAT:
            return 4;
        case ge::DT_FLOAT16:
        case ge::DT_BF16:
            return 2;
        default:
            return 0;
    }
}

ge::graphStatus TilingHardtanhGrad(gert::TilingContext* context) {
    if (context == nullptr) {
        return Refuse("the context is null");
    }
    const gert::StorageShape* shape = context->GetInputShape(RESULT_INDEX);
    const gert::CompileTimeTensorDesc* desc = context->GetInputDesc(RESULT_INDEX);
    if (shape == nullptr || desc == nullptr) {
        return Refuse("input result has no shape or no dtype");
    }
    const int64_t elementCount = shape->GetStorageShape().GetShapeSize();
    if (elementCount < 0) {
        return Refuse("the shape of input result is unknown or too large");
    }
    const int64_t elementSize = ElementSize(desc->GetDataType());
    if (elementSize == 0) {
        return Refuse("the dtype of input result is not float32, float16 or bfloat16");
    }
    const gert::RuntimeAttrs* attrs = context->GetAttrs();
    const float* minVal = attrs == nullptr ? nullptr : attrs->GetFloat(MIN_VAL_INDEX);
    const float* maxVal = attrs == nullptr ? nullptr : attrs->GetFloat(MAX_VAL_INDEX);
    if (minVal == nullptr || maxVal == nullptr) {
        return Refuse("attribute min_val or max_val is missing");
    }
    fe::PlatFormInfos* platformInfo = context->GetPlatformInfo();
    if (platformInfo == nullptr) {
        return Refuse("the platform is unknown");
    }
    platform_ascendc::PlatformAscendC platform(platformInfo);
    uint64_t ubBytes = 0;
    platform.GetCoreMemSize(platform_ascendc::CoreMemType::UB, ubBytes);

    HardtanhGradTiling tiling;
    if (!ComputeHardtanhGradTiling(elementCount, elementSize, ubBytes, platform.GetCoreNumAiv(), tiling)) {
        return Refuse("the platform has no vector core, or its UB holds no tile beside the 8 KB of Select");
    }
    tiling.data.minVal = *minVal;
    tiling.data.maxVal = *maxVal;

    HardtanhGradTilingData* data = context->GetTilingData<HardtanhGradTilingData>();
    size_t* workspaceSizes = context->GetWorkspaceSizes(1);
    if (data == nullptr || workspaceSizes == nullptr) {
        return Refuse("the context has no room for the tiling data or the workspace size");
    }
    *data = tiling.data;
    workspaceSizes[0] = 0;
    context->SetTilingKey(GET_TPL_TILING_KEY(tiling.schMode));
    context->SetBlockDim(tiling.blockDim);
    return ge::GRAPH_SUCCESS;
}

struct HardtanhGradCompileInfo {};

ge::graphStatus TilingParseHardtanhGrad(gert::TilingParseContext* /*context*/) { return ge::GRAPH_SUCCESS; }

}  // namespace

IMPL_OP_OPTILING(HardtanhGrad)
    .Tiling(TilingHardtanhGrad)
    .TilingParse<HardtanhGradCompileInfo>(TilingParseHardtanhGrad);

}  // namespace optiling
