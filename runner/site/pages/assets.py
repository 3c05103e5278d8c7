"""The libraries of the pages, written once beside them, so that nothing is loaded from elsewhere."""

from __future__ import annotations

import base64
import importlib.util
from pathlib import Path

from runner.execution.errors import UserError
from runner.site.pages.site_folder import SiteFolder

NEEDED = {"jinja2": "jinja2", "markdown_it": "markdown-it-py", "plotly": "plotly", "itables": "itables"}
"""Modules of the extra `report`, and the packages that they are in."""

STATIC = Path(__file__).parents[1] / "static"


def require_libraries() -> None:
    """Refuses to start without the libraries of the extra.

    Raises:
        UserError: naming what is missing and the command that installs it.
    """
    missing = [package for module, package in NEEDED.items() if importlib.util.find_spec(module) is None]
    if missing:
        raise UserError(
            f"The report needs the extra 'report' ({', '.join(missing)}): pip install -e '.[report]' adds it."
        )


def write_assets(site: SiteFolder) -> None:
    """Writes Plotly, DataTables, our style and our script."""
    bundle = _inside("itables", "html/dt_bundle.js").read_bytes()
    # The bundle is a module, which browsers do not load from files; its content as an address they do.
    address = f"data:text/javascript;base64,{base64.b64encode(bundle).decode()}"
    site.write("assets/tables.js", f'window.rungwiseTables = import("{address}");\n')
    site.write("assets/tables.css", _inside("itables", "html/dt_bundle.css").read_bytes())
    site.write("assets/plotly.min.js", _inside("plotly", "package_data/plotly.min.js").read_bytes())
    for path in sorted(STATIC.iterdir()):
        site.write(f"assets/{path.name}", path.read_bytes())


def _inside(package: str, name: str) -> Path:
    """A file of an installed package, which is not imported for it."""
    spec = importlib.util.find_spec(package)
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent / name
