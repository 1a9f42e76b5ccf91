// What the operator's host libraries register: its definition, shape and data type inference, and the tiling
// function with the context that carries its input. The tiling arithmetic has a test of its own.
#include <cmath>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "../../custom_op/op_host/hardtanh_grad_tiling.h"
#include "check.h"
#include "host.h"
#include "virtual_npu.h"

namespace {

constexpr ge::DataType kDataTypes[] = {ge::DT_FLOAT, ge::DT_FLOAT16, ge::DT_BF16};
constexpr int64_t kSmall = 6144 * 20;
constexpr size_t kDataSize = sizeof(HardtanhGradTilingData);

const vnpu::Operator& HardtanhGrad() { return vnpu::FindOperator("HardtanhGrad"); }

// A node as the framework describes one to the tiling function.
struct Call {
    explicit Call(const gert::Shape& shape, ge::DataType dataType = ge::DT_FLOAT, uint8_t poison = 0xA5,
                  size_t capacity = 2048)
        : buffer(capacity, poison) {
        vnpu::Node::Tensor tensor;
        tensor.shape.MutableOriginShape() = tensor.shape.MutableStorageShape() = shape;
        tensor.desc.SetDataType(dataType);
        node.type = "HardtanhGrad";
        node.inputs = {tensor, tensor};
        node.outputs = {tensor};
        node.attrs = std::make_unique<gert::RuntimeAttrs>(std::vector<float>{-0.25f, 0.75f});
        node.platform = vnpu::PlatformForTiling();
        node.tilingData = std::make_unique<gert::TilingData>(buffer.data(), buffer.size());
    }
    bool Run() {
        gert::TilingContext context(node);
        return HardtanhGrad().functions.tiling(&context) == ge::GRAPH_SUCCESS;
    }
    HardtanhGradTilingData Data() const {
        HardtanhGradTilingData data;
        std::memcpy(&data, buffer.data(), sizeof(data));
        return data;
    }
    std::vector<uint8_t> buffer;
    vnpu::Node node;
};

// The result of inference, or the shape {-99} where it fails.
gert::Shape Infer(const gert::Shape& shape, bool hasInput = true, bool hasOutput = true) {
    vnpu::Node node;
    node.inputs.resize(2);
    node.inputs[0].exists = hasInput;
    node.inputs[0].shape.MutableOriginShape() = shape;
    node.outputs.resize(hasOutput ? 1 : 0);
    gert::InferShapeContext context(node);
    return HardtanhGrad().functions.inferShape(&context) == ge::GRAPH_SUCCESS
               ? node.outputs[0].shape.GetOriginShape()
               : gert::Shape{-99};
}

}  // namespace

TEST(definition) {
    const vnpu::OpDefinition& definition = HardtanhGrad().definition;
    CHECK_EQ(definition.Fault(), "");
    CHECK_EQ(definition.type, "HardtanhGrad");
    CHECK_EQ(definition.inputs.size(), 2u);
    CHECK_EQ(definition.outputs.size(), 1u);
    CHECK_EQ(definition.inputs[0].name, "result");
    CHECK_EQ(definition.inputs[1].name, "grad");
    CHECK_EQ(definition.outputs[0].name, "y");
    for (const auto& param : {definition.inputs[0], definition.inputs[1], definition.outputs[0]}) {
        CHECK_EQ(param.type, ops::REQUIRED);
        CHECK(param.dataTypes == definition.outputs[0].dataTypes);
        CHECK(std::set<ge::DataType>(param.dataTypes.begin(), param.dataTypes.end()) ==
              std::set<ge::DataType>(std::begin(kDataTypes), std::end(kDataTypes)));
        CHECK(param.formats == std::vector<ge::Format>(3, ge::FORMAT_ND));
        CHECK(param.unknownShapeFormats == std::vector<ge::Format>(3, ge::FORMAT_ND));
    }
    CHECK_EQ(definition.attrs.size(), 2u);
    CHECK_EQ(definition.attrs[0].name, "min_val");
    CHECK_EQ(definition.attrs[0].defaultValue, -1.0f);
    CHECK_EQ(definition.attrs[1].name, "max_val");
    CHECK_EQ(definition.attrs[1].defaultValue, 1.0f);
    for (const auto& attr : definition.attrs) {
        CHECK(attr.isFloat && attr.hasDefault);
        CHECK_EQ(attr.type, ops::REQUIRED);
    }
    CHECK_EQ(definition.socs.count("ascend910b"), 1u);
    for (const auto& [soc, values] : definition.socs) {
        CHECK_EQ(values.at("dynamicShapeSupport.flag"), "true");
        CHECK_EQ(values.at("dynamicRankSupport.flag"), "true");
        // CANN before 9.1 does not heed the file name of a package in ASCEND_CUSTOM_OPP_PATH.
        CHECK_EQ(values.count("opFile.value"), 0u);
    }
}

TEST(faulty_definitions) {
    const vnpu::OpDefinition good = HardtanhGrad().definition;
    const auto fault = [&good](void (*spoil)(vnpu::OpDefinition&)) {
        vnpu::OpDefinition bad = good;
        spoil(bad);
        return bad.Fault();
    };
    CHECK_EQ(fault([](vnpu::OpDefinition& d) { d.inputs[1].dataTypes.pop_back(); }),
             "the lists of grad differ in length from those of result");
    CHECK_EQ(fault([](vnpu::OpDefinition& d) { d.outputs[0].formats.pop_back(); }),
             "the lists of y differ in length from those of result");
    CHECK_EQ(fault([](vnpu::OpDefinition& d) { d.outputs[0].name = "grad"; }), "grad is defined twice");
    CHECK_EQ(fault([](vnpu::OpDefinition& d) { d.attrs[1].isFloat = false; }),
             "attribute max_val has no type");
    CHECK_EQ(fault([](vnpu::OpDefinition& d) { d.socs.clear(); }),
             "the definition has no input, no output or no SoC");
}

TEST(infer_shape) {
    const gert::Shape longest{1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3, 1};
    // -1 is a dimension, -2 a rank that is not known yet.
    for (const gert::Shape& shape :
         {gert::Shape{}, gert::Shape{0}, gert::Shape{4, 2}, gert::Shape{-1}, gert::Shape{-1, 3, -1},
          gert::Shape{-2}, gert::Shape{int64_t{1} << 40}, longest})
        CHECK(Infer(shape) == shape);
    CHECK(Infer({4, 2}, false, true) == gert::Shape{-99});
    CHECK(Infer({4, 2}, true, false) == gert::Shape{-99});
}

TEST(infer_data_type) {
    for (const ge::DataType dataType : kDataTypes) {
        vnpu::Node node;
        node.inputs.resize(2);
        node.inputs[0].desc.SetDataType(dataType);
        node.outputs.resize(1);
        gert::InferDataTypeContext context(node);
        CHECK_EQ(HardtanhGrad().functions.inferDataType(&context), ge::GRAPH_SUCCESS);
        CHECK_EQ(node.outputs[0].desc.GetDataType(), dataType);
    }
    vnpu::Node node;
    gert::InferDataTypeContext context(node);
    CHECK_EQ(HardtanhGrad().functions.inferDataType(&context), ge::GRAPH_FAILED);
}

TEST(tiling_sets_everything) {
    for (const char* soc : {"ascend910b1", "ascend910b4"}) {
        vnpuSetPlatform(soc, 0, 0);
        for (const ge::DataType dataType : kDataTypes) {
            for (const int64_t elements :
                 {int64_t{0}, int64_t{1}, int64_t{5000}, kSmall, kSmall + 1, int64_t{1} << 40}) {
                Call call({elements}, dataType);
                CHECK(call.Run());
                CHECK(call.node.hasTilingKey && call.node.hasBlockDim);
                CHECK_EQ(call.node.tilingKey, elements > kSmall ? 1u : 0u);
                CHECK(call.node.workspaces == std::vector<size_t>{0});
                CHECK_EQ(call.node.tilingData->GetDataSize(), kDataSize);
                CHECK(call.node.blockDim >= 1 && call.node.blockDim <= vnpu::CurrentPlatform().vectorCores);
                CHECK_EQ(call.Data().elementCount, elements);
                CHECK_EQ(call.Data().minVal, -0.25f);
                CHECK_EQ(call.Data().maxVal, 0.75f);
                // The fields are those of the arithmetic, and none keeps what the buffer held before.
                optiling::HardtanhGradTiling tiling{};
                CHECK(optiling::ComputeHardtanhGradTiling(elements, dataType == ge::DT_FLOAT ? 4 : 2,
                                                          vnpu::CurrentPlatform().ubBytes,
                                                          vnpu::CurrentPlatform().vectorCores, tiling));
                CHECK_EQ(call.node.blockDim, tiling.blockDim);
                CHECK_EQ(call.Data().tileLength, tiling.data.tileLength);
                Call again({elements}, dataType, 0x5A);
                CHECK(again.Run());
                CHECK(std::memcmp(call.buffer.data(), again.buffer.data(), kDataSize) == 0);
                // Nothing behind the data is touched.
                CHECK_EQ(call.buffer[kDataSize], 0xA5);
            }
        }
    }
}

TEST(tiling_counts_elements_of_any_shape) {
    vnpuSetPlatform("ascend910b1", 0, 0);
    for (const gert::Shape& shape : {gert::Shape{}, gert::Shape{7}, gert::Shape{2, 3, 4},
                                     gert::Shape{3, 0, 5}, gert::Shape{1 << 20, 1 << 20}}) {
        Call call(shape);
        CHECK(call.Run());
        CHECK_EQ(call.Data().elementCount, shape.GetShapeSize());
    }
}

TEST(tiling_asks_the_platform) {
    const auto run = [](const char* soc, uint32_t cores, uint64_t ubBytes, int64_t elements) {
        vnpuSetPlatform(soc, cores, ubBytes);
        Call call({elements});
        CHECK(call.Run());
        return std::make_pair(call.node.blockDim, call.Data().tileLength);
    };
    const int64_t large = 8 << 20;
    CHECK_EQ(run("ascend910b1", 0, 0, large).first, 48u);
    CHECK_EQ(run("ascend910b3", 0, 0, large).first, 40u);
    CHECK_EQ(run("ascend910b1", 7, 0, large).first, 7u);
    CHECK_EQ(run("ascend910b1", 1, 0, 4 * kSmall).first, 1u);
    CHECK(run("ascend910b1", 0, 64 * 1024, large).second < run("ascend910b1", 0, 0, large).second);
    vnpuSetPlatform("ascend910b1", 0, 8192);
    CHECK(!Call({large}).Run());
}

TEST(tiling_refuses_what_is_missing) {
    vnpuSetPlatform("ascend910b1", 0, 0);
    const auto refuses = [](void (*spoil)(Call&)) {
        Call call({4, 2});
        spoil(call);
        return !call.Run();
    };
    CHECK(!refuses([](Call&) {}));
    CHECK(refuses([](Call& call) { call.node.inputs.clear(); }));
    CHECK(refuses([](Call& call) { call.node.inputs[0].exists = false; }));
    CHECK(refuses([](Call& call) { call.node.attrs = nullptr; }));
    CHECK(refuses(
        [](Call& call) { call.node.attrs = std::make_unique<gert::RuntimeAttrs>(std::vector<float>{1}); }));
    CHECK(refuses([](Call& call) { call.node.platform = nullptr; }));
    CHECK(refuses([](Call& call) { call.node.tilingData = nullptr; }));
    CHECK(refuses([](Call& call) {
        call.node.tilingData = std::make_unique<gert::TilingData>(call.buffer.data(), kDataSize - 1);
    }));
    CHECK(refuses([](Call& call) { call.node.workspaceLimit = 0; }));
    for (const gert::Shape& shape :
         {gert::Shape{-1}, gert::Shape{-2}, gert::Shape{int64_t{1} << 40, int64_t{1} << 40}})
        CHECK(!Call(shape).Run());
    for (const ge::DataType dataType : {ge::DT_DOUBLE, ge::DT_INT32, ge::DT_UNDEFINED})
        CHECK(!Call({8}, dataType).Run());
}

TEST(tiling_parse_is_registered) {
    const vnpu::OpFunctions& functions = HardtanhGrad().functions;
    vnpu::Node node;
    gert::TilingParseContext context(node);
    CHECK_EQ(functions.tilingParse(&context), ge::GRAPH_SUCCESS);
    CHECK_EQ(functions.maxTilingDataSize, 2048u);
}

TEST(shapes) {
    CHECK_EQ(gert::Shape().GetShapeSize(), 1);
    CHECK_EQ((gert::Shape{3, 0}).GetShapeSize(), 0);
    CHECK_EQ((gert::Shape{-1, 3}).GetShapeSize(), -3);
    CHECK_EQ((gert::Shape{int64_t{1} << 62, 4}).GetShapeSize(), gert::Shape::kInvalidDimValue);
    gert::Shape full;
    for (size_t i = 0; i < gert::Shape::kMaxDimNum + 3; ++i) full.AppendDim(1);
    CHECK_EQ(full.GetDimNum(), gert::Shape::kMaxDimNum);
}
