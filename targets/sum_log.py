"""Sums of many logarithms computed from few, for sums of softplus and of log sigmoid."""

from __future__ import annotations

import math
from functools import reduce

import torch
from torch import Tensor

from targets.compiling.tracing import is_traced

FACTORS = 16
"""Number of factors that are multiplied before a logarithm; products of 17 stay below 2 ** 17."""

LOG2_E = 1.0 / math.log(2.0)
"""exp(x) = exp2(LOG2_E x), which on the CPU takes a third of the time of `torch.exp`.

Not for results that must not depend on the batch composition: exp2 rounds differently at the end of a vector.
"""

FLOAT_BITS = {torch.float32: (torch.int32, 23, 127), torch.float64: (torch.int64, 52, 1023)}
"""Of each dtype the whole numbers with as many bits, the bits of its significand and the exponent of 1."""


SOFTPLUS_IS_LINEAR = {torch.float32: 20.0, torch.float64: 40.0}
"""From where log(1 + e^x) rounds to x."""


def softplus(x: Tensor) -> Tensor:
    """log(1 + e^x), to the rounding of its dtype; torch's own is x from 20 on, wrong by 2e-9 there."""
    return torch.nn.functional.softplus(x, threshold=SOFTPLUS_IS_LINEAR.get(x.dtype, 20.0))


def sum_log(factors: Tensor) -> Tensor:
    """sum_i log(f_i) over the last axis, ``(*batch, n)`` to ``(*batch)``, for factors f from 1/2 to 2.

    Computed from the logarithms of products of 16 or 17 factors: on the CPU a twentieth of the time of
    `torch.log1p`. The rounding error is of the same size as that of adding the terms one by one.
    """
    products = factors.shape[-1] // FACTORS
    if products < FACTORS or _logs_are_cheap(factors):
        return factors.log().sum(-1)
    whole = products * FACTORS
    blocks = factors[..., :whole].reshape(*factors.shape[:-1], FACTORS, products)
    # A compiler fuses a chain of products with what comes before and after it.
    product = reduce(Tensor.mul, blocks.unbind(-2)) if is_traced() else blocks.prod(-2)
    if left := factors.shape[-1] - whole:  # fewer than 16, multiplied to one product each
        product[..., :left].mul_(factors[..., whole:])
    return product.log_().sum(-1)


def sum_log_any(factors: Tensor) -> Tensor:
    """`sum_log` of positive normal numbers of almost any size: below 2^127, in float64 below 2^1023.

    To a compiler their exponents are added up and their significands, from 1 to 2, multiplied, in a fifth of
    the time of the logarithms. NaN and zero give NaN and -inf, as with those.
    """
    if not is_traced() or factors.dtype not in FLOAT_BITS or _logs_are_cheap(factors):
        return factors.log().sum(-1)
    whole, width, bias = FLOAT_BITS[factors.dtype]
    exponents = factors.view(whole) >> width
    # 2^-e, from the bits of 1 less e; that of NaN is -inf.
    significands = factors * ((2 * bias - exponents) << width).view(factors.dtype)
    return sum_log(significands) + math.log(2.0) * (exponents - bias).to(factors.dtype).sum(-1)


def _logs_are_cheap(factors: Tensor) -> bool:
    """Whether logarithms cost a compiled step less than products: a GPU waits for memory, not for them.

    With chains of products in it, the compiler took over 100 s for one kernel of block Gibbs on an RBM.
    """
    return is_traced() and factors.is_cuda
