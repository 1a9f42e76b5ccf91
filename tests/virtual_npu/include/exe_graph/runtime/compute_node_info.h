// What is known of a node's tensors when it is compiled.
#ifndef EXE_GRAPH_RUNTIME_COMPUTE_NODE_INFO_H
#define EXE_GRAPH_RUNTIME_COMPUTE_NODE_INFO_H

#include "graph/types.h"

namespace gert {

class CompileTimeTensorDesc {
public:
    ge::DataType GetDataType() const { return dataType_; }
    void SetDataType(ge::DataType dataType) { dataType_ = dataType; }

private:
    ge::DataType dataType_ = ge::DT_UNDEFINED;
};

}  // namespace gert

#endif
