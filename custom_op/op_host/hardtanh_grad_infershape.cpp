#include "register/op_impl_registry.h"

namespace ops {
namespace {

constexpr size_t RESULT_INDEX = 0;
constexpr size_t Y_INDEX = 0;

ge::graphStatus InferShapeHardtanhGrad(gert::InferShapeContext* context) {
    const gert::Shape* result = context->GetInputShape(RESULT_INDEX);
    gert::Shape* y = context->GetOutputShape(Y_INDEX);
    if (result == nullptr || y == nullptr) {
        return ge::GRAPH_FAILED;
    }
    *y = *result;
    return ge::GRAPH_SUCCESS;
}

ge::graphStatus InferDataTypeHardtanhGrad(gert::InferDataTypeContext* context) {
    return context->SetOutputDataType(Y_INDEX, context->GetInputDataType(RESULT_INDEX));
}

}  // namespace

IMPL_OP_INFERSHAPE(HardtanhGrad).InferShape(InferShapeHardtanhGrad).InferDataType(InferDataTypeHardtanhGrad);

}  // namespace ops
