"""NumPy oracle of Hardtanh and its gradient, written from the formula of the contract.

Arrays are float32, float16, or uint16 for bfloat16 bit patterns. Everything is compared in float32 and selected
bit by bit, so results can be compared as bytes.
"""

import numpy as np

DTYPES = ("float32", "float16", "bfloat16")
BOUNDS = (
    (-1.0, 1.0),
    (1.2, 2.4),
    (0.0, 6.0),
    (-np.inf, np.inf),
    (0.0, 0.0),
    (-0.7, 0.7),
    (-np.inf, 0.0),
)
WORKED_EXAMPLE = {
    "min": 1.2,
    "max": 2.4,
    "self": [[1, 1], [1, 2], [1, 2], [3, 3]],
    "grad_output": [[0, 1], [2, 3], [4, 5], [6, 7]],
    "out": [[0, 0], [0, 3], [0, 5], [0, 0]],
}


def to_float32(array):
    """Widen exactly; uint16 is read as bfloat16."""
    if array.dtype == np.uint16:
        return (array.reshape(-1).astype(np.uint32) << 16).view(np.float32).reshape(array.shape)
    return array.astype(np.float32)


def from_float32(array, dtype):
    """Round to nearest even into `dtype`; bfloat16 comes back as uint16."""
    array = np.asarray(array, np.float32)
    if dtype != "bfloat16":
        with np.errstate(over="ignore"):
            return array.astype(dtype)
    patterns = array.reshape(-1).view(np.uint32).astype(np.uint64)
    rounded = (patterns + 0x7FFF + ((patterns >> 16) & 1)) >> 16
    patterns = np.where(np.isnan(array.reshape(-1)), (patterns >> 16) | 0x40, rounded)
    return patterns.astype(np.uint16).reshape(array.shape)


def outside(self, min_val, max_val):
    """Where the gradient is stopped: self > max or self < min, as float32."""
    wide = to_float32(self)
    with np.errstate(invalid="ignore"):
        return (wide > np.float32(max_val)) | (wide < np.float32(min_val))


def hardtanh_grad(grad_output, self, min_val, max_val):
    """The operator: +0.0 outside the closed interval, else the bits of grad_output."""
    return np.where(outside(self, min_val, max_val), np.zeros((), grad_output.dtype), grad_output)


def hardtanh(x, min_val, max_val):
    """The forward: the bound (rounded to x's type) outside, else the bits of x; NaN stays."""
    wide = to_float32(x)
    dtype = "bfloat16" if x.dtype == np.uint16 else x.dtype.name
    with np.errstate(invalid="ignore"):
        y = np.where(wide < np.float32(min_val), from_float32(min_val, dtype), x)
        return np.where(wide > np.float32(max_val), from_float32(max_val, dtype), y)


def open_interval(min_val, max_val):
    """The closed float32 interval that holds what (min_val, max_val) holds."""
    low = np.nextafter(np.float32(min_val), np.float32(np.inf))
    high = np.nextafter(np.float32(max_val), np.float32(-np.inf))
    return low, high


def special_values(dtype):
    """Zeros, subnormals, ones, extremes, infinities and NaNs of both signs with payloads, and values at common bounds."""
    patterns = {
        "float32": np.array(
            [0, 1, 0x007FFFFF, 0x00800000, 0x3F800000, 0x3F7FFFFF, 0x3F800001, 0x7F7FFFFF]
            + [0x7F800000, 0x7FC00000, 0x7F800001, 0x7FABCDEF, 0x3F333333, 0x3F333334, 0x40C00000],
            np.uint32,
        ),
        "float16": np.array(
            [
                0,
                1,
                0x03FF,
                0x0400,
                0x3C00,
                0x3BFF,
                0x3C01,
                0x7BFF,
                0x7C00,
                0x7E00,
                0x7C01,
                0x7DEF,
                0x3999,
                0x399A,
                0x4600,
            ],
            np.uint16,
        ),
        "bfloat16": np.array(
            [
                0,
                1,
                0x007F,
                0x0080,
                0x3F80,
                0x3F7F,
                0x3F81,
                0x7F7F,
                0x7F80,
                0x7FC0,
                0x7F81,
                0x7FAB,
                0x3F33,
                0x3F34,
                0x40C0,
            ],
            np.uint16,
        ),
    }[dtype]
    sign = patterns.dtype.type(1 << (8 * patterns.dtype.itemsize - 1))
    both = np.concatenate([patterns, patterns | sign])
    return both if dtype == "bfloat16" else both.view(dtype)


def random_inputs(count, dtype, seed=0, scale=2.0):
    """(grad_output, self) of `count` elements: normal numbers with the special values strewn in."""
    generator = np.random.default_rng(seed)
    pair = []
    for _ in range(2):
        values = from_float32(generator.standard_normal(count, np.float32) * np.float32(scale), dtype)
        special = special_values(dtype)
        places = generator.random(count) < 0.2
        pair.append(np.where(places, special[generator.integers(0, special.size, count)], values))
    return tuple(pair)
