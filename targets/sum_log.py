"""The sum of many log(1 + x) from few logarithms, as sums of softplus and of log sigmoid need it."""

from __future__ import annotations

import math

from torch import Tensor

FACTORS = 16
"""How many factors are multiplied before a logarithm: products of 17 stay below 2 ** 17."""

LOG2_E = 1.0 / math.log(2.0)
"""exp(x) = exp2(LOG2_E x), which on the CPU takes a third of the time of `torch.exp`.

Not for what must be the same bit for bit alone and in company: exp2 rounds otherwise at the end of a vector.
"""


def sum_log(factors: Tensor) -> Tensor:
    """sum_i log(f_i) over the last axis, ``(*batch, n)`` to ``(*batch)``, for factors f from 1/2 to 2.

    The logarithms of products of 16 or 17 factors: on the CPU a twentieth of the time of `torch.log1p`.
    A product rounds by half a unit a factor, so the error is that of adding up the terms one by one.
    """
    products = factors.shape[-1] // FACTORS
    if products < FACTORS:
        return factors.log().sum(-1)
    whole = products * FACTORS
    blocks = factors[..., :whole].reshape(*factors.shape[:-1], FACTORS, products)
    product = blocks.prod(-2)
    # The fewer than 16 that are left over, one to a product.
    product[..., : factors.shape[-1] - whole].mul_(factors[..., whole:])
    return product.log_().sum(-1)
