# SPDX-License-Identifier: BSD-3-Clause
"""Owns the example job whose results are told in all digits: its own arguments, and a line with a digest of the weights."""

import hashlib
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "examples"))
import train_digits  # noqa: E402 pylint: disable=wrong-import-position

are_equal = train_digits.weights_are_equal


def tell(comm, weights):
    """What the example asks at its end, of all ranks."""
    if comm.Get_rank() == 0:
        print("weights", hashlib.sha256(weights.tobytes()).hexdigest(), flush=True)
    return are_equal(comm, weights)


train_digits.weights_are_equal = tell
sys.exit(train_digits.main())
