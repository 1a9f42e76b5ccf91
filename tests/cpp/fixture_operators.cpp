// A vendor package of operators that the launcher must refuse, and of two that it must not. Each takes a
// tensor and gives one.
#include "register/op_def_registry.h"

namespace {

ge::graphStatus Tile(gert::TilingContext* context) {
    context->SetTilingKey(0);
    context->SetBlockDim(1);
    context->GetWorkspaceSizes(1)[0] = 0;
    return ge::GRAPH_SUCCESS;
}

ge::graphStatus TileWithWorkspace(gert::TilingContext* context) {
    Tile(context);
    context->GetWorkspaceSizes(1)[0] = 1000;
    return ge::GRAPH_SUCCESS;
}

ge::graphStatus TileWithoutKey(gert::TilingContext* context) {
    context->SetBlockDim(1);
    return ge::GRAPH_SUCCESS;
}

ge::graphStatus TileWithoutBlocks(gert::TilingContext* context) {
    context->SetTilingKey(0);
    return ge::GRAPH_SUCCESS;
}

ge::graphStatus TileForNoCore(gert::TilingContext* context) {
    Tile(context);
    context->SetBlockDim(0);
    return ge::GRAPH_SUCCESS;
}

ge::graphStatus TileWithoutWorkspaceSize(gert::TilingContext* context) {
    context->SetTilingKey(0);
    context->SetBlockDim(1);
    context->GetWorkspaceSizes(1);
    return ge::GRAPH_SUCCESS;
}

ge::graphStatus TileWithTwoWorkspaces(gert::TilingContext* context) {
    Tile(context);
    size_t* const sizes = context->GetWorkspaceSizes(2);
    sizes[0] = sizes[1] = 64;
    return ge::GRAPH_SUCCESS;
}

ge::graphStatus TileTooMuch(gert::TilingContext* context) {
    struct TooMuch {
        char bytes[2049];
    };
    Tile(context);
    return context->GetTilingData<TooMuch>() == nullptr ? ge::GRAPH_FAILED : ge::GRAPH_SUCCESS;
}

ge::graphStatus Refuse(gert::TilingContext*) { return ge::GRAPH_FAILED; }

struct CompileInfo {};

UINT32 RefuseToParse(gert::TilingParseContext*) { return ge::GRAPH_FAILED; }

}  // namespace

namespace ops {

class Operator : public OpDef {
public:
    Operator(const char* name, gert::OpImplRegisterV2::TilingKernelFunc tiling) : OpDef(name) {
        Input("x")
            .ParamType(REQUIRED)
            .DataType({ge::DT_FLOAT, ge::DT_FLOAT16})
            .Format({ge::FORMAT_ND, ge::FORMAT_ND});
        Output("y")
            .ParamType(REQUIRED)
            .DataType({ge::DT_FLOAT, ge::DT_FLOAT16})
            .Format({ge::FORMAT_ND, ge::FORMAT_ND});
        AICore().SetTiling(tiling).AddConfig("ascend910b");
    }
};

#define FIXTURE(name, tiling)                                       \
    class name : public Operator {                                  \
    public:                                                         \
        explicit name(const char* type) : Operator(type, tiling) {} \
    };                                                              \
    OP_ADD(name)

FIXTURE(Good, Tile);
FIXTURE(WithWorkspace, TileWithWorkspace);
FIXTURE(WithoutKey, TileWithoutKey);
FIXTURE(WithoutBlocks, TileWithoutBlocks);
FIXTURE(ForNoCore, TileForNoCore);
FIXTURE(WithoutWorkspaceSize, TileWithoutWorkspaceSize);
FIXTURE(WithTwoWorkspaces, TileWithTwoWorkspaces);
FIXTURE(TooMuch, TileTooMuch);
FIXTURE(Refusing, Refuse);
FIXTURE(WithoutTiling, nullptr);
FIXTURE(WithoutParse, Tile);
FIXTURE(WithoutKernel, Tile);

class Uneven : public OpDef {
public:
    explicit Uneven(const char* type) : OpDef(type) {
        Input("x").ParamType(REQUIRED).DataType({ge::DT_FLOAT, ge::DT_FLOAT16}).Format({ge::FORMAT_ND});
        Output("y").ParamType(REQUIRED).DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND});
        AICore().SetTiling(Tile).AddConfig("ascend910b");
    }
};
OP_ADD(Uneven);

class OfAnotherSoc : public OpDef {
public:
    explicit OfAnotherSoc(const char* type) : OpDef(type) {
        Input("x").ParamType(REQUIRED).DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND});
        Output("y").ParamType(REQUIRED).DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND});
        AICore().SetTiling(Tile).AddConfig("ascend310p");
    }
};
OP_ADD(OfAnotherSoc);

}  // namespace ops

// After OP_ADD, which registers a parse function too.
IMPL_OP_OPTILING(WithoutParse).TilingParse<CompileInfo>(RefuseToParse);
