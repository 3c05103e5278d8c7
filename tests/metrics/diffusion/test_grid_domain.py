"""What lies outside the domain of a grid: refused where it is much, in the error where it is little."""

from __future__ import annotations

import re

import pytest

from metrics.diffusion.langevin_gap import check_grid, inverse_gap, langevin, reld
from metrics.diffusion.langevin_generator import Level
from targets import GaussianMixture, singular_mixture

WIDE = reld(10.0, scale=10.0)


@pytest.mark.parametrize(
    ("means", "covariance", "levels", "outside"),
    [
        ([[-6.0], [6.0]], 1.0, langevin(), "97 % of the mass of the target is outside box=4"),
        ([[2.0], [6.0]], 1.0, langevin(), "49 % of the mass of the target is outside box=4"),
        ([[0.0], [40.0]], 1.0, langevin(), "a mode is outside box=4"),
        ([[0.0]], 9.0, langevin(), "17 % of the mass of the target is outside box=4"),
        ([[-2.0, 0.0], [0.0, -6.0]], 0.3, langevin(), "50 % of the mass of the target is outside box=4"),
        ([[-1.0], [1.0]], 0.2, WIDE, "46 % of the mass of replica 2 of 2 is outside box=4"),
    ],
)
def test_a_box_that_does_not_hold_the_target_is_refused_with_one_that_does(
    means: list[list[float]], covariance: float, levels: tuple[Level, ...], outside: str
) -> None:
    target = GaussianMixture(means, covariance=covariance).double()
    with pytest.raises(ValueError, match=re.escape(outside)) as refused:
        check_grid(target, levels, 2.0, 61, 4.0, 8.0)
    (box,) = re.findall(r"; box=(\S+) holds them$", str(refused.value))
    assert check_grid(target, levels, 2.0, 61, 1.01 * float(box), 8.0) == 0.0


@pytest.mark.parametrize("box", [2.6, 3.0, 3.5, 4.0])
def test_the_error_has_what_the_box_leaves_out(box: float) -> None:
    """kappa of a normal distribution is its variance."""
    found = inverse_gap(GaussianMixture([[0.0]]).double(), langevin(), 0.0, 801, box)
    assert found.error == pytest.approx(abs(found.kappa - 1.0), rel=0.45)


def test_the_error_of_two_modes_has_what_the_box_leaves_out() -> None:
    two, wide = (inverse_gap(singular_mixture(0.5).double(), langevin(), 0.0, 801, box) for box in (2.5, 6.0))
    assert wide.kappa - two.kappa < two.error < 4 * (wide.kappa - two.kappa)
    assert wide.error < 3e-4


def test_a_far_tail_is_not_in_the_error() -> None:
    found = inverse_gap(singular_mixture(0.3).double(), langevin(), 0.0, 801, 4.0)
    rounding = 1e-12 * found.kappa
    assert found.error == pytest.approx(abs(found.kappa - found.fine) + rounding, rel=1e-12)
