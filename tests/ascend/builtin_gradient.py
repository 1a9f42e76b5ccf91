"""The gradient of mint.nn.Hardtanh as MindSpore has it: `builtin_gradient.py MODE`.

Prints as JSON the gradient at points around the bounds and the calls of the virtual NPU that its log names Hardtanh.
"""

import json
import sys

import mindspore as ms
import numpy as np
from call_log import lines
from mindspore import Tensor, mint

if __name__ == "__main__":
    ms.set_device("Ascend")
    ms.set_context(mode=getattr(ms, sys.argv[1]), jit_config={"jit_level": "O0"})
    x = Tensor(np.array([-3, -2, -1, 0, 1, 2, 3], np.float32))
    gradient = ms.grad(mint.nn.Hardtanh(-2.0, 2.0))(x).asnumpy().tolist()
    calls = [call for call in lines() if "Hardtanh" in call]
    print(json.dumps({"gradient": gradient, "calls": calls}))
