"""The Python API: its errors in both modes, convert, and what a training script does with a network."""

import copy

import mindspore as ms
import numpy as np
import oracle
import pytest
from conftest import assert_same_bits, to_numpy, to_tensor
from mindspore import mint, nn, ops
from mindspore.amp import auto_mixed_precision

import ms_hardtanh_grad as htg


class Calling(nn.Cell):
    """Any function inside construct, with constant arguments after the tensors."""

    def __init__(self, function, *constants):
        """Keep the function and its constants."""
        super().__init__()
        self.function = function
        self.constants = constants

    def construct(self, *tensors):
        """Call the function."""
        return self.function(*tensors, *self.constants)


def ways(function, *constants):
    """The three ways to call: eagerly, inside construct, and inside @ms.jit."""
    cell = Calling(function, *constants)
    return {
        "eager": lambda *tensors: function(*tensors, *constants),
        "construct": cell,
        "jit": ms.jit(cell.construct),
    }


X = np.zeros((2, 3), np.float32)
NINE = np.zeros((1,) * 9, np.float32)
MISTAKES = {
    "x None": (htg.hardtanh, (None,), (), htg.ParamNullptrError, "x"),
    "x no tensor": (htg.hardtanh, (1.0,), (), htg.ParamInvalidError, "x"),
    "x int32": (htg.hardtanh, (X.astype(np.int32),), (), htg.ParamInvalidError, "x: got int32"),
    "x float64": (htg.hardtanh, (X.astype(np.float64),), (), htg.ParamInvalidError, "x: got float64"),
    "x bool": (htg.hardtanh, (X.astype(bool),), (), htg.ParamInvalidError, "x: got bool"),
    "x 9-d": (htg.hardtanh, (NINE,), (), htg.ParamInvalidError, "x: got 9 dimensions, accepts at most 8"),
    "grad_output None": (htg.hardtanh_grad, (None, X), (), htg.ParamNullptrError, "grad_output"),
    "grad's x None": (htg.hardtanh_grad, (X, None), (), htg.ParamNullptrError, "x"),
    "grad_output no tensor": (htg.hardtanh_grad, (2.0, X), (), htg.ParamInvalidError, "grad_output"),
    "grad_output float64": (htg.hardtanh_grad, (X.astype(np.float64), X), (), htg.ParamInvalidError, "grad_output"),
    "dtypes differ": (
        htg.hardtanh_grad,
        (X.astype(np.float16), X),
        (),
        htg.ParamInvalidError,
        "grad_output: got float16, accepts the dtype of x, which is float32",
    ),
    "shapes differ": (
        htg.hardtanh_grad,
        (X.reshape(3, 2), X),
        (),
        htg.ParamInvalidError,
        r"grad_output: got shape \(3, 2\), accepts that of x, which is \(2, 3\)",
    ),
    "broadcastable shapes": (htg.hardtanh_grad, (X[:1], X), (), htg.ParamInvalidError, "grad_output: got shape"),
    "ranks differ": (htg.hardtanh_grad, (X.reshape(6), X), (), htg.ParamInvalidError, "grad_output: got shape"),
    "grad 9-d": (htg.hardtanh_grad, (NINE, NINE), (), htg.ParamInvalidError, "grad_output: got 9 dimensions"),
    "min > max": (htg.hardtanh, (X,), (1.0, -1.0), ValueError, "min_val: got 1.0, accepts at most max_val"),
    "grad min > max": (htg.hardtanh_grad, (X, X), (1.0, -1.0), ValueError, "min_val: got 1.0"),
    "min NaN": (htg.hardtanh, (X,), (float("nan"), 1.0), ValueError, "min_val: got NaN"),
    "max NaN": (htg.hardtanh_grad, (X, X), (-1.0, float("nan")), ValueError, "max_val: got NaN"),
    "boundary": (htg.hardtanh, (X,), (-1.0, 1.0, "half"), ValueError, "boundary: got 'half', accepts 'closed' or"),
    "min str": (htg.hardtanh, (X,), ("low", 1.0), TypeError, "min_val: got str"),
    "min mutable": (htg.hardtanh, (X, ms.mutable(-1.0)), (1.0,), TypeError, "min_val: got no constant, accepts a real"),
    "max bool": (htg.hardtanh, (X,), (-1.0, True), TypeError, "max_val: got bool"),
}


@pytest.mark.parametrize("way", ("eager", "construct", "jit"))
@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes(mode, way, mistake):
    """A mistake gives the same class in both modes, eagerly and at compile time, and names the argument."""
    function, arguments, constants, error, text = MISTAKES[mistake]
    if mistake == "min mutable" and (way == "eager" or (way, mode) == ("construct", "PYNATIVE_MODE")):
        pytest.skip("a mutable number is a number where nothing is compiled")
    arguments = [to_tensor(a) if isinstance(a, np.ndarray) else a for a in arguments]
    with pytest.raises(error, match=text) as caught:
        ways(function, *constants)[way](*arguments)
    assert caught.type is error
    assert getattr(caught.value, "code", None) == getattr(error, "code", None)


def test_error_codes():
    """The classes carry aclnn's codes, and show them."""
    for error, code in ((htg.ParamNullptrError, 161001), (htg.ParamInvalidError, 161002)):
        assert error.code == code
        assert issubclass(error, ValueError)
        assert str(error("x: wrong")) == f"[{code}] x: wrong"


@pytest.mark.parametrize(
    "bad, texts",
    [
        (
            (X.reshape(3, 2), X),
            {"CPU": r"grad_output: .*\(3, 2\).* x.*\(2, 3\)", "Ascend": r"gradOutput .*\[3, 2\].* self .*\[2, 3\]"},
        ),
        ((NINE, NINE), {"CPU": "grad_output: .*9 dimensions", "Ascend": "gradOutput .*9"}),
    ],
    ids=["shapes differ", "9-d"],
)
def test_mistake_at_run_time(device, bad, texts):
    """A graph whose shapes come late raises a RuntimeError with the code and the argument, and others go on."""
    ms.set_context(mode=ms.GRAPH_MODE)

    def net():
        cell = Calling(htg.hardtanh_grad)
        cell.set_inputs(ms.Tensor(shape=None, dtype=ms.float32), ms.Tensor(shape=None, dtype=ms.float32))
        return cell

    good = net()
    with pytest.raises(RuntimeError, match=r"(?s)161002.*" + texts[device]):
        net()(*map(to_tensor, bad)).asnumpy()
    for cell in (good, net()):
        assert_same_bits(cell(to_tensor(X), to_tensor(X)), X)
    ms.set_context(mode=ms.PYNATIVE_MODE)


def test_cell_checks_when_it_is_made():
    """A cell with wrong bounds cannot be made."""
    for arguments in ((1.0, -1.0), (float("nan"), 1.0), (-1.0, 1.0, "ajar")):
        with pytest.raises(ValueError):
            htg.Hardtanh(*arguments)
    assert str(htg.Hardtanh(0, 6, "open")) == "Hardtanh(min_val=0, max_val=6, boundary='open')"


def test_bounds_of_other_number_types(mode):
    """Ints, NumPy scalars and numbers beyond float32 are read as float32."""
    x = np.array([-3.0, 0.5, 3.0, np.inf], np.float32)
    for function in ways(htg.hardtanh, -1, np.float64(1)).values():
        assert_same_bits(function(to_tensor(x)), oracle.hardtanh(x, -1, 1))
    for function in ways(htg.hardtanh, np.float32(0.1), 1e300).values():
        assert_same_bits(function(to_tensor(x)), oracle.hardtanh(x, 0.1, np.inf))


def test_same_network_on_parameters(mode):
    """value_and_grad over parameters: the gradient of a Parameter that feeds the cell directly."""

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.weight = ms.Parameter(ms.Tensor([-2.0, -0.5, 0.5, 2.0], ms.float32), name="weight")
            self.hardtanh = htg.Hardtanh()

        def construct(self, scale):
            return (self.hardtanh(self.weight) * scale).sum()

    net = Net()
    value, (gradient,) = ms.value_and_grad(net, None, net.trainable_params())(ms.Tensor(3.0, ms.float32))
    assert value.asnumpy() == 0
    np.testing.assert_array_equal(gradient.asnumpy(), [0, 3, 3, 0])


class Block(nn.Cell):
    """A dense layer between two uses of one activation."""

    def __init__(self, activation):
        """Hold the activation under two names."""
        super().__init__()
        self.dense = nn.Dense(6, 6)
        self.activation = activation
        self.again = activation

    def construct(self, x):
        """Return the block's output."""
        return self.again(self.dense(self.activation(x)))


class Network(nn.Cell):
    """Three Hardtanh cells at different depths, one of them shared."""

    def __init__(self, hardtanh):
        """Build it from a Hardtanh class."""
        super().__init__()
        self.block = Block(hardtanh(-0.25, 0.5))
        self.list = nn.CellList([nn.Dense(6, 6), hardtanh()])
        self.head = nn.SequentialCell(nn.SequentialCell(hardtanh(-0.5, 0.75)), nn.Dense(6, 2))

    def construct(self, x):
        """Return the network's output."""
        x = self.block(x)
        for cell in self.list:
            x = cell(x)
        return self.head(x)


def network(hardtanh, seed=0):
    """A Network with the parameters of `seed`."""
    ms.set_seed(seed)
    np.random.seed(seed)
    return Network(hardtanh)


def test_convert_nested_and_shared(mode, device):
    """Every Hardtanh below the network is replaced once, wherever it stands, and the network computes the same."""
    net = network(nn.Hardtanh)
    x = ms.Tensor(np.random.default_rng(0).standard_normal((5, 6), np.float32))
    before = net(x).asnumpy()
    net.set_train()
    assert htg.convert(net, boundary="open") == 3
    kinds = [type(cell) for _, cell in net.cells_and_names()]
    assert nn.Hardtanh not in kinds and kinds.count(htg.Hardtanh) == 3
    block = net.block
    assert block.activation is block.again
    assert (block.again.min_val, block.again.max_val, block.again.boundary) == (-0.25, 0.5, "open")
    assert block.again.training
    assert htg.convert(net) == 0
    np.testing.assert_array_equal(net(x).asnumpy(), before)


def test_convert_kinds():
    """A mint cell is replaced as nn's; ReLU6 when asked; in-place cells and subclasses stay."""

    class Special(nn.Hardtanh):
        pass

    def net():
        return nn.SequentialCell(
            nn.Hardtanh(),
            mint.nn.Hardtanh(-2, 2),
            nn.ReLU6(),
            mint.nn.ReLU6(),
            mint.nn.Hardtanh(inplace=True),
            Special(),
        )

    plain, with_relu6 = net(), net()
    with pytest.warns(UserWarning, match="convert leaves Special"):
        assert htg.convert(plain) == 2
    with pytest.warns(UserWarning, match="convert leaves Hardtanh"):
        assert htg.convert(with_relu6, relu6=True) == 4
    assert [type(c) for c in plain] == [htg.Hardtanh] * 2 + [nn.ReLU6, mint.nn.ReLU6, mint.nn.Hardtanh, Special]
    assert [(c.min_val, c.max_val) for c in with_relu6[:4]] == [(-1, 1), (-2, 2), (0, 6), (0, 6)]


def test_convert_cell_dict_and_whole_dense():
    """Cells in a CellDict, and the activation that nn.Dense makes from a name, are found."""
    net = nn.CellDict({"a": nn.Hardtanh(), "b": nn.Dense(2, 2, activation="hardtanh")})
    assert htg.convert(net) == 2
    assert type(net["a"]) is htg.Hardtanh and type(net["b"].activation) is htg.Hardtanh


def test_convert_refuses():
    """What cannot be converted in place is refused."""
    with pytest.raises(TypeError, match="net: got Tensor"):
        htg.convert(ms.Tensor(1.0))
    with pytest.raises(ValueError, match="net: got Hardtanh itself"):
        htg.convert(nn.Hardtanh())
    with pytest.raises(ValueError, match="boundary"):
        htg.convert(nn.SequentialCell(nn.Hardtanh()), boundary="ajar")


def test_checkpoint_survives_convert(tmp_path, mode):
    """A network saved before convert loads after it."""
    net, other = network(nn.Hardtanh, seed=1), network(nn.Hardtanh, seed=2)
    ms.save_checkpoint(net, str(tmp_path / "net.ckpt"))
    htg.convert(other)
    missing, _ = ms.load_param_into_net(other, ms.load_checkpoint(str(tmp_path / "net.ckpt")), strict_load=True)
    assert not missing
    x = ms.Tensor(np.ones((3, 6), np.float32))
    np.testing.assert_array_equal(other(x).asnumpy(), net(x).asnumpy())


@pytest.mark.parametrize("level", ("O0", "O1", "O2", "O3"))
def test_mixed_precision(mode, level, tmp_path, monkeypatch):
    """auto_mixed_precision before or after convert gives what it gives to a network of the package's own cells."""
    x = ms.Tensor(np.random.default_rng(3).standard_normal((5, 6), np.float32))
    monkeypatch.chdir(tmp_path)  # O1 writes the cells that it rewrites into the working directory
    results = []
    for order in ("own cells", "convert first", "convert last"):
        net = network(htg.Hardtanh if order == "own cells" else nn.Hardtanh, seed=3)
        if order == "convert first":
            htg.convert(net)
        net = auto_mixed_precision(net, level)
        if order == "convert last":
            assert htg.convert(net) == (0 if level == "O1" else 3)  # O1 rewrites every cell into a class of its own
        output = net(x)
        gradient = ms.grad(Summed(net), 0)(x)
        results.append([to_numpy(a.astype(ms.float32)) for a in (output, gradient)])
    for output, gradient in results[1 : 2 if level == "O1" else None]:
        np.testing.assert_array_equal(output, results[0][0])
        np.testing.assert_array_equal(gradient, results[0][1])
    assert np.isfinite(results[0][1]).all() and results[0][1].any()


class Summed(nn.Cell):
    """The sum of a network's output as float32."""

    def __init__(self, net):
        """Keep the network."""
        super().__init__()
        self.net = net

    def construct(self, x):
        """Return the sum."""
        return self.net(x).astype(ms.float32).sum()


def test_copies_and_vmap(mode, device):
    """A network can be deep-copied, and the function vectorised by vmap."""
    net = network(htg.Hardtanh, seed=4)
    x = ms.Tensor(np.random.default_rng(4).standard_normal((5, 6), np.float32))
    np.testing.assert_array_equal(copy.deepcopy(net)(x).asnumpy(), net(x).asnumpy())
    if device == "CPU":  # the virtual NPU has no operator for vmap to take tensors apart
        assert_same_bits(ops.vmap(htg.hardtanh)(x), oracle.hardtanh(x.asnumpy(), -1, 1))


def test_nan_stays_nan(mode):
    """The forward keeps NaN, unlike MindSpore's built-in on CPU."""
    x = np.array([np.nan, -np.nan], np.float32)
    assert_same_bits(htg.hardtanh(to_tensor(x)), x)


def test_jit_decorated_gradient(mode):
    """@ms.jit around the whole gradient function."""

    def function(x):
        return htg.hardtanh(x)

    @ms.jit
    def gradient(x):
        return ops.grad(function)(x)

    assert_same_bits(gradient(ms.Tensor([-2.0, 1.0, 2.0], ms.float32)), np.array([0, 1, 0], np.float32))
