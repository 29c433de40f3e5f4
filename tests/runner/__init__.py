# SPDX-License-Identifier: BSD-3-Clause
"""What ./run-tests does once packages and the first build are there."""
