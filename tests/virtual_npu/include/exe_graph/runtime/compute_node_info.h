// What is known of a node's tensors when it is compiled.
#ifndef EXE_GRAPH_RUNTIME_COMPUTE_NODE_INFO_H
#define EXE_GRAPH_RUNTIME_COMPUTE_NODE_INFO_H

#include "graph/types.h"

namespace gert {

class CompileTimeTensorDesc {
public:
    ge::DataType GetDataType() const { return dataType_; }
    ge::Format GetOriginFormat() const { return originFormat_; }
    ge::Format GetStorageFormat() const { return storageFormat_; }
    void SetDataType(ge::DataType dataType) { dataType_ = dataType; }
    void SetOriginFormat(ge::Format format) { originFormat_ = format; }
    void SetStorageFormat(ge::Format format) { storageFormat_ = format; }

private:
    ge::DataType dataType_ = ge::DT_UNDEFINED;
    ge::Format originFormat_ = ge::FORMAT_ND;
    ge::Format storageFormat_ = ge::FORMAT_ND;
};

}  // namespace gert

#endif
