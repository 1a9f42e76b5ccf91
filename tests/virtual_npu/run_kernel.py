"""Run the operator on NumPy files through the two-phase C API over the virtual NPU.

    python tests/virtual_npu/run_kernel.py --self x.npy --grad g.npy --min -1 --max 1 --out y.npy

Exit codes: 0 done; 1 a rule of the hardware was violated; 2 the C API refused the call (its code is on stderr);
3 nothing was run: bad arguments or files, or the virtual NPU could not be built.
"""

import argparse
import contextlib
import ctypes
import json
import os
import sys

import numpy as np
import toolkit

# NumPy names to aclDataType. The operator takes three of them; the others are there for it to refuse.
ACL_DTYPES = {
    "float32": 0,
    "float16": 1,
    "int8": 2,
    "int32": 3,
    "uint8": 4,
    "int16": 6,
    "int64": 9,
    "float64": 11,
    "bool": 12,
    "bfloat16": 27,
}
ACL_FORMAT_ND = 2
ACL_MEMCPY_HOST_TO_DEVICE = 1
ACL_MEMCPY_DEVICE_TO_HOST = 2


class Refused(RuntimeError):
    """A call of the C API that returned `code`."""

    def __init__(self, call, code, message):
        """Name the call, its code and what aclGetRecentErrMsg says."""
        super().__init__(f"{call} returned {code}: {message}")
        self.code = code


class UnusableFile(RuntimeError):
    """An input file that holds no array the C API can take."""


class VirtualNpu:
    """The C API of one build of the virtual NPU, loaded into this process: a device and a stream until close()."""

    def __init__(self, directory):
        """Load the libraries of build directory `directory`; only one build fits a process."""
        environment = toolkit.environment(directory)
        os.environ.update(environment)
        # In this order and globally, so that the vendor's library finds CANN's without a library path.
        self._acl = ctypes.CDLL(os.path.join(directory, "cann", "lib64", "libvirtual_npu.so"), ctypes.RTLD_GLOBAL)
        self._op = ctypes.CDLL(os.path.join(environment["ASCEND_CUSTOM_OPP_PATH"], "op_api/lib/libcust_opapi.so"))
        for name in ("aclCreateTensor", "aclCreateScalar"):
            getattr(self._acl, name).restype = ctypes.c_void_p
        for name in ("aclGetRecentErrMsg", "vnpuReport"):
            getattr(self._acl, name).restype = ctypes.c_char_p
        self._check("aclInit", self._acl.aclInit(None))
        self._check("aclrtSetDevice", self._acl.aclrtSetDevice(0))
        self._stream = ctypes.c_void_p()
        self._check("aclrtCreateStream", self._acl.aclrtCreateStream(ctypes.byref(self._stream)))

    def set_platform(self, soc="ascend910b1", cores=0, ub_bytes=0):
        """Choose the SoC; 0 keeps its own number of vector cores or bytes of UB."""
        self._acl.vnpuSetPlatform(soc.encode(), ctypes.c_uint32(cores), ctypes.c_uint64(ub_bytes))

    def hardtanh_grad(self, grad_output, self_array, min_val, max_val):
        """Return (out, launches): the result and the records of vnpuReport.

        uint16 arrays are bfloat16. out is None after a violation, which the launch's record describes. Raises
        Refused when a call fails.
        """
        self._acl.vnpuReset()
        out = np.empty_like(self_array)
        with contextlib.ExitStack() as stack:
            grad_tensor, _ = self._tensor(stack, grad_output)
            self_tensor, _ = self._tensor(stack, self_array)
            out_tensor, out_address = self._tensor(stack, out)
            bounds = [self._scalar(stack, bound) for bound in (min_val, max_val)]
            workspace_size = ctypes.c_uint64()
            executor = ctypes.c_void_p()
            status = self._op.aclnnHardtanhBackwardGetWorkspaceSize(
                grad_tensor, self_tensor, *bounds, out_tensor, ctypes.byref(workspace_size), ctypes.byref(executor)
            )
            self._check("aclnnHardtanhBackwardGetWorkspaceSize", status)
            workspace = self._memory(stack, workspace_size.value)
            self._check(
                "aclnnHardtanhBackward",
                self._op.aclnnHardtanhBackward(workspace, workspace_size, executor, self._stream),
            )
            status = self._acl.aclrtSynchronizeStream(self._stream)
            launches = json.loads(self._acl.vnpuReport())["launches"]
            if any(launch["violations"] for launch in launches):
                return None, launches
            self._check("aclrtSynchronizeStream", status)
            self._copy(out.ctypes, out_address, out.nbytes, ACL_MEMCPY_DEVICE_TO_HOST)
        return out, launches

    def close(self):
        """Release the stream and the device."""
        self._check("aclrtDestroyStream", self._acl.aclrtDestroyStream(self._stream))
        self._check("aclrtResetDevice", self._acl.aclrtResetDevice(0))
        self._check("aclFinalize", self._acl.aclFinalize())

    def _check(self, call, status):
        if status != 0:
            raise Refused(call, status, (self._acl.aclGetRecentErrMsg() or b"").decode())

    def _memory(self, stack, size):
        if size == 0:
            return None
        address = ctypes.c_void_p()
        self._check("aclrtMalloc", self._acl.aclrtMalloc(ctypes.byref(address), ctypes.c_size_t(size), 0))
        stack.callback(self._acl.aclrtFree, address)
        return address

    def _copy(self, destination, source, size, kind):
        size = ctypes.c_size_t(size)
        if size.value > 0:
            self._check("aclrtMemcpy", self._acl.aclrtMemcpy(destination, size, source, size, kind))

    def _tensor(self, stack, array):
        address = self._memory(stack, array.nbytes)
        self._copy(address, array.ctypes, array.nbytes, ACL_MEMCPY_HOST_TO_DEVICE)
        dims = (ctypes.c_int64 * array.ndim)(*array.shape)
        rank = ctypes.c_uint64(array.ndim)
        dtype = ACL_DTYPES[dtype_name(array)]
        tensor = self._acl.aclCreateTensor(
            dims, rank, dtype, None, ctypes.c_int64(0), ACL_FORMAT_ND, dims, rank, address
        )
        tensor = ctypes.c_void_p(tensor)
        stack.callback(self._acl.aclDestroyTensor, tensor)
        return tensor, address

    def _scalar(self, stack, value):
        scalar = ctypes.c_void_p(self._acl.aclCreateScalar(ctypes.byref(ctypes.c_float(value)), ACL_DTYPES["float32"]))
        stack.callback(self._acl.aclDestroyScalar, scalar)
        return scalar


def dtype_name(array):
    """Name the operator's dtype of `array`: bfloat16 travels as uint16."""
    return "bfloat16" if array.dtype == np.uint16 else array.dtype.name


def load(path, dtype):
    """Read a .npy file as a contiguous array in this machine's byte order, or raise UnusableFile."""
    try:
        array = np.load(path, allow_pickle=False)
    except (OSError, ValueError) as error:
        raise UnusableFile(f"{path} cannot be read as a .npy file: {error}") from None
    if not isinstance(array, np.ndarray):
        raise UnusableFile(f"{path} holds several arrays, one is expected")
    if dtype == "bfloat16" and array.dtype != np.uint16:
        raise UnusableFile(f"{path} holds {array.dtype.name}; bfloat16 values are expected as uint16")
    if dtype is None and array.dtype == np.uint16:
        raise UnusableFile(f"{path} holds uint16; say --dtype bfloat16 if these are bfloat16 values")
    if dtype_name(array) not in ACL_DTYPES:
        raise UnusableFile(f"{path} holds {array.dtype.name}, which no tensor of the C API can carry")
    return np.array(array, array.dtype.newbyteorder("="), order="C")


def report(launches, soc, array):
    """Return what --report writes: the call, the tiles (elements and how many), and the launches' records."""
    tiles = [[size // array.itemsize, count] for launch in launches for size, count in launch["copiesOut"]["sizes"]]
    return {
        "soc": soc,
        "dtype": dtype_name(array),
        "shape": array.shape,
        "tiles": tiles,
        "launches": launches,
    }


def parse_arguments(arguments):
    """Parse the command line; errors leave with code 3."""

    class Parser(argparse.ArgumentParser):
        def error(self, message):
            self.print_usage(sys.stderr)
            self.exit(3, f"{self.prog}: {message}\n")

    parser = Parser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--self", required=True, metavar="FILE", help=".npy of the forward's input or output")
    parser.add_argument("--grad", required=True, metavar="FILE", help=".npy of the gradient of the forward's output")
    parser.add_argument("--min", required=True, type=float, help="lower bound, read as float32")
    parser.add_argument("--max", required=True, type=float, help="upper bound, read as float32")
    parser.add_argument("--out", required=True, metavar="FILE", help=".npy for the result")
    parser.add_argument("--dtype", choices=["bfloat16"], help="read uint16 arrays as bfloat16")
    parser.add_argument("--soc", default="ascend910b1", choices=["ascend910b1", "ascend910b3", "ascend910b4"])
    parser.add_argument("--cores", type=int, default=0, help="vector cores instead of the SoC's own number")
    parser.add_argument("--ub-bytes", type=int, default=0, help="UB bytes instead of the SoC's own size")
    parser.add_argument("--report", metavar="FILE", help="write counters and violations as JSON")
    arguments = parser.parse_args(arguments)
    for name in ("cores", "ub_bytes"):
        if getattr(arguments, name) < 0:
            parser.error(f"--{name.replace('_', '-')} must not be negative")
    return arguments


def main(arguments=None):
    """Run the command line and return its exit code."""
    options = parse_arguments(arguments)
    try:
        self_array = load(options.self, options.dtype)
        grad_output = load(options.grad, options.dtype)
        npu = VirtualNpu(toolkit.build())
    except (UnusableFile, toolkit.BuildError) as error:
        print(f"run_kernel: {error}", file=sys.stderr)
        return 3
    npu.set_platform(options.soc, options.cores, options.ub_bytes)
    try:
        out, launches = npu.hardtanh_grad(grad_output, self_array, options.min, options.max)
    except Refused as error:
        print(f"run_kernel: {error}", file=sys.stderr)
        return 2
    finally:
        npu.close()
    if options.report:
        with open(options.report, "w") as file:
            json.dump(report(launches, options.soc, self_array), file, indent=1)
    if out is None:
        return 1
    np.save(options.out, out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
