#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Owns the example job: data-parallel training of a small network on handwritten digits.

An ordinary MPI program. Every rank holds a shard of the images, and every minibatch averages the
gradients of all ranks with one MPI_Allreduce:

    mpirun -np 4 python3 -m mpi4py examples/train_digits.py
"""

import argparse
import sys
import time

import numpy as np
from sklearn.datasets import load_digits

from mpi4py import MPI

PIXELS = 64
CLASSES = 10
TEST_SHARE = 0.25
REQUIRED_ACCURACY = 0.95
MOMENTUM = 0.9


def positive(convert):
    def parse(text):
        value = convert(text)
        if not value > 0:
            raise argparse.ArgumentTypeError(f"{text} is not greater than 0")
        return value

    parse.__name__ = convert.__name__
    return parse


def parse_arguments():
    parser = argparse.ArgumentParser(description="Data-parallel training on handwritten digits.")
    parser.add_argument("--epochs", type=positive(int), default=30, help="passes over the images (%(default)s)")
    parser.add_argument("--hidden", type=positive(int), default=64, help="hidden units (%(default)s)")
    parser.add_argument("--batch", type=positive(int), default=32,
                        help="images in a minibatch, over all ranks (%(default)s)")
    parser.add_argument("--seed", type=int, default=4, help="seed of all random choices (%(default)s)")
    parser.add_argument("--learning-rate", type=positive(float), default=0.05, help="(%(default)s)")
    arguments = parser.parse_args()
    if arguments.seed < 0:
        parser.error(f"argument --seed: {arguments.seed} is negative: use 0 or more")
    return arguments


def load_shards(rank, size, seed):
    """The rank's part of the training set and of the held-out test set."""
    images, labels = load_digits(return_X_y=True)
    images = (images / 16.0).astype(np.float32)
    order = np.random.default_rng(seed).permutation(len(labels))
    held_out = int(len(order) * TEST_SHARE)
    test = order[:held_out][rank::size]
    train = order[held_out:][rank::size]
    return (images[train], labels[train]), (images[test], labels[test]), len(order) - held_out


class Network:
    """64 pixels, one hidden layer, 10 classes; weights and gradients are views of flat buffers."""

    def __init__(self, hidden, seed):
        self.shapes = [(PIXELS, hidden), (hidden,), (hidden, CLASSES), (CLASSES,)]
        count = sum(int(np.prod(shape)) for shape in self.shapes)
        # The sum of the gradients, then the number of images they are from, for one Allreduce.
        self.reduced = np.zeros(count + 1, dtype=np.float32)
        self.gradient = self.reduced[:count]
        self.weights = np.zeros(count, dtype=np.float32)
        self.velocity = np.zeros(count, dtype=np.float32)
        self.layers = self.views(self.weights)
        self.slopes = self.views(self.gradient)
        rng = np.random.default_rng(seed)
        for layer in self.layers[::2]:
            layer[...] = rng.standard_normal(layer.shape) * np.sqrt(2.0 / layer.shape[0])

    def views(self, flat):
        views, start = [], 0
        for shape in self.shapes:
            end = start + int(np.prod(shape))
            views.append(flat[start:end].reshape(shape))
            start = end
        return views

    def forward(self, images):
        w1, b1, w2, b2 = self.layers
        active = np.maximum(images @ w1 + b1, 0)
        scores = active @ w2 + b2
        scores -= scores.max(axis=1, keepdims=True)
        probabilities = np.exp(scores)
        probabilities /= probabilities.sum(axis=1, keepdims=True)
        return active, probabilities

    def compute_gradient(self, images, labels):
        """Fill self.reduced with the sums over the given images (which may be none); return the loss."""
        self.reduced[-1] = len(labels)
        if len(labels) == 0:
            self.gradient[...] = 0
            return 0.0
        rows = np.arange(len(labels))
        active, probabilities = self.forward(images)
        loss = -np.log(np.maximum(probabilities[rows, labels], 1e-30)).sum(dtype=np.float64)
        probabilities[rows, labels] -= 1
        back = (probabilities @ self.layers[2].T) * (active > 0)
        self.slopes[0][...] = images.T @ back
        self.slopes[1][...] = back.sum(axis=0)
        self.slopes[2][...] = active.T @ probabilities
        self.slopes[3][...] = probabilities.sum(axis=0)
        return loss

    def step(self, learning_rate):
        self.velocity *= np.float32(MOMENTUM)
        self.velocity -= self.gradient * np.float32(learning_rate / self.reduced[-1])
        self.weights += self.velocity

    def count_correct(self, images, labels):
        if len(labels) == 0:
            return 0
        return int((self.forward(images)[1].argmax(axis=1) == labels).sum())


def weights_are_equal(comm, weights):
    """True on every rank if all ranks hold bitwise the same weights."""
    reference = weights.copy()
    comm.Bcast(reference, root=0)
    return comm.allreduce(reference.tobytes() == weights.tobytes(), op=MPI.LAND)


def main():
    arguments = parse_arguments()
    comm = MPI.COMM_WORLD
    rank, size = comm.Get_rank(), comm.Get_size()

    def say(text):
        if rank == 0:
            print(text, flush=True)

    (images, labels), (test_images, test_labels), train_total = load_shards(rank, size, arguments.seed)
    network = Network(arguments.hidden, arguments.seed)
    rng = np.random.default_rng([arguments.seed, rank])
    steps = -(-train_total // arguments.batch)
    say(f"{size} ranks, {train_total} training images, {network.weights.size} weights, "
        f"{steps} minibatches per epoch")

    start = time.monotonic()
    accuracy = 0.0
    for epoch in range(1, arguments.epochs + 1):
        # loss, images it is from, correct test images, test images
        sums = np.zeros(4, dtype=np.float64)
        for chosen in np.array_split(rng.permutation(len(labels)), steps):
            sums[0] += network.compute_gradient(images[chosen], labels[chosen])
            sums[1] += len(chosen)
            comm.Allreduce(MPI.IN_PLACE, network.reduced, op=MPI.SUM)
            # A step in which no rank has an image occurs only with batches smaller than the job.
            if network.reduced[-1] > 0:
                network.step(arguments.learning_rate)
        sums[2] = network.count_correct(test_images, test_labels)
        sums[3] = len(test_labels)
        comm.Allreduce(MPI.IN_PLACE, sums, op=MPI.SUM)
        accuracy = sums[2] / sums[3]
        say(f"epoch {epoch:3d}  loss {sums[0] / sums[1]:.4f}  test accuracy {accuracy:.4f}  "
            f"{time.monotonic() - start:6.2f} s")

    if not weights_are_equal(comm, network.weights):
        say("error: the ranks hold different weights after the training: "
            "an MPI_Allreduce gave different results on different ranks")
        return 1
    say(f"test accuracy {accuracy:.4f}")
    # Written so that NaN fails, too.
    if not accuracy >= REQUIRED_ACCURACY:
        say(f"error: test accuracy {accuracy:.4f} is below {REQUIRED_ACCURACY}: "
            "train longer (--epochs) or choose another --learning-rate")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
