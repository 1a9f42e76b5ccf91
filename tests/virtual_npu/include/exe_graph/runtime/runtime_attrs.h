// An operator's attributes, in the order of its definition.
#ifndef EXE_GRAPH_RUNTIME_RUNTIME_ATTRS_H
#define EXE_GRAPH_RUNTIME_RUNTIME_ATTRS_H

#include <cstddef>
#include <vector>

namespace gert {

class RuntimeAttrs {
public:
    explicit RuntimeAttrs(std::vector<float> values) : values_(std::move(values)) {}
    // nullptr beyond the attributes.
    const float* GetFloat(size_t index) const { return index < values_.size() ? &values_[index] : nullptr; }

private:
    std::vector<float> values_;
};

}  // namespace gert

#endif
