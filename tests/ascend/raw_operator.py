"""Calls aclnnHardtanhBackward through ops.Custom, without the package: `raw_operator.py MODE LEVEL`.

Prints as JSON: the worked example's output, twice, that for other bounds, and what a refused call raised.
"""

import json
import sys

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops
from mindspore.ops import CustomRegOp, DataType

NAME = "aclnnHardtanhBackward"


class Net(nn.Cell):
    """The operator inside construct."""

    def __init__(self, minimum, maximum):
        """Register the operator."""
        super().__init__()
        info = CustomRegOp(NAME).target("Ascend")
        info.input(0, "gradOutput", "required").input(1, "self", "required").output(0, "out", "required")
        info.attr("min", "required", "number").attr("max", "required", "number")
        info.dtype_format(*[DataType.F32_Default] * 3)
        self.operator = ops.Custom(
            NAME, lambda g, x, low, high: x, lambda g, x, low, high: x, func_type="aot", reg_info=info.get_op_info()
        )
        self.bounds = minimum, maximum

    def construct(self, grad_output, x):
        """Return the gradient."""
        return self.operator(grad_output, x, *self.bounds)


def main(mode, level):
    """Run the calls."""
    ms.set_device("Ascend")
    ms.set_context(mode=getattr(ms, mode), jit_config={"jit_level": level})
    x = Tensor(np.array([[1, 1], [1, 2], [1, 2], [3, 3]], np.float32))
    grad_output = Tensor(np.arange(8, dtype=np.float32).reshape(4, 2))

    def call(minimum, maximum, gradient):
        net = Net(minimum, maximum)
        if mode == "PYNATIVE_MODE":
            net.construct = ms.jit(net.construct)
        return net(gradient, x).asnumpy().ravel().tolist()

    outputs = [call(*bounds, grad_output) for bounds in ((1.2, 2.4), (1.2, 2.4), (0.0, 1.0))]
    try:
        refused = call(1.2, 2.4, grad_output[:3])
    except RuntimeError as error:
        refused = str(error)
    print(json.dumps({"outputs": outputs, "refused": refused}))


if __name__ == "__main__":
    main(*sys.argv[1:])
