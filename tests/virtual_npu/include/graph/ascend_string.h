// The string of CANN's interfaces.
#ifndef GRAPH_ASCEND_STRING_H
#define GRAPH_ASCEND_STRING_H

#include <memory>
#include <string>

#include "graph/types.h"

namespace ge {

class AscendString {
public:
    AscendString() = default;
    AscendString(const char_t* name);
    const char_t* GetString() const;  // never null

private:
    std::shared_ptr<std::string> name_;
};

}  // namespace ge

#endif
