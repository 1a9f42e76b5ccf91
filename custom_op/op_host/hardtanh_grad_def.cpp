#include <vector>

#include "register/op_def_registry.h"

namespace ops {

// y = result > max_val or result < min_val ? 0 : grad, elementwise; result, grad and y have one shape and
// dtype.
class HardtanhGrad : public OpDef {
public:
    explicit HardtanhGrad(const char* name) : OpDef(name) {
        const std::vector<ge::DataType> dtypes = {ge::DT_BF16, ge::DT_FLOAT16, ge::DT_FLOAT};
        const std::vector<ge::Format> formats(dtypes.size(), ge::FORMAT_ND);
        this->Input("result").ParamType(REQUIRED).DataType(dtypes).Format(formats).UnknownShapeFormat(
            formats);
        this->Input("grad").ParamType(REQUIRED).DataType(dtypes).Format(formats).UnknownShapeFormat(formats);
        this->Output("y").ParamType(REQUIRED).DataType(dtypes).Format(formats).UnknownShapeFormat(formats);
        this->Attr("min_val").AttrType(REQUIRED).Float(-1.0f);
        this->Attr("max_val").AttrType(REQUIRED).Float(1.0f);

        OpAICoreConfig config;
        config.DynamicCompileStaticFlag(true)
            .DynamicFormatFlag(false)
            .DynamicRankSupportFlag(true)
            .DynamicShapeSupportFlag(true)
            .NeedCheckSupportFlag(false)
            .PrecisionReduceFlag(true);
        this->AICore().AddConfig("ascend910b", config);
        this->AICore().AddConfig("ascend910_93", config);
    }
};

OP_ADD(HardtanhGrad);

}  // namespace ops
