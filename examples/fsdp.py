#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Owns the example of fully sharded training (ZeRO-3, FSDP): every rank keeps 1/n of parameters, gradients and momentum.

A layer's parameters are gathered by MPI_Iallgather while the layer before it computes, and its gradients go to their
owners by MPI_Ireduce_scatter_block while the next one of the backward pass does, so that both are under way at once:

    mpirun -np 4 python3 -m mpi4py examples/fsdp.py

With --unsharded every rank keeps everything, and adds the gradients of all ranks itself, in rank order. The losses are
the same to the last bit if MPI reduces in that order, too (coll_optcast_reproducible=rank_order).
"""

import argparse
import json
import sys
import time

import numpy as np
from sklearn.datasets import load_digits

from mpi4py import MPI

PIXELS = 64
CLASSES = 10
TEST_SHARE = 0.25
MOMENTUM = np.float32(0.9)
# What is known of each step, in seconds, and written by --json.
TIMES = ("seconds", "computing", "exposed", "waiting_least", "waiting")


def number(convert, least):
    """A parser of numbers from LEAST on."""
    def parse(text):
        value = convert(text)
        if not value >= least:
            raise argparse.ArgumentTypeError(f"{text} is less than {least}")
        return value

    parse.__name__ = convert.__name__
    return parse


def parse_arguments():
    parser = argparse.ArgumentParser(description="Fully sharded training on handwritten digits.")
    parser.add_argument("--layers", type=number(int, 2), default=5, help="matrices of weights (%(default)s)")
    parser.add_argument("--width", type=number(int, 1), default=256, help="units of a hidden layer (%(default)s)")
    parser.add_argument("--steps", type=number(int, 1), default=60, help="minibatches (%(default)s)")
    parser.add_argument("--batch", type=number(int, 1), default=16, help="images of a rank in each (%(default)s)")
    parser.add_argument("--seed", type=number(int, 0), default=4, help="of all random choices (%(default)s)")
    parser.add_argument("--learning-rate", type=number(float, 0), default=0.02, help="(%(default)s)")
    parser.add_argument("--half", action="store_true", help="gather parameters as 16-bit floats")
    parser.add_argument("--unsharded", action="store_true", help="the same without sharding, to compare with")
    parser.add_argument("--compute", type=number(float, 0), default=0, metavar="MS",
                        help="sleep for so many milliseconds in each layer's forward pass and twice that in its backward "
                             "pass, in place of the arithmetic of a larger model (%(default)s)")
    parser.add_argument("--json", metavar="FILE", help="write losses and times")
    return parser.parse_args()


class Batches:
    """The same minibatches in every run: each rank has its images of each."""

    def __init__(self, arguments, rank, size):
        images, labels = load_digits(return_X_y=True)
        self.images, self.labels = (images / 16.0).astype(np.float32), labels
        order = np.random.default_rng(arguments.seed).permutation(len(labels))
        held_out = int(len(order) * TEST_SHARE)
        self.test, self.train = order[:held_out][rank::size], order[held_out:]
        self.seed, self.size, self.batch, self.rank = arguments.seed, size, arguments.batch, rank

    def of_step(self, step):
        """(images, labels) of this rank."""
        random = np.random.default_rng([self.seed, step])
        chosen = random.choice(self.train, (self.size, self.batch))[self.rank]
        return self.images[chosen], self.labels[chosen]


class Shape:
    """A layer's weights and biases, one after the other in a vector that all ranks own equal parts of."""

    def __init__(self, inputs, outputs, ranks):
        self.inputs, self.outputs = inputs, outputs
        self.count = inputs * outputs + outputs
        self.block = -(-self.count // ranks)
        self.padded = self.block * ranks

    def views(self, vector):
        """(weights, biases) in a vector."""
        end = self.inputs * self.outputs
        return vector[:end].reshape(self.inputs, self.outputs), vector[end:self.count]

    def initial(self, random):
        """What every run begins with."""
        vector = np.zeros(self.padded, dtype=np.float32)
        weights, _ = self.views(vector)
        weights[...] = random.standard_normal(weights.shape) * np.sqrt(2.0 / self.inputs)
        return vector


def make_shapes(arguments, ranks):
    sizes = [PIXELS, *[arguments.width] * (arguments.layers - 1), CLASSES]
    return [Shape(inputs, outputs, ranks) for inputs, outputs in zip(sizes, sizes[1:])]


class Waiting:
    """Requests, and how long the program waits for them."""

    def __init__(self):
        self.seconds = 0.0

    def wait(self, request):
        begin = time.perf_counter()
        request.Wait()
        self.seconds += time.perf_counter() - begin


class Momentum:
    """Stochastic gradient descent of the elements that this rank keeps."""

    def __init__(self, parameters, rate):
        self.parameters, self.rate = parameters, np.float32(rate)
        self.velocity = np.zeros_like(parameters)

    def step(self, gradient):
        self.velocity *= MOMENTUM
        self.velocity -= gradient * self.rate
        self.parameters += self.velocity


class Sharded:
    """What is kept of each layer is a block; whole layers are gathered when they are needed, one ahead."""

    def __init__(self, comm, arguments, shapes, waiting):
        # two communicators, as the two kinds of operations are started in no common order
        self.gathers, self.scatters = comm.Dup(), comm.Dup()
        self.shapes, self.waiting, self.half = shapes, waiting, arguments.half
        rank, ranks = comm.Get_rank(), comm.Get_size()
        random = np.random.default_rng(arguments.seed)
        rate = arguments.learning_rate / (ranks * arguments.batch)
        self.kept = [Momentum(shape.initial(random)[rank * shape.block:(rank + 1) * shape.block].copy(), rate)
                     for shape in shapes]
        kind = np.float16 if self.half else np.float32
        self.sent = [np.zeros(shape.block, kind) for shape in shapes]
        self.whole = [np.zeros(shape.padded, kind) for shape in shapes]
        self.summed = [np.zeros(shape.block, np.float32) for shape in shapes]
        self.gathering, self.reducing = {}, {}

    def prefetch(self, layer):
        """Starts to gather a layer, if there is one of that number and it is not here."""
        if 0 <= layer < len(self.shapes) and layer not in self.gathering:
            self.sent[layer][...] = self.kept[layer].parameters
            # MPI has no type for 16-bit floats, and here they are only moved
            self.gathering[layer] = self.gathers.Iallgather(self.sent[layer].view(np.uint8),
                                                            self.whole[layer].view(np.uint8))

    def parameters(self, layer):
        """The layer's vector, as 32-bit floats."""
        self.prefetch(layer)
        if self.gathering[layer] is not None:
            self.waiting.wait(self.gathering[layer])
            self.gathering[layer] = None
        return self.whole[layer].astype(np.float32)

    def release(self, layer):
        """It is gathered anew when it is needed again."""
        del self.gathering[layer]

    def reduce(self, layer, gradient):
        """Starts to add up a layer's gradients; takes the vector."""
        request = self.scatters.Ireduce_scatter_block(gradient, self.summed[layer], op=MPI.SUM)
        self.reducing[layer] = (request, gradient)

    def update(self, layer):
        """Waits for the sums, and makes a step."""
        if layer in self.reducing:
            self.waiting.wait(self.reducing[layer][0])
            del self.reducing[layer]    # and the vector with it, which has to live as long as that
            self.kept[layer].step(self.summed[layer])

    def close(self):
        self.gathers.Free()
        self.scatters.Free()


class Unsharded:
    """Everything is kept everywhere, and each rank adds all gradients in rank order."""

    def __init__(self, comm, arguments, shapes, waiting):
        self.comm, self.waiting, self.half = comm, waiting, arguments.half
        random = np.random.default_rng(arguments.seed)
        rate = arguments.learning_rate / (comm.Get_size() * arguments.batch)
        self.kept = [Momentum(shape.initial(random), rate) for shape in shapes]
        self.gradients = {}

    def prefetch(self, layer):
        """It is here."""

    def parameters(self, layer):
        parameters = self.kept[layer].parameters
        return parameters.astype(np.float16).astype(np.float32) if self.half else parameters

    def release(self, layer):
        """It stays."""

    def reduce(self, layer, gradient):
        self.gradients[layer] = gradient

    def update(self, layer):
        if layer in self.gradients:
            mine = self.gradients.pop(layer)
            every = np.empty((self.comm.Get_size(), len(mine)), np.float32)
            begin = time.perf_counter()
            self.comm.Allgather(mine, every)
            self.waiting.seconds += time.perf_counter() - begin
            summed = every[0].copy()
            for gradient in every[1:]:
                summed += gradient
            self.kept[layer].step(summed)

    def close(self):
        """Nothing is its own."""


class Network:
    """Layers with rectifiers between them, and what is computed in each."""

    def __init__(self, shapes, store, pause):
        self.shapes, self.store, self.pause = shapes, store, pause
        self.computing = 0.0    # seconds

    def compute(self, function, pauses):
        """What FUNCTION returns; a larger model would take longer."""
        begin = time.perf_counter()
        result = function()
        if self.pause:
            time.sleep(pauses * self.pause)
        self.computing += time.perf_counter() - begin
        return result

    def layer_forward(self, layer, vector, inputs):
        weights, biases = self.shapes[layer].views(vector)
        outputs = inputs @ weights + biases
        return outputs if layer == len(self.shapes) - 1 else np.maximum(outputs, 0)

    def forward(self, images):
        """Activations: the images, then the outputs of each layer."""
        active, last = [images], len(self.shapes) - 1
        for layer in range(len(self.shapes)):
            vector = self.store.parameters(layer)
            self.store.prefetch(layer + 1)
            active.append(self.compute(lambda at=layer, of=vector: self.layer_forward(at, of, active[-1]), 1))
            if layer != last:   # the backward pass begins with that one
                self.store.release(layer)
        return active

    def layer_backward(self, layer, vector, inputs, slopes):
        """(gradient of the layer, slopes of its inputs)"""
        shape = self.shapes[layer]
        gradient = np.zeros(shape.padded, np.float32)
        weights, biases = shape.views(gradient)
        weights[...] = inputs.T @ slopes
        biases[...] = slopes.sum(axis=0)
        return gradient, (slopes @ shape.views(vector)[0].T) * (inputs > 0)

    def backward(self, active, slopes):
        """Reduces the gradients of all layers and makes a step."""
        for layer in reversed(range(len(self.shapes))):
            vector = self.store.parameters(layer)
            self.store.prefetch(layer - 1)
            gradient, slopes = self.compute(
                lambda at=layer, of=vector, s=slopes: self.layer_backward(at, of, active[at], s), 2)
            self.store.release(layer)
            # before the gradients, which the messages by which it begins would have to wait behind
            self.store.prefetch(layer - 2)
            self.store.reduce(layer, gradient)
            self.store.update(layer + 1)
        self.store.update(0)

    def step(self, images, labels):
        """The sum of the losses of these images, before the step."""
        active = self.forward(images)
        loss, slopes = loss_of(active[-1], labels)
        self.backward(active, slopes)
        return loss

    def count_correct(self, images, labels):
        """Collective: every rank has images of its own, or none."""
        pause, self.pause = self.pause, 0
        active = self.forward(images)
        self.store.release(len(self.shapes) - 1)
        self.pause = pause
        return int((active[-1].argmax(axis=1) == labels).sum())


def loss_of(scores, labels):
    """(sum of the cross entropies, their slopes)"""
    rows = np.arange(len(labels))
    shifted = scores - scores.max(axis=1, keepdims=True)
    slopes = np.exp(shifted)
    sums = slopes.sum(axis=1, keepdims=True)
    loss = (np.log(sums[:, 0]) - shifted[rows, labels]).sum(dtype=np.float64)
    slopes /= sums
    slopes[rows, labels] -= 1
    return loss, slopes


def train(network, batches, waiting, steps):
    """Rows of (loss, seconds, computing, waiting) of this rank, one for each step."""
    rows = np.zeros((steps, 4))
    for step in range(steps):
        images, labels = batches.of_step(step)
        network.computing = waiting.seconds = 0.0
        begin = time.perf_counter()
        rows[step, 0] = network.step(images, labels)
        rows[step, 1:] = time.perf_counter() - begin, network.computing, waiting.seconds
    return rows


def collect(comm, rows, batch):
    """Losses of all images of each step, summed in rank order, and rows of times.

    The times, as TIMES names them: what the slowest rank takes for a step, and what the one computes that computes longest.
    The difference is exposed: what communication adds to a step, and what little is done between layers. Ranks wait for
    communication and for slower ranks: the one that waits least, and the one that waits most.
    """
    every = np.zeros((comm.Get_size(), *rows.shape))
    comm.Allgather(rows, every)
    losses = np.zeros(len(rows))
    for of_rank in every:
        losses += of_rank[:, 0]
    most = every[:, :, 1:].max(axis=0)
    times = np.column_stack((most[:, :2], most[:, 0] - most[:, 1], every[:, :, 3].min(axis=0), most[:, 2]))
    return losses / (comm.Get_size() * batch), times


def main():
    arguments = parse_arguments()
    comm = MPI.COMM_WORLD
    rank, size = comm.Get_rank(), comm.Get_size()
    shapes, waiting = make_shapes(arguments, size), Waiting()
    store = (Unsharded if arguments.unsharded else Sharded)(comm, arguments, shapes, waiting)
    network = Network(shapes, store, arguments.compute / 1e3)
    batches = Batches(arguments, rank, size)

    comm.Barrier()
    losses, times = collect(comm, train(network, batches, waiting, arguments.steps), arguments.batch)
    correct = network.count_correct(batches.images[batches.test], batches.labels[batches.test])
    accuracy = comm.allreduce(correct) / comm.allreduce(len(batches.test))
    store.close()
    if rank != 0:
        return 0 if np.isfinite(losses).all() else 1
    return report(arguments, size, shapes, losses, times, accuracy)


def report(arguments, size, shapes, losses, times, accuracy):
    """Prints it, and returns the exit status."""
    print(f"{size} ranks, {'unsharded' if arguments.unsharded else 'sharded'}, "
          f"{sum(shape.count for shape in shapes)} parameters in {len(shapes)} layers")
    for step, loss in enumerate(losses):
        print(f"step {step + 1:4d}  loss {float(loss)!r}")
    usual = np.median(times[1:] if len(times) > 1 else times, axis=0)   # the first one sets up
    print(f"test accuracy {accuracy:.4f}")
    print(f"time per step {1e3 * usual[0]:.2f} ms, computing {1e3 * usual[1]:.2f} ms, "
          f"exposed communication {1e3 * usual[2]:.2f} ms ({100 * usual[2] / usual[0]:.1f} %), "
          f"waiting {1e3 * usual[3]:.2f} to {1e3 * usual[4]:.2f} ms", flush=True)
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump({"ranks": size, "losses": losses.tolist(), "accuracy": accuracy,
                       **dict(zip(TIMES, times.T.tolist()))}, file)
    if not np.isfinite(losses).all():
        print("error: the loss is not a number any more: choose a smaller --learning-rate")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
