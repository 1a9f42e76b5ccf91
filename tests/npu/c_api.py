"""Run the operator through the C API alone, on device 0.

    python tests/npu/c_api.py LIBRARY guards
    python tests/npu/c_api.py LIBRARY large ELEMENTS
    python tests/npu/c_api.py LIBRARY launches

LIBRARY is the vendor package's op_api/lib/libcust_opapi.so. guards: tensors at odd addresses between guard bytes.
large: one bfloat16 launch. launches: what read_profile.py expects under msprof. The first two print what went wrong as
JSON, a list of strings.
"""

import argparse
import ctypes
import json
import sys
from contextlib import ExitStack, contextmanager
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import oracle

ACLNN = "aclnnHardtanhBackward"
ACL_DTYPES = {"float32": 0, "float16": 1, "bfloat16": 27}
ACL_FORMAT_ND = 2
ACL_MEMCPY_HOST_TO_DEVICE = 1
ACL_MEMCPY_DEVICE_TO_HOST = 2

BOUNDS = (-0.7, 0.7)
GUARD = 1024  # bytes before and behind a tensor, more than a copy that is rounded up to 512 bytes touches
# Around 32 bytes, a vector repeat, a block of 512 bytes, a tile, the change to double buffering; several cores.
LENGTHS = (1, 15, 16, 17, 63, 64, 65, 129, 255, 257, 1023, 6144, 6145, 122880, 122881, 1048577)
# First elements of grad_output, self and out in their storage.
OFFSETS = ((0, 0, 0), (1, 1, 1), (0, 5, 0), (3, 0, 16), (7, 16, 31))
# The launches to profile, each dtype and size this many times.
SIZES = tuple(2**power for power in (10, 12, 14, 16, 18, 20, 22, 23, 24, 26))
REPEATS = 20


class Device:
    """Device 0 with a stream. Every call raises RuntimeError with the name and code of what failed."""

    def __init__(self, library):
        """Load CANN and the vendor package's library, and open the device."""
        for name in ("libascendcl.so", "libnnopbase.so"):
            ctypes.CDLL(name, ctypes.RTLD_GLOBAL)
        self._cann, self._operator = ctypes.CDLL(None), ctypes.CDLL(library)
        for name in ("aclCreateTensor", "aclCreateScalar"):
            getattr(self._cann, name).restype = ctypes.c_void_p
        self._cann.aclGetRecentErrMsg.restype = ctypes.c_char_p
        self._stream = ctypes.c_void_p()
        self._call("aclInit", None)
        self._call("aclrtSetDevice", 0)
        self._call("aclrtCreateStream", ctypes.byref(self._stream))

    def close(self):
        """Close the device."""
        self._call("aclrtDestroyStream", self._stream)
        self._call("aclrtResetDevice", 0)
        self._call("aclFinalize")

    @contextmanager
    def memory(self, size):
        """Address of `size` bytes."""
        address = ctypes.c_void_p()
        self._call("aclrtMalloc", ctypes.byref(address), ctypes.c_size_t(size), 0)
        try:
            yield address.value
        finally:
            self._call("aclrtFree", address)

    def write(self, address, array):
        """Copy an array to the device."""
        self._copy(address, array.ctypes.data, array.nbytes, ACL_MEMCPY_HOST_TO_DEVICE)

    def read(self, address, array):
        """Fill an array from the device."""
        self._copy(array.ctypes.data, address, array.nbytes, ACL_MEMCPY_DEVICE_TO_HOST)

    def hardtanh_grad(self, dtype, count, grad_output, self_, out, bounds=BOUNDS):
        """Run the operator on one-dimensional tensors, each given as (address, offset in elements), and wait."""
        with ExitStack() as stack:
            tensors = [self._tensor(stack, dtype, count, *place) for place in (grad_output, self_, out)]
            scalars = [self._scalar(stack, bound) for bound in bounds]
            size, executor = ctypes.c_uint64(), ctypes.c_void_p()
            self._call(
                f"{ACLNN}GetWorkspaceSize",
                *tensors[:2],
                *scalars,
                tensors[2],
                ctypes.byref(size),
                ctypes.byref(executor),
            )
            workspace = stack.enter_context(self.memory(size.value)) if size.value else None
            self._call(ACLNN, ctypes.c_void_p(workspace), size, executor, self._stream)
            self._call("aclrtSynchronizeStream", self._stream)

    def _call(self, name, *arguments):
        status = getattr(self._operator if name.startswith(ACLNN) else self._cann, name)(*arguments)
        if status != 0:
            message = (self._cann.aclGetRecentErrMsg() or b"").decode(errors="replace")
            raise RuntimeError(f"{name} returned {status}: {message}")

    def _copy(self, to, source, size, kind):
        size = ctypes.c_size_t(size)
        self._call("aclrtMemcpy", ctypes.c_void_p(to), size, ctypes.c_void_p(source), size, kind)

    def _tensor(self, stack, dtype, count, address, offset):
        view, storage, stride = ((ctypes.c_int64 * 1)(value) for value in (count, offset + count, 1))
        one = ctypes.c_uint64(1)
        tensor = self._cann.aclCreateTensor(
            view,
            one,
            ACL_DTYPES[dtype],
            stride,
            ctypes.c_int64(offset),
            ACL_FORMAT_ND,
            storage,
            one,
            ctypes.c_void_p(address),
        )
        return self._created(stack, tensor, "Tensor")

    def _scalar(self, stack, value):
        value = ctypes.c_float(value)
        scalar = self._cann.aclCreateScalar(ctypes.byref(value), ACL_DTYPES["float32"])
        return self._created(stack, scalar, "Scalar")

    def _created(self, stack, address, kind):
        if not address:
            raise RuntimeError(f"aclCreate{kind} returned a null pointer")
        stack.callback(self._call, f"aclDestroy{kind}", ctypes.c_void_p(address))
        return ctypes.c_void_p(address)


def guards(device, lengths=LENGTHS):
    """Run tensors at unaligned addresses between guard bytes; return what is wrong in them or around them."""
    return [
        wrong
        for dtype in oracle.DTYPES
        for length in lengths
        for offsets in OFFSETS
        for wrong in guarded(device, dtype, length, offsets)
    ]


def guarded(device, dtype, length, offsets):
    """Run one launch between guard bytes; return what is wrong."""
    grad_output, self_ = oracle.random_inputs(length, dtype, seed=length)
    result = oracle.hardtanh_grad(grad_output, self_, *BOUNDS)
    before, after = (
        [surround(array, offset) for array, offset in zip((grad_output, self_, out), offsets)]
        for out in (np.invert(result.view(np.uint8)).view(result.dtype), result)
    )
    wrong = []
    with ExitStack() as stack:
        addresses = [stack.enter_context(device.memory(buffer.size)) for buffer in before]
        for address, buffer in zip(addresses, before):
            device.write(address, buffer)
        device.hardtanh_grad(dtype, length, *((a + GUARD, offset) for a, offset in zip(addresses, offsets)))
        for name, address, offset, expected in zip(("grad_output", "self", "out"), addresses, offsets, after):
            actual = np.empty_like(expected)
            device.read(address, actual)
            places = np.flatnonzero(actual != expected) - GUARD - offset * result.itemsize
            if places.size:
                wrong.append(
                    f"{dtype}[{length}] at elements {offsets}: {places.size} bytes of {name} differ, "
                    f"from {places[0]} to {places[-1]} of {result.nbytes}"
                )
    return wrong


def surround(array, offset):
    """Lay an array, `offset` of its elements behind its storage's start, between guard bytes."""
    guard = np.full(GUARD + offset * array.itemsize, 0xA5, np.uint8)
    return np.concatenate([guard, array.view(np.uint8), guard])


def large(device, elements):
    """Run bfloat16 tensors of so many elements, made of one piece again and again; return what is wrong.

    The piece is no multiple of a tile or a block, so that an element in a wrong place is seen.
    """
    piece = min(2**26 - 3, elements // 3 | 1)
    grad_output, self_ = oracle.random_inputs(piece, "bfloat16")
    expected = oracle.hardtanh_grad(grad_output, self_, *BOUNDS)
    starts = range(0, elements, piece)
    wrong = []
    with ExitStack() as stack:
        addresses = [stack.enter_context(device.memory(2 * elements)) for _ in range(3)]
        for start in starts:
            for address, array in zip(addresses, (grad_output, self_, ~expected)):
                device.write(address + 2 * start, array[: elements - start])
        device.hardtanh_grad("bfloat16", elements, *((address, 0) for address in addresses))
        for start in starts:
            actual = np.empty_like(expected[: elements - start])
            device.read(addresses[2] + 2 * start, actual)
            differ = np.count_nonzero(actual != expected[: actual.size])
            if differ:
                wrong.append(f"{differ} of the elements from {start} on differ")
    return wrong


def launches(device, sizes=SIZES, repeats=REPEATS):
    """Run each dtype and size `repeats` times, in the order of `cases`."""
    for dtype, size in cases(sizes):
        arrays = oracle.random_inputs(size, dtype)
        with ExitStack() as stack:
            addresses = [stack.enter_context(device.memory(arrays[0].nbytes)) for _ in range(3)]
            for address, array in zip(addresses, arrays):
                device.write(address, array)
            for _ in range(repeats):
                device.hardtanh_grad(dtype, size, *((address, 0) for address in addresses))


def cases(sizes=SIZES):
    """Return the dtypes and sizes of `launches` in their order."""
    return [(dtype, size) for dtype in oracle.DTYPES for size in sizes]


def main():
    """Run what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", metavar="LIBRARY")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("guards")
    commands.add_parser("large").add_argument("elements", type=int, metavar="ELEMENTS")
    commands.add_parser("launches")
    options = parser.parse_args()
    device = Device(options.library)
    if options.command == "launches":
        launches(device)
    else:
        print(json.dumps(guards(device) if options.command == "guards" else large(device, options.elements)))
    device.close()


if __name__ == "__main__":
    main()
