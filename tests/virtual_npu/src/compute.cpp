// The arithmetic of the elementary operators.
#include "compute.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>

#include "acl/acl.h"

namespace vnpu {
namespace {

template <typename T>
T LoadAs(const uint8_t* data, int64_t index) {
    T value;
    std::memcpy(&value, data + index * static_cast<int64_t>(sizeof(T)), sizeof(T));
    return value;
}

template <typename T>
void StoreAs(uint8_t* data, int64_t index, T value) {
    std::memcpy(data + index * static_cast<int64_t>(sizeof(T)), &value, sizeof(T));
}

// Like a cast of the device: toward zero, saturated, and 0 for NaN.
template <typename T>
T ToInteger(double value) {
    if (std::isnan(value)) {
        return 0;
    }
    const double low = static_cast<double>(std::numeric_limits<T>::min());
    const double high = static_cast<double>(std::numeric_limits<T>::max());
    return value <= low    ? std::numeric_limits<T>::min()
           : value >= high ? std::numeric_limits<T>::max()
                           : static_cast<T>(value);
}

float BFloat16ToFloat(uint16_t bits) {
    const uint32_t wide = static_cast<uint32_t>(bits) << 16;
    float value;
    std::memcpy(&value, &wide, sizeof(value));
    return value;
}

// Rounds to the nearest, ties to even.
uint16_t FloatToBFloat16(float value) {
    uint32_t wide;
    std::memcpy(&wide, &value, sizeof(wide));
    if (std::isnan(value)) {
        return static_cast<uint16_t>((wide >> 16) | 0x40);
    }
    return static_cast<uint16_t>((wide + 0x7FFF + ((wide >> 16) & 1)) >> 16);
}

double Load(const Operand& x, int64_t index) {
    switch (x.dataType) {
        case ge::DT_FLOAT:
            return LoadAs<float>(x.data, index);
        case ge::DT_FLOAT16:
            return aclFloat16ToFloat(LoadAs<uint16_t>(x.data, index));
        case ge::DT_BF16:
            return BFloat16ToFloat(LoadAs<uint16_t>(x.data, index));
        case ge::DT_DOUBLE:
            return LoadAs<double>(x.data, index);
        case ge::DT_INT8:
            return LoadAs<int8_t>(x.data, index);
        case ge::DT_UINT8:
        case ge::DT_BOOL:
            return LoadAs<uint8_t>(x.data, index);
        case ge::DT_INT16:
            return LoadAs<int16_t>(x.data, index);
        case ge::DT_INT32:
            return LoadAs<int32_t>(x.data, index);
        case ge::DT_INT64:
            return static_cast<double>(LoadAs<int64_t>(x.data, index));
        default:
            return std::numeric_limits<double>::quiet_NaN();
    }
}

void Store(const Operand& x, int64_t index, double value) {
    switch (x.dataType) {
        case ge::DT_FLOAT:
            return StoreAs(x.data, index, static_cast<float>(value));
        case ge::DT_FLOAT16:
            return StoreAs(x.data, index, aclFloatToFloat16(static_cast<float>(value)));
        case ge::DT_BF16:
            return StoreAs(x.data, index, FloatToBFloat16(static_cast<float>(value)));
        case ge::DT_DOUBLE:
            return StoreAs(x.data, index, value);
        case ge::DT_INT8:
            return StoreAs(x.data, index, ToInteger<int8_t>(value));
        case ge::DT_UINT8:
            return StoreAs(x.data, index, ToInteger<uint8_t>(value));
        case ge::DT_BOOL:
            return StoreAs(x.data, index, static_cast<uint8_t>(value != 0));
        case ge::DT_INT16:
            return StoreAs(x.data, index, ToInteger<int16_t>(value));
        case ge::DT_INT32:
            return StoreAs(x.data, index, ToInteger<int32_t>(value));
        case ge::DT_INT64:
            return StoreAs(x.data, index, ToInteger<int64_t>(value));
        default:
            return;
    }
}

op::Shape ShapeOf(const std::vector<int64_t>& dims) {
    op::Shape shape;
    for (const int64_t dim : dims) {
        shape.AppendDim(dim);
    }
    return shape;
}

size_t Axis(int64_t dim, const op::Shape& shape) {
    return static_cast<size_t>(dim < 0 ? dim + static_cast<int64_t>(shape.GetDimNum()) : dim);
}

// How a dimension splits a contiguous tensor: element (outer, i, inner) lies at (outer * length + i) * inner.
struct Split {
    int64_t outer = 1;
    int64_t length = 1;
    int64_t inner = 1;

    Split(const op::Shape& shape, int64_t dim) {
        const size_t axis = Axis(dim, shape);
        for (size_t i = 0; i < shape.GetDimNum(); ++i) {
            (i < axis ? outer : i == axis ? length : inner) *= shape[i];
        }
    }

    // Calls f with the first index and the step of each run along the dimension.
    template <typename F>
    void ForEach(F f) const {
        for (int64_t o = 0; o < outer; ++o) {
            for (int64_t i = 0; i < inner; ++i) {
                f(static_cast<size_t>(o * length * inner + i), static_cast<size_t>(inner));
            }
        }
    }
};

// An index into a dimension; what it throws becomes the stream's error.
int64_t Index(double value, int64_t length) {
    const auto index = static_cast<int64_t>(value);
    if (index < 0 || index >= length) {
        throw std::out_of_range("index " + std::to_string(index) + " is outside a dimension of " +
                                std::to_string(length));
    }
    return index;
}

}  // namespace

std::vector<int64_t> Offsets(const Operand& x, const op::Shape& shape) {
    const size_t rank = shape.GetDimNum();
    const size_t lead = rank - x.shape.GetDimNum();
    std::vector<int64_t> offsets{0};
    for (size_t i = 0; i < rank; ++i) {
        const bool own = i >= lead && x.shape[i - lead] != 1;
        const int64_t stride = own ? x.strides[i - lead] : 0;
        std::vector<int64_t> next;
        next.reserve(offsets.size() * static_cast<size_t>(shape[i]));
        for (const int64_t base : offsets) {
            for (int64_t k = 0; k < shape[i]; ++k) {
                next.push_back(base + k * stride);
            }
        }
        offsets.swap(next);
    }
    return offsets;
}

Values Read(const Operand& x, const op::Shape& shape) {
    Values values;
    for (const int64_t offset : Offsets(x, shape)) {
        values.push_back(Load(x, offset));
    }
    return values;
}

Values Read(const Operand& x) { return Read(x, x.shape); }

void Write(const Operand& x, const Values& values) {
    size_t i = 0;
    for (const int64_t offset : Offsets(x, x.shape)) {
        Store(x, offset, values[i++]);
    }
}

HostTask Map(std::function<double(const double*)> f) {
    return [f](const std::vector<Operand>& x) {
        const Operand& out = x.back();
        std::vector<Values> inputs;
        for (size_t k = 0; k + 1 < x.size(); ++k) {
            inputs.push_back(Read(x[k], out.shape));
        }
        Values result(static_cast<size_t>(out.shape.GetShapeSize()));
        std::vector<double> element(inputs.size());
        for (size_t i = 0; i < result.size(); ++i) {
            for (size_t k = 0; k < inputs.size(); ++k) {
                element[k] = inputs[k][i];
            }
            result[i] = f(element.data());
        }
        Write(out, result);
        return ACL_SUCCESS;
    };
}

HostTask Fill(double value) {
    return Map([value](const double*) { return value; });
}

HostTask Copy() {
    return [](const std::vector<Operand>& x) {
        const Operand& from = x.front();
        const Operand& to = x.back();
        if (from.dataType != to.dataType) {
            Write(to, Read(from, to.shape));
            return ACL_SUCCESS;
        }
        const size_t size = op::TypeSize(to.dataType);
        const std::vector<int64_t> source = Offsets(from, to.shape);
        const std::vector<int64_t> target = Offsets(to, to.shape);
        for (size_t i = 0; i < target.size(); ++i) {
            std::memcpy(to.data + target[i] * static_cast<int64_t>(size),
                        from.data + source[i] * static_cast<int64_t>(size), size);
        }
        return ACL_SUCCESS;
    };
}

HostTask Permute(std::vector<int64_t> dims) {
    return [dims](const std::vector<Operand>& x) {
        Operand turned = x[0];
        for (size_t i = 0; i < dims.size(); ++i) {
            const size_t axis = Axis(dims[i], x[0].shape);
            turned.shape[i] = x[0].shape[axis];
            turned.strides[i] = x[0].strides[axis];
        }
        return Copy()({turned, x[1]});
    };
}

HostTask Repeat() {
    return [](const std::vector<Operand>& x) {
        const Operand& out = x.back();
        const Values values = Read(x[0]);
        const size_t rank = out.shape.GetDimNum();
        const size_t lead = rank - x[0].shape.GetDimNum();
        Values result(static_cast<size_t>(out.shape.GetShapeSize()));
        for (size_t i = 0; i < result.size(); ++i) {
            size_t rest = i;
            size_t index = 0;
            size_t step = 1;
            for (size_t d = rank; d-- > 0;) {
                const auto dim = static_cast<size_t>(out.shape[d]);
                if (d >= lead) {
                    const auto own = static_cast<size_t>(x[0].shape[d - lead]);
                    index += rest % dim % own * step;
                    step *= own;
                }
                rest /= dim;
            }
            result[i] = values[index];
        }
        Write(out, result);
        return ACL_SUCCESS;
    };
}

HostTask Cat(int64_t dim) {
    return [dim](const std::vector<Operand>& x) {
        const Operand& out = x.back();
        const size_t axis = Axis(dim, out.shape);
        Operand part = out;
        for (size_t k = 0; k + 1 < x.size(); ++k) {
            part.shape = x[k].shape;
            Copy()({x[k], part});
            part.data +=
                x[k].shape[axis] * out.strides[axis] * static_cast<int64_t>(op::TypeSize(out.dataType));
        }
        return ACL_SUCCESS;
    };
}

HostTask Reduce(std::vector<int64_t> dims, Reduction reduction) {
    return [dims, reduction](const std::vector<Operand>& x) {
        const Operand& out = x.back();
        const op::Shape& shape = x[0].shape;
        std::vector<int64_t> kept;
        for (size_t i = 0; i < shape.GetDimNum(); ++i) {
            const bool gone = dims.empty() || std::any_of(dims.begin(), dims.end(),
                                                          [&](int64_t dim) { return Axis(dim, shape) == i; });
            kept.push_back(gone ? 1 : shape[i]);
        }
        const op::Shape keptShape = ShapeOf(kept);
        const Values values = Read(x[0]);
        const bool isMax = reduction == Reduction::Max;
        Values result(static_cast<size_t>(keptShape.GetShapeSize()),
                      isMax ? -std::numeric_limits<double>::infinity() : 0.0);
        Operand slots{nullptr, ge::DT_DOUBLE, keptShape, {}};
        op::ToContiguousStrides(keptShape, slots.strides);
        const std::vector<int64_t> slot = Offsets(slots, shape);
        for (size_t i = 0; i < values.size(); ++i) {
            double& target = result[static_cast<size_t>(slot[i])];
            target = !isMax                                        ? target + values[i]
                     : std::isnan(values[i]) || values[i] > target ? values[i]
                                                                   : target;
        }
        if (reduction == Reduction::Mean) {
            for (double& value : result) {
                value *= static_cast<double>(result.size()) / static_cast<double>(values.size());
            }
        }
        Write(out, result);
        return ACL_SUCCESS;
    };
}

HostTask ArgMax(int64_t dim) {
    return [dim](const std::vector<Operand>& x) {
        const Values values = Read(x[0]);
        const Split split(x[0].shape, dim);
        Values result;
        split.ForEach([&](size_t first, size_t step) {
            size_t best = 0;
            for (size_t i = 1; i < static_cast<size_t>(split.length); ++i) {
                best = values[first + i * step] > values[first + best * step] ? i : best;
            }
            result.push_back(static_cast<double>(best));
        });
        Write(x.back(), result);
        return ACL_SUCCESS;
    };
}

HostTask Gather(int64_t dim) {
    return [dim](const std::vector<Operand>& x) {
        const Values values = Read(x[0]);
        const Values index = Read(x[1]);
        const Split from(x[0].shape, dim);
        const Split to(x[1].shape, dim);
        Values result(index.size());
        for (size_t i = 0; i < index.size(); ++i) {
            const auto inner = static_cast<int64_t>(i) % to.inner;
            const auto outer = static_cast<int64_t>(i) / (to.inner * to.length);
            const int64_t source = (outer * from.length + Index(index[i], from.length)) * from.inner + inner;
            result[i] = values[static_cast<size_t>(source)];
        }
        Write(x.back(), result);
        return ACL_SUCCESS;
    };
}

HostTask ScatterAdd(int64_t dim) {
    return [dim](const std::vector<Operand>& x) {
        Values result = Read(x[0]);
        const Values index = Read(x[1]);
        const Values source = Read(x[2], x[1].shape);
        const Split to(x[0].shape, dim);
        const Split from(x[1].shape, dim);
        for (size_t i = 0; i < index.size(); ++i) {
            const auto inner = static_cast<int64_t>(i) % from.inner;
            const auto outer = static_cast<int64_t>(i) / (from.inner * from.length);
            const int64_t target = (outer * to.length + Index(index[i], to.length)) * to.inner + inner;
            result[static_cast<size_t>(target)] += source[i];
        }
        Write(x.back(), result);
        return ACL_SUCCESS;
    };
}

HostTask MatMul(double alpha, double beta) {
    return [alpha, beta](const std::vector<Operand>& x) {
        const Operand& left = x[x.size() - 3];
        const Operand& right = x[x.size() - 2];
        const Operand& out = x.back();
        const Values a = Read(left);
        const Values b = Read(right);
        const auto rows = static_cast<size_t>(left.shape[0]);
        const auto inner = static_cast<size_t>(left.shape[1]);
        const auto columns = static_cast<size_t>(right.shape[1]);
        Values result(rows * columns);
        for (size_t i = 0; i < rows; ++i) {
            for (size_t k = 0; k < inner; ++k) {
                for (size_t j = 0; j < columns; ++j) {
                    result[i * columns + j] += a[i * inner + k] * b[k * columns + j];
                }
            }
        }
        if (x.size() == 4) {
            const Values added = Read(x[0], out.shape);
            for (size_t i = 0; i < result.size(); ++i) {
                result[i] = alpha * result[i] + beta * added[i];
            }
        }
        Write(out, result);
        return ACL_SUCCESS;
    };
}

HostTask LogSoftmax(int64_t dim) {
    return [dim](const std::vector<Operand>& x) {
        Values values = Read(x[0]);
        const Split split(x[0].shape, dim);
        split.ForEach([&](size_t first, size_t step) {
            const size_t end = first + static_cast<size_t>(split.length) * step;
            double top = -std::numeric_limits<double>::infinity();
            double sum = 0;
            for (size_t i = first; i < end; i += step) {
                top = std::max(top, values[i]);
            }
            for (size_t i = first; i < end; i += step) {
                sum += std::exp(values[i] - top);
            }
            for (size_t i = first; i < end; i += step) {
                values[i] -= top + std::log(sum);
            }
        });
        Write(x.back(), values);
        return ACL_SUCCESS;
    };
}

HostTask Softmax(int64_t dim) {
    return [dim](const std::vector<Operand>& x) {
        LogSoftmax(dim)(x);
        return Map([](const double* value) { return std::exp(value[0]); })({x[1], x[1]});
    };
}

HostTask LogSoftmaxBackward(int64_t dim) {
    return [dim](const std::vector<Operand>& x) {
        Values gradient = Read(x[0]);
        const Values output = Read(x[1]);
        const Split split(x[0].shape, dim);
        split.ForEach([&](size_t first, size_t step) {
            const size_t end = first + static_cast<size_t>(split.length) * step;
            double sum = 0;
            for (size_t i = first; i < end; i += step) {
                sum += gradient[i];
            }
            for (size_t i = first; i < end; i += step) {
                gradient[i] -= std::exp(output[i]) * sum;
            }
        });
        Write(x.back(), gradient);
        return ACL_SUCCESS;
    };
}

}  // namespace vnpu
