// Results of tiling and infer functions.
#ifndef GRAPH_ERROR_CODES_H
#define GRAPH_ERROR_CODES_H

#include <cstdint>

namespace ge {

using graphStatus = uint32_t;
const graphStatus GRAPH_FAILED = 0xFFFFFFFF;
const graphStatus GRAPH_SUCCESS = 0;
const graphStatus GRAPH_PARAM_INVALID = 50331649;

}  // namespace ge

#endif
