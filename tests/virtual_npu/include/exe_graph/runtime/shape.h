// A shape of up to 25 dimensions.
#ifndef EXE_GRAPH_RUNTIME_SHAPE_H
#define EXE_GRAPH_RUNTIME_SHAPE_H

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>

namespace gert {

struct Shape {
    static constexpr size_t kMaxDimNum = 25;
    static constexpr int64_t kInvalidDimValue = std::numeric_limits<int64_t>::min();

    Shape() = default;
    Shape(const std::initializer_list<int64_t>& dims);
    bool operator==(const Shape& other) const;
    bool operator!=(const Shape& other) const { return !(*this == other); }

    // Product of the dimensions: 1 at rank 0, kInvalidDimValue where it does not fit.
    int64_t GetShapeSize() const;
    size_t GetDimNum() const { return dimNum_; }
    void SetDimNum(size_t dimNum) { dimNum_ = dimNum; }
    int64_t operator[](size_t index) const { return dims_[index]; }
    int64_t& operator[](size_t index) { return dims_[index]; }
    Shape& AppendDim(int64_t value);

private:
    size_t dimNum_ = 0;
    int64_t dims_[kMaxDimNum] = {};
};

}  // namespace gert

#endif
