"""The CPU library through its C functions, against the oracle: values, sizes, alignment, threads, instruction sets."""

import ctypes
import importlib.util
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import oracle
import pytest

DTYPE_CODES = {"float32": 0, "float16": 1, "bfloat16": 27}
STORAGE = {"float32": np.float32, "float16": np.float16, "bfloat16": np.uint16}
INSTRUCTION_SETS = {"baseline": 0, "avx2": 1, "avx512": 2}
INVALID = 161002
STREAMING_BYTES = 8 << 20  # results from this size on are written past the caches
MOST_BOUNDS = oracle.BOUNDS + (
    (-0.0, 0.0),
    (0.0, -0.0),
    (np.inf, np.inf),
    (-np.inf, -np.inf),
    (np.nan, 1.0),
    (-1.0, np.nan),
    (np.nan, np.nan),
    (2.0, -1.0),
    (np.inf, -np.inf),
    (-1e6, 1e6),
    (-65519.996, 65520.0),
    (-65504.0, 65504.0),
    (-3.4e38, 3.4028235e38),
    (1e-8, 5e-8),
    (-5.9604645e-08, 5.9604645e-08),
    (-1e-40, 1e-40),
    (-1e-45, 1e-45),
    (0.99999994, 1.0000001),
)


def library_path():
    """The library that the package loads, found without importing the package and with it MindSpore."""
    path = Path(importlib.util.find_spec("ms_hardtanh_grad").origin).parent / "libhardtanh_cpu.so"
    assert path.exists(), f"{path} is missing: pip install -e . compiles it"
    return path


def load():
    """The library with the C functions declared."""
    library = ctypes.CDLL(str(library_path()))
    pointer, bounds = ctypes.c_void_p, [ctypes.c_float, ctypes.c_float]
    library.hardtanh_grad_cpu.argtypes = [pointer] * 3 + [ctypes.c_int64, ctypes.c_int, *bounds, ctypes.c_int]
    library.hardtanh_cpu.argtypes = [pointer] * 2 + [ctypes.c_int64, ctypes.c_int, *bounds, ctypes.c_int]
    return library


LIBRARY = load()
BEST = max(code for code in INSTRUCTION_SETS.values() if LIBRARY.hardtanh_cpu_use_instruction_set(code) == 0)


@pytest.fixture(params=INSTRUCTION_SETS)
def instruction_set(request):
    """Forces each instruction set in turn; the best one is back in use afterwards."""
    if LIBRARY.hardtanh_cpu_use_instruction_set(INSTRUCTION_SETS[request.param]) != 0:
        pytest.skip(f"this processor has no {request.param}")
    yield request.param
    assert LIBRARY.hardtanh_cpu_use_instruction_set(BEST) == 0


def kernel_grad(grad_output, self, bounds, dtype, out=None, threads=0):
    """hardtanh_grad_cpu on arrays."""
    out = np.empty_like(self) if out is None else out
    code = LIBRARY.hardtanh_grad_cpu(
        grad_output.ctypes.data, self.ctypes.data, out.ctypes.data, self.size, DTYPE_CODES[dtype], *bounds, threads
    )
    assert code == 0
    return out


def kernel_forward(x, bounds, dtype, out=None, threads=0):
    """hardtanh_cpu on arrays."""
    out = np.empty_like(x) if out is None else out
    assert LIBRARY.hardtanh_cpu(x.ctypes.data, out.ctypes.data, x.size, DTYPE_CODES[dtype], *bounds, threads) == 0
    return out


def bits_of(array):
    """The bit patterns of an array."""
    return array.view({2: np.uint16, 4: np.uint32}[array.dtype.itemsize])


def same_bits(actual, expected):
    """Whether two arrays are the same bytes."""
    return np.array_equal(bits_of(actual), bits_of(expected))


def check_values(self, grad_output, dtype, bounds):
    """Both functions against the oracle."""
    expected = oracle.hardtanh_grad(grad_output, self, *bounds)
    actual = kernel_grad(grad_output, self, bounds, dtype)
    wrong = np.flatnonzero(bits_of(actual) != bits_of(expected))
    assert wrong.size == 0, f"gradient differs for self bits {bits_of(self)[wrong[:5]]} with bounds {bounds}"
    expected = oracle.hardtanh(self, *bounds)
    actual = kernel_forward(self, bounds, dtype)
    wrong = np.flatnonzero(bits_of(actual) != bits_of(expected))
    assert wrong.size == 0, f"forward differs for x bits {bits_of(self)[wrong[:5]]} with bounds {bounds}"


def offset_array(values, offset):
    """A copy of `values` that starts `offset` elements after a 64-byte boundary."""
    size = values.dtype.itemsize
    buffer = np.empty(values.nbytes + 64 + offset * size, np.uint8)
    start = -buffer.ctypes.data % 64 + offset * size
    array = buffer[start : start + values.nbytes].view(values.dtype)
    array[:] = values
    return array


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_every_16_bit_pattern(instruction_set, dtype):
    """All 65,536 values of self, NaNs included, against gradients that are NaN, infinite, -0.0 and ordinary."""
    self = np.arange(1 << 16, dtype=np.uint16).view(STORAGE[dtype])
    grad_output = np.random.default_rng(1).permutation(bits_of(self)).view(self.dtype)
    for bounds in MOST_BOUNDS:
        check_values(self, grad_output, dtype, bounds)


def test_float32_around_bounds_and_special_values(instruction_set):
    """The neighbours of each bound, the special values, and random bit patterns."""
    generator = np.random.default_rng(2)
    for bounds in MOST_BOUNDS:
        near = np.array(bounds, np.float32).view(np.uint32)[:, None] + np.arange(-40, 41).astype(np.uint32)
        self = np.concatenate(
            [
                near.ravel().view(np.float32),
                oracle.special_values("float32"),
                generator.integers(0, 1 << 32, 100_000, np.uint32).view(np.float32),
            ]
        )
        grad_output = generator.integers(0, 1 << 32, self.size, np.uint32).view(np.float32)
        check_values(self, grad_output, "float32", bounds)


def test_worked_example():
    """The contract's example in all three types."""
    example = oracle.WORKED_EXAMPLE
    for dtype in oracle.DTYPES:
        self, grad_output, out = (
            oracle.from_float32(np.array(example[name], np.float32), dtype) for name in ("self", "grad_output", "out")
        )
        assert same_bits(kernel_grad(grad_output, self, (example["min"], example["max"]), dtype), out)


@pytest.mark.parametrize("dtype", oracle.DTYPES)
def test_every_length(instruction_set, dtype):
    """1 to 1100 elements, around powers of two, and streaming sizes: the whole result and nothing beside it."""
    streaming = STREAMING_BYTES // np.dtype(STORAGE[dtype]).itemsize
    lengths = [*range(1101), *((1 << power) + delta for power in range(11, 21) for delta in (-1, 0, 1))]
    lengths += [streaming - 1, streaming, streaming + 1, streaming + 12_345]
    grad_output, self = oracle.random_inputs(max(lengths), dtype)
    bounds = (-1.0, 1.0)
    expected_grad = bits_of(oracle.hardtanh_grad(grad_output, self, *bounds))
    expected_forward = bits_of(oracle.hardtanh(self, *bounds))
    guard = 64
    out = np.empty(max(lengths) + 2 * guard, self.dtype)
    bits = bits_of(out)
    for length in lengths:
        for expected, run in (
            (expected_grad, lambda view, n: kernel_grad(grad_output[:n], self[:n], bounds, dtype, out=view)),
            (expected_forward, lambda view, n: kernel_forward(self[:n], bounds, dtype, out=view)),
        ):
            bits[: length + 2 * guard] = 0xA5A5
            run(out[guard : guard + length], length)
            assert np.array_equal(bits[guard : guard + length], expected[:length]), length
            assert np.all(bits[:guard] == 0xA5A5) and np.all(bits[guard + length : length + 2 * guard] == 0xA5A5)


@pytest.mark.parametrize("dtype", oracle.DTYPES)
def test_any_alignment(instruction_set, dtype):
    """Each tensor starts at its own element offset from a cache line, below and above the streaming size."""
    item = np.dtype(STORAGE[dtype]).itemsize
    for count, rounds in ((3001, 60), (STREAMING_BYTES // item + 3001, 3)):
        grad_output, self = oracle.random_inputs(count, dtype, seed=3)
        expected_grad = oracle.hardtanh_grad(grad_output, self, -0.5, 0.7)
        expected_forward = oracle.hardtanh(self, -0.5, 0.7)
        generator = np.random.default_rng(4)
        for _ in range(rounds):
            offsets = generator.integers(0, 64 // item, 3)
            grad_view, self_view, out = (
                offset_array(values, offset) for values, offset in zip((grad_output, self, self), offsets)
            )
            assert same_bits(kernel_grad(grad_view, self_view, (-0.5, 0.7), dtype, out=out), expected_grad), offsets
            assert same_bits(kernel_forward(self_view, (-0.5, 0.7), dtype, out=out), expected_forward), offsets


@pytest.mark.parametrize("dtype", oracle.DTYPES)
@pytest.mark.parametrize("count", [1000, 1 << 20, (8 << 20) + 5])
def test_in_place(dtype, count):
    """The result may replace either input."""
    grad_output, self = oracle.random_inputs(count, dtype, seed=5)
    expected = oracle.hardtanh_grad(grad_output, self, -1.0, 1.0)
    out = grad_output.copy()
    assert same_bits(kernel_grad(out, self, (-1.0, 1.0), dtype, out=out), expected)
    out = self.copy()
    assert same_bits(kernel_grad(grad_output, out, (-1.0, 1.0), dtype, out=out), expected)
    out = self.copy()
    assert same_bits(kernel_forward(out, (-1.0, 1.0), dtype, out=out), oracle.hardtanh(self, -1.0, 1.0))


@pytest.mark.parametrize("dtype", oracle.DTYPES)
def test_same_bits_for_any_number_of_threads(dtype):
    """1, 2, 3 and 7 threads, and more than there are shares of work."""
    for count in ((1 << 20) + 77, (5 << 20) + 1):
        grad_output, self = oracle.random_inputs(count, dtype, seed=6)
        expected_grad = oracle.hardtanh_grad(grad_output, self, -1.0, 1.0)
        expected_forward = oracle.hardtanh(self, -1.0, 1.0)
        for threads in (1, 2, 3, 7, 1000):
            assert same_bits(kernel_grad(grad_output, self, (-1.0, 1.0), dtype, threads=threads), expected_grad)
            assert same_bits(kernel_forward(self, (-1.0, 1.0), dtype, threads=threads), expected_forward)


def test_hundred_runs_give_the_same_bits():
    """Which thread takes which share varies; the result does not."""
    grad_output, self = oracle.random_inputs((1 << 20) + 77, "bfloat16", seed=7)
    expected = oracle.hardtanh_grad(grad_output, self, -1.0, 1.0)
    out = np.empty_like(self)
    for _ in range(100):
        out[:] = 0xA5A5
        assert same_bits(kernel_grad(grad_output, self, (-1.0, 1.0), "bfloat16", out=out, threads=3), expected)


def test_eight_callers_at_once():
    """Python threads with sizes, types and bounds of their own, all of them allowed helpers."""
    wrong = []
    barrier = threading.Barrier(8)

    def call(index):
        dtype = oracle.DTYPES[index % 3]
        bounds = (-0.25 * index, 0.5 * index)
        grad_output, self = oracle.random_inputs((1 << 20) + 1000 * index, dtype, seed=index)
        expected = oracle.hardtanh_grad(grad_output, self, *bounds)
        barrier.wait()
        for _ in range(20):
            if not same_bits(kernel_grad(grad_output, self, bounds, dtype, threads=3), expected):
                wrong.append(index)

    callers = [threading.Thread(target=call, args=(index,)) for index in range(8)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert not wrong


def run_python(body, timeout=60):
    """Run `body` in a fresh Python that can import this module as `kernel`."""
    code = f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})\nimport test_cpu_kernel as kernel\n{body}"
    result = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True, timeout=timeout)
    assert result.returncode == 0, result.stderr
    return result.stdout


FORK = """
import os, threading, oracle
grad_output, self = oracle.random_inputs(1 << 20, "float32")
expected = oracle.hardtanh_grad(grad_output, self, -1.0, 1.0)

def right():
    return kernel.same_bits(kernel.kernel_grad(grad_output, self, (-1.0, 1.0), "float32", threads=3), expected)

assert right()
stop = threading.Event()
busy = threading.Thread(target=lambda: [right() for _ in iter(stop.is_set, True)])
busy.start()
children = []
for _ in range(20):
    child = os.fork()
    if child == 0:
        os._exit(0 if right() and len(os.listdir("/proc/self/task")) == 3 else 1)
    children.append(child)
assert [os.waitpid(child, 0)[1] for child in children] == [0] * 20
stop.set()
busy.join()
assert right()
"""


def test_works_in_a_forked_child():
    """As in a data loader: a child has none of its parent's threads, which may be at work; it starts its own."""
    run_python(FORK)


UNLOAD = """
import _ctypes, time, numpy as np
x = np.zeros(1 << 20, np.float32)
kernel.kernel_grad(x, x, (-1.0, 1.0), "float32", threads=3)
_ctypes.dlclose(kernel.LIBRARY._handle)
time.sleep(0.1)
print("libhardtanh_cpu.so" in open("/proc/self/maps").read())
"""


def test_stays_loaded_after_dlclose():
    """MindSpore closes the library with its last operator, while the library's threads wait in it."""
    assert run_python(UNLOAD).strip() == "True"


@pytest.mark.parametrize("bad", ["dtype", "count", "threads"])
def test_refuses_bad_arguments_and_touches_nothing(bad):
    """161002, and no write."""
    x, out = np.zeros(8, np.float32), np.full(8, 7, np.float32)
    count, dtype, threads = {"dtype": (8, 2, 0), "count": (-1, 0, 0), "threads": (8, 0, -1)}[bad]
    pointers = [x.ctypes.data, x.ctypes.data, out.ctypes.data]
    assert LIBRARY.hardtanh_grad_cpu(*pointers, count, dtype, -1.0, 1.0, threads) == INVALID
    assert LIBRARY.hardtanh_cpu(*pointers[1:], count, dtype, -1.0, 1.0, threads) == INVALID
    assert np.all(out == 7)


def test_refuses_an_unknown_instruction_set():
    """And keeps the one in use."""
    assert LIBRARY.hardtanh_cpu_use_instruction_set(3) == INVALID
    assert LIBRARY.hardtanh_cpu_use_instruction_set(-1) == INVALID


def compile_cpp(source, path, *flags):
    """Compile C++ text, or skip the test on a machine that has the library but no compiler."""
    compiler = shutil.which(os.environ.get("CXX", "g++"))
    if compiler is None:
        pytest.skip("no C++ compiler on this machine")
    command = [compiler, "-std=c++17", "-x", "c++", "-", "-x", "none", "-o", str(path), *flags]
    subprocess.run(command, input=source, text=True, check=True)


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="sets a register of x86-64")
def test_subnormals_count_when_the_process_flushes_them(tmp_path):
    """Comparisons of subnormal numbers do not depend on the thread's flush-to-zero and denormals-are-zero modes."""
    source = '#include <xmmintrin.h>\nextern "C" void set() { _mm_setcsr(_mm_getcsr() | 0x8040); }\n'
    compile_cpp(source, tmp_path / "flush.so", "-shared", "-fPIC")
    flush = ctypes.CDLL(str(tmp_path / "flush.so"))
    bounds = (-1e-40, 2e-41)
    cases = []
    for dtype in oracle.DTYPES:
        grad_output, self = oracle.random_inputs(4096, dtype, seed=8, scale=1e-40)
        cases.append((grad_output, self, dtype, oracle.hardtanh_grad(grad_output, self, *bounds)))
    results = []
    converted = tuple(map(ctypes.c_float, bounds))  # here, because that conversion would flush them too

    def call():
        flush.set()
        results.extend(kernel_grad(grad_output, self, converted, dtype) for grad_output, self, dtype, _ in cases)

    thread = threading.Thread(target=call)
    thread.start()
    thread.join()
    assert all(same_bits(actual, expected) for actual, (_, _, _, expected) in zip(results, cases))


AOT = """
#include <cstdint>
#include <exception>
#include <iostream>
#include <string>
#include <vector>
struct AotExtra {  // as MindSpore declares it
    virtual ~AotExtra() = default;
    virtual bool HasAttr(std::string) { return true; }
    virtual bool GetAttrBool(std::string) { throw std::string("not a bool"); }
    virtual int64_t GetAttrInt(std::string) { throw std::string("not an int"); }
    virtual float GetAttrFloat(std::string name) { return name == "min_val" ? -1.0f : 1.0f; }
};
extern "C" std::vector<int64_t> HardtanhGradInferShape(int*, int64_t**, AotExtra*);
extern "C" std::vector<int64_t> HardtanhInferShape(int*, int64_t**, AotExtra*);
extern "C" int HardtanhGrad(int, void**, int*, int64_t**, const char**, void*, void*);
extern "C" int Hardtanh(int, void**, int*, int64_t**, const char**, void*, void*);
// Reads a dtype, the number of inputs, then for each the number of dimensions and these; infers the output's shape and
// calls the operator as MindSpore does, and writes the shape and either what the call returned or what it threw.
int main() {
    AotExtra extra;
    std::string dtype;
    for (int inputs; std::cin >> dtype >> inputs;) {
        std::vector<std::vector<int64_t>> shapes(inputs);
        std::vector<int> ndims;
        std::vector<int64_t*> dims;
        for (auto& shape : shapes) {
            int ndim;
            std::cin >> ndim;
            shape.resize(ndim);
            for (int64_t& dim : shape) {
                std::cin >> dim;
            }
            ndims.push_back(ndim);
            dims.push_back(shape.data());
        }
        auto y = (inputs == 2 ? HardtanhGradInferShape : HardtanhInferShape)(ndims.data(), dims.data(), &extra);
        for (const int64_t dim : y) {
            std::cout << dim << ' ';
        }
        ndims.push_back(y.size());
        dims.push_back(y.data());
        std::vector<std::vector<float>> data(inputs + 1, std::vector<float>(1 << 16));
        std::vector<void*> params;
        for (auto& tensor : data) {
            params.push_back(tensor.data());
        }
        const std::vector<const char*> dtypes(inputs + 1, dtype.c_str());
        const auto call = inputs == 2 ? HardtanhGrad : Hardtanh;
        try {
            std::cout << call(inputs + 1, params.data(), ndims.data(), dims.data(), const_cast<const char**>(dtypes.data()),
                              nullptr, &extra);
        } catch (const std::exception& error) {
            std::cout << error.what();
        }
        std::cout << std::endl;
    }
}
"""


def test_aot_operators_answer_as_the_python_infer_pair(tmp_path):
    """The operators against the package's infer pair: same shapes, same refusals, same words."""
    from ms_hardtanh_grad import contract

    generator = np.random.default_rng(9)
    cases = [((2, 3), (3, 2)), ((2, 3), (2, 3, 1)), ((), ()), ((5,), (6,)), ((1,) * 9, (1,) * 9), ((1,) * 8, (1,) * 9)]
    cases += [((1,) * 9,), ((2, 3),), ((),), ((0, 3), (0, 3)), ((0, 3), (3, 0)), ((1,), ()), ((4,) * 8, (4,) * 8)]
    for _ in range(300):
        self = generator.integers(0, 4, generator.integers(0, 10)).tolist()
        grad_output = [int(generator.choice([dim, 2, 3])) if generator.random() < 0.1 else dim for dim in self]
        cases.append((tuple(grad_output), tuple(self)))
    library = library_path()
    program = tmp_path / "aot"
    compile_cpp(AOT, program, "-D_GLIBCXX_USE_CXX11_ABI=0", str(library), f"-Wl,-rpath,{library.parent}")

    def answers(dtype):
        numbers = [[len(case), *(number for shape in case for number in (len(shape), *shape))] for case in cases]
        lines = "\n".join(" ".join(map(str, [dtype, *line])) for line in numbers)
        result = subprocess.run([program], input=lines, capture_output=True, text=True, check=True)
        return result.stdout.splitlines()

    refused = 0
    for case, answer, other_dtype in zip(cases, answers("float32"), answers("int32")):
        shape = "".join(f"{dim} " for dim in case[-1])
        try:
            assert contract.infer_shape(contract.INPUT_NAMES[-len(case) :], *case) == case[-1]
        except contract.ParamInvalidError as error:
            refused += 1
            assert answer == other_dtype == f"{shape}{error}"
        else:
            assert (answer, other_dtype) == (f"{shape}0", f"{shape}{INVALID}")
    assert 10 < refused < len(cases) - 10


@pytest.mark.slow
def test_more_than_2_to_31_elements():
    """64-bit sizes: 2^31 + 12,345 bfloat16 elements, in place, 8.6 GB of memory."""
    count = (1 << 31) + 12_345
    period_grad, period_self = oracle.random_inputs(1_000_003, "bfloat16", seed=10)
    expected = oracle.hardtanh_grad(period_grad, period_self, -1.0, 1.0)
    self, out = np.empty(count, np.uint16), np.empty(count, np.uint16)
    periods = [slice(start, min(start + expected.size, count)) for start in range(0, count, expected.size)]
    for part in periods:
        self[part] = period_self[: part.stop - part.start]
        out[part] = period_grad[: part.stop - part.start]
    kernel_grad(out, self, (-1.0, 1.0), "bfloat16", out=out)
    assert all(np.array_equal(out[part], expected[: part.stop - part.start]) for part in periods)
