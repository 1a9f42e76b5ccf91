// The arithmetic of the elementary operators, in double precision, rounded once to the type of the output.
// The operands of a task are its inputs and, last, its output; the inputs are broadcast where numpy would.
#ifndef VNPU_COMPUTE_H
#define VNPU_COMPUTE_H

#include <functional>
#include <vector>

#include "host.h"

namespace vnpu {

using Values = std::vector<double>;

// Offsets, in elements, of x broadcast to the shape, in row-major order.
std::vector<int64_t> Offsets(const Operand& x, const op::Shape& shape);
Values Read(const Operand& x, const op::Shape& shape);
Values Read(const Operand& x);
void Write(const Operand& x, const Values& values);

// One element of the output from one of each input.
HostTask Map(std::function<double(const double*)> f);
HostTask Fill(double value);
// Bit for bit where the types are equal, else converted.
HostTask Copy();
HostTask Permute(std::vector<int64_t> dims);
// The input as often as it fits the output.
HostTask Repeat();
HostTask Cat(int64_t dim);
enum class Reduction { Sum, Mean, Max };
// No dims: all of them.
HostTask Reduce(std::vector<int64_t> dims, Reduction reduction);
HostTask ArgMax(int64_t dim);
// Inputs: values, index.
HostTask Gather(int64_t dim);
// Inputs: values, index, source.
HostTask ScatterAdd(int64_t dim);
// Inputs: left and right, or beta's addend before them.
HostTask MatMul(double alpha = 1, double beta = 0);
HostTask LogSoftmax(int64_t dim);
// Rounded twice: it goes through the logarithm.
HostTask Softmax(int64_t dim);
// Inputs: gradient and LogSoftmax's output.
HostTask LogSoftmaxBackward(int64_t dim);

}  // namespace vnpu

#endif
