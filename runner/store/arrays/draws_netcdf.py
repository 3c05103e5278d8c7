"""Kept draws of a run as a NetCDF file that ArviZ opens: ``posterior.nc``."""

from __future__ import annotations

import importlib.util
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runner.execution.errors import UserError

if TYPE_CHECKING:
    from metrics.suite import MetricSuite

POSTERIOR = "posterior.nc"
NEEDED = ("arviz_base", "xarray", "h5netcdf")
"""What the extra `arviz` installs."""


def require_netcdf(key: str) -> None:
    """Refuses to keep draws where the file could not be written.

    Raises:
        UserError: naming `key`, what is missing, and what installs it.
    """
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        raise UserError(f"{key} needs {', '.join(missing)}; pip install -e '.[arviz]' installs it.")


def posterior_file(suite: MetricSuite, place: int) -> bytes | None:
    """The content of the file of the run at `place` of its batch; None where no draws are kept.

    The group ``posterior`` has ``theta`` ``(chain, draw, ...)``, as `KeptDraws.of_run` gives it, one-hot
    states as levels; ``sample_stats`` has ``lp``, their U. Chains count from 0, as in ``best.npz``; the
    coordinate ``draw`` is the step. The same draws give the same bytes.
    """
    from metrics.statistics.kept_draws import KeptDraws

    for statistic in suite.context.statistics.values():
        if isinstance(statistic, KeptDraws):
            return _netcdf(**statistic.of_run(place))
    return None


def _netcdf(theta: Any, lp: Any, step: list[int]) -> bytes:
    from arviz_base import from_dict

    tree = from_dict(
        {"posterior": {"theta": theta}, "sample_stats": {"lp": lp}},
        coords={"draw": step},
        index_origin=0,  # whatever the user's arvizrc says
        check_conventions=False,  # more chains than draws are what `task.keep` asked for
    )
    packed: dict[str, dict[str, Any]] = {}
    for group in tree.subtree:
        # The time and the versions would make the file another one each time.
        group.attrs = {}
        packed[group.path] = {name: {"zlib": True, "complevel": 4} for name in group.data_vars}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / POSTERIOR
        tree.to_netcdf(
            path, engine="h5netcdf", encoding={key: value for key, value in packed.items() if value}
        )
        return path.read_bytes()
