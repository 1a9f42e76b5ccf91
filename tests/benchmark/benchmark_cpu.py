"""Measures Hardtanh on the CPU: against MindSpore's built-in, against a plain copy, and against PyTorch.

    python tests/benchmark/benchmark_cpu.py [--json FILE]

Compared runs take turns in one process: a block of calls of one, then of the next, several times over. Every block
begins with a pause, in which the threads of the others fall asleep, and with calls that are not counted. A time is the
median over the blocks of each block's median. Times of the kernel and of PyTorch include the call from Python, which is
most of them at 1024 elements. PyTorch's columns appear where torch can be imported.
"""

import argparse
import ctypes
import importlib.util
import json
import os
import platform
import statistics
import threading
import time
from pathlib import Path

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn
from mindspore.common.np_dtype import bfloat16

from ms_hardtanh_grad import Hardtanh
from ms_hardtanh_grad.registration import CPU_LIBRARY

SIZES = (1 << 10, 1 << 16, 1 << 20, 1 << 24)
DTYPES = {"float32": (np.float32, 0), "float16": (np.float16, 1), "bfloat16": (bfloat16, 27)}
BLOCKS = 7
BLOCK_SECONDS = 0.02
PAUSE_SECONDS = 0.02
WARM_CALLS = 3
THREADS = len(os.sched_getaffinity(0))
COPY_SPLIT_BYTES = 1 << 20  # the kernel takes more than one thread from this size of a result on


def block_median(call):
    """Seconds of one call, the median over a block. `call` returns its own time, or None to be timed here."""
    time.sleep(PAUSE_SECONDS)
    times = []
    begin = time.perf_counter()
    while len(times) <= WARM_CALLS or time.perf_counter() - begin < BLOCK_SECONDS:
        start = time.perf_counter()
        own = call()
        times.append(time.perf_counter() - start if own is None else own)
        if times[-1] > BLOCK_SECONDS and len(times) > 1:
            return times[-1]
    return statistics.median(times[WARM_CALLS:])


def compare(calls):
    """Seconds per call for each of `calls`, a dict, run in turns."""
    blocks = {name: [] for name in calls}
    for _ in range(BLOCKS):
        for name, call in calls.items():
            blocks[name].append(block_median(call))
    return {name: statistics.median(times) for name, times in blocks.items()}


def random_pair(dtype, count):
    """(grad_output, x): standard normal numbers; x's deviation of 2 puts 62 % of it outside [-1, 1]."""
    generator = np.random.default_rng(0)
    return [(generator.standard_normal(count, np.float32) * scale).astype(DTYPES[dtype][0]) for scale in (1, 2)]


class Step(nn.Cell):
    """The gradient of Hardtanh's input, and before it Hardtanh's output unless a graph is to leave that out."""

    def __init__(self, net, with_output):
        """Keep the cell to step through."""
        super().__init__()
        self.net = net
        self.with_output = with_output

    def construct(self, x, grad_output):
        """Forward, then backward."""
        y, pull_back = ms.vjp(self.net, x)
        gradients = pull_back(grad_output)
        return (y, gradients[0]) if self.with_output else gradients


def network_step(net, with_output, grad_output, x):
    """A call of one step that returns when its results can be read."""
    step = Step(net, with_output)

    def call():
        for result in step(x, grad_output):
            result.asnumpy()

    return call


def supported(call):
    """Whether `call` runs: MindSpore's Hardtanh has no bfloat16 on CPU."""
    try:
        call()
    except (RuntimeError, TypeError):
        return False
    return True


def measure_network():
    """Forward and backward through MindSpore, this package's Hardtanh against nn.Hardtanh."""
    print(f"\nForward and backward through MindSpore, microseconds\n{'mode':9} {'results':7} {'dtype':8}", end="")
    print(f" {'elements':>9} {'this':>11} {'built-in':>11} {'times faster':>13}")
    for mode, results in (("GRAPH", "y, dx"), ("GRAPH", "dx"), ("PYNATIVE", "y, dx")):
        ms.set_context(mode=getattr(ms, f"{mode}_MODE"))
        for dtype in DTYPES:
            for count in SIZES:
                tensors = [Tensor(array) for array in random_pair(dtype, count)]
                calls = {name: network_step(net, results == "y, dx", *tensors) for name, net in NETS.items()}
                times = compare({name: call for name, call in calls.items() if supported(call)})
                row = {"mode": mode, "results": results, "dtype": dtype, "elements": count, **times}
                row["ratio"] = times["built_in"] / times["this"] if "built_in" in times else None
                built_in = f"{times['built_in'] * 1e6:11.1f} {row['ratio']:13.2f}" if row["ratio"] else "  no kernel"
                print(f"{mode:9} {results:7} {dtype:8} {count:9} {times['this'] * 1e6:11.1f} {built_in}", flush=True)
                yield row


NETS = {"this": Hardtanh(), "built_in": nn.Hardtanh()}


def plain_copy(total_bytes, threads):
    """A call that reads and writes `total_bytes` in all with memcpy, in equal parts on `threads` threads.

    It returns its own time, from the first part's start to the last one's end: starting threads is not counted.
    """
    half = total_bytes // 2
    source, target = np.ones(half, np.uint8), np.zeros(half, np.uint8)
    memcpy = ctypes.CDLL(None).memcpy
    memcpy.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t]
    edges = [half * index // threads for index in range(threads + 1)]
    parts = [(target.ctypes.data + edge, source.ctypes.data + edge, end - edge) for edge, end in zip(edges, edges[1:])]
    spans = [None] * threads
    barrier = threading.Barrier(threads)

    def copy(index):
        barrier.wait()
        start = time.perf_counter()
        memcpy(*parts[index])
        spans[index] = (start, time.perf_counter())

    def call():
        others = [threading.Thread(target=copy, args=(index,)) for index in range(1, threads)]
        for other in others:
            other.start()
        copy(0)
        for other in others:
            other.join()
        return max(end for _, end in spans) - min(start for start, _ in spans)

    call.memory = source, target  # lives as long as the call
    return call


def kernel_backward(grad_output, x, code, threads):
    """A call of the kernel into an existing array."""
    kernel = ctypes.CDLL(str(CPU_LIBRARY)).hardtanh_grad_cpu
    arrays = grad_output, x, np.empty_like(x)
    arguments = [ctypes.c_void_p(array.ctypes.data) for array in arrays]
    arguments += [ctypes.c_int64(x.size), code, ctypes.c_float(-1.0), ctypes.c_float(1.0), threads]

    def call():
        kernel(*arguments)

    call.memory = arrays
    return call


def torch_backward(torch, dtype, grad_output, x, threads):
    """A call of PyTorch's hardtanh_backward into an existing tensor."""
    torch.set_num_threads(threads)
    tensors = [torch.tensor(array.astype(np.float32)).to(getattr(torch, dtype)) for array in (grad_output, x)]
    out = torch.empty_like(tensors[1])
    backward = torch.ops.aten.hardtanh_backward.grad_input

    def call():
        backward(*tensors, -1.0, 1.0, grad_input=out)

    return call


def measure_kernel(torch):
    """The kernel alone against a plain copy of as many bytes, and against PyTorch, on the same number of threads."""
    print(f"\nThe gradient's kernel alone, called from Python\n{'threads':7} {'dtype':8} {'elements':>9}", end="")
    print(f" {'us':>9} {'GB/s':>6} {'copy GB/s':>10} {'of copy':>8}", end="")
    print(f" {'PyTorch us':>11} {'times faster':>13}" if torch else "")
    for threads in sorted({1, THREADS}):
        for dtype, (_, code) in DTYPES.items():
            for count in SIZES:
                grad_output, x = random_pair(dtype, count)
                total_bytes = 3 * x.nbytes
                copy_threads = threads if x.nbytes >= COPY_SPLIT_BYTES else 1
                calls = {
                    "kernel": kernel_backward(grad_output, x, code, threads),
                    "copy": plain_copy(total_bytes, copy_threads),
                }
                if torch:
                    calls["torch"] = torch_backward(torch, dtype, grad_output, x, threads)
                times = compare(calls)
                bandwidth, copy_bandwidth = (total_bytes / times[name] / 1e9 for name in ("kernel", "copy"))
                row = {"threads": threads, "dtype": dtype, "elements": count, **times}
                row |= {"kernel_gb_per_s": bandwidth, "copy_gb_per_s": copy_bandwidth}
                row["of_copy"] = bandwidth / copy_bandwidth
                print(f"{threads:7} {dtype:8} {count:9} {times['kernel'] * 1e6:9.2f} {bandwidth:6.1f}", end="")
                print(f" {copy_bandwidth:10.1f} {row['of_copy']:8.2f}", end="")
                if torch:
                    row["torch_ratio"] = times["torch"] / times["kernel"]
                    print(f" {times['torch'] * 1e6:11.2f} {row['torch_ratio']:13.2f}", end="")
                print(flush=True)
                yield row


def machine(torch):
    """What the numbers were measured on."""
    info = Path("/proc/cpuinfo").read_text()
    names = [line.split(":")[1].strip() for line in info.splitlines() if line.startswith("model name")]
    return {
        "processor": names[0] if names else platform.machine(),
        "threads": THREADS,
        "load_average": os.getloadavg()[0],
        "mindspore": ms.__version__,
        "numpy": np.__version__,
        "torch": torch.__version__ if torch else None,
    }


def main():
    """Measure, print, and write JSON where asked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the measurements there, times in seconds")
    arguments = parser.parse_args()
    ms.set_device("CPU")
    torch = importlib.import_module("torch") if importlib.util.find_spec("torch") else None
    result = {"machine": machine(torch)}
    print(", ".join(f"{name} {value}" for name, value in result["machine"].items()))
    result["kernel"] = list(measure_kernel(torch))
    result["network"] = list(measure_network())
    if arguments.json:
        arguments.json.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
