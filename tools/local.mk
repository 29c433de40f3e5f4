# SPDX-License-Identifier: BSD-3-Clause
EXTRA_DIST += tools/packages quickstart examples/train_digits.py
