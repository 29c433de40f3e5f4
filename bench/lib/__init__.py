# SPDX-License-Identifier: BSD-3-Clause
"""Owns nothing: bench/run finds its parts here."""
