"""The virtual NPU's log of calls, for programs that run on it."""

import ctypes


def lines():
    """Return the names of the calls and launches so far, in order."""
    library = ctypes.CDLL("libvirtual_npu.so")
    library.vnpuCallLog.restype = ctypes.c_char_p
    return library.vnpuCallLog().decode().splitlines()
