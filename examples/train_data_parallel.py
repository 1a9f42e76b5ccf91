"""The training of train_digits.py on two workers, each with half of every batch.

    GLOG_v=3 msrun --worker_num=2 --local_worker_num=2 --master_port=8118 --log_dir=build/msrun --join=True \
        --tail_worker_log=0 examples/train_data_parallel.py --check

MindSpore's launcher starts the workers on this machine's CPU, with the `python` that comes first in PATH, and writes
what they print into the log directory; `--tail_worker_log=0` shows worker 0's as well. GLOG_v=3 leaves out MindSpore's
warnings.
"""

import os
import sys

import mindspore as ms
import numpy as np
from mindspore import ops
from mindspore.communication import get_group_size, get_rank, init
from train_digits import BATCH, TrainStep, make_network, make_parser, say, set_up, train

import ms_hardtanh_grad as htg

# A gradient is a sum over the batch in float32, which two halves and the whole add up in different orders.
TOLERANCE = 1e-6


class ParallelStep(TrainStep):
    """A step in which each worker computes the gradients of its part of a batch, and all apply their mean."""

    def __init__(self, network):
        """As TrainStep, and for the means over the workers."""
        super().__init__(network)
        self.all_reduce = ops.AllReduce()
        self.workers = get_group_size()
        self.map = ops.HyperMap()

    def mean(self, tensor):
        """The mean of all workers' `tensor`."""
        return self.all_reduce(tensor) / self.workers

    def construct(self, images, labels):
        """Update the weights; returns the loss of the whole batch before, and its gradients."""
        loss, gradients = self.map(self.mean, self.loss_and_gradients(images, labels))
        self.optimizer(gradients)
        return loss, gradients


def largest_difference(gradients, others):
    """The largest absolute difference between two lists of gradients; NaN where one is NaN."""
    return float(np.max([np.abs(one.asnumpy() - other.asnumpy()).max() for one, other in zip(gradients, others)]))


def main():
    """Train as the command line says."""
    parser = make_parser("Train a network with Hardtanh on handwritten digits, on workers that msrun starts.")
    parser.add_argument(
        "--check",
        action="store_true",
        help=f"compare every step's gradients with those of one worker with the whole batch; fail above {TOLERANCE}",
    )
    options = parser.parse_args()
    if "MS_WORKER_NUM" not in os.environ:
        parser.error("start it with msrun, see the top of the file")
    training, testing = set_up(parser, options, "CPU")
    init()
    rank, workers = get_rank(), get_group_size()
    if BATCH % workers:
        parser.error(f"{workers} workers cannot share a batch of {BATCH} images equally")
    generator = np.random.default_rng(options.seed)
    network = make_network(htg.Hardtanh, generator)
    step = ParallelStep(network)
    of_one_worker = ms.jit(step.loss_and_gradients)
    differences = []

    def step_on_part(images, labels):
        if options.check:
            _, expected = of_one_worker(images, labels)
        loss, gradients = step(images[rank::workers], labels[rank::workers])
        if options.check:
            differences.append(largest_difference(gradients, expected))
        return loss

    train(network, step_on_part, training, testing, generator, options, say if rank == 0 else lambda line: None)
    if options.check:
        largest = np.max(differences)
        equal = bool(largest <= TOLERANCE)
        say(f"gradients {'equal' if equal else 'differ'}: largest difference {largest:.1e} in {len(differences)} steps")
        sys.exit(not equal)


if __name__ == "__main__":
    main()
