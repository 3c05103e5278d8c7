"""Panel kinds: each is one file, is found by its name, and refuses keys that it does not read."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest
from omegaconf import OmegaConf

from runner.execution.errors import UserError
from runner.report import panel_kinds, panels
from runner.report.figure_shape import FigureShape
from runner.report.figures.panel import PanelKind
from runner.report.panel_kinds import check_panels

DOCS = Path(__file__).parents[3] / "docs"


@pytest.fixture(autouse=True)
def _fresh_kinds() -> None:
    panel_kinds.panel_kinds.cache_clear()


def figure(panel: str) -> list[FigureShape]:
    """A figure with one panel, `panel` being its block in YAML."""
    block = {"name": "curve", "panels": [OmegaConf.create(f"{{title: one, {panel}}}")]}
    shape = OmegaConf.to_object(OmegaConf.merge(OmegaConf.structured(FigureShape), block))
    assert isinstance(shape, FigureShape)
    return [shape]


@pytest.mark.parametrize(
    ("panel", "sentence"),
    [
        ("kind: state_share, columns: [a]", r"panels.0..kind 'state_share'; did you mean 'state_shares"),
        (
            "kind: intervals, columns: [a]",
            r"table.figures\[0\].panels\[0\] .figure curve, panel 'one' of kind intervals. needs metric",
        ),
        (
            "kind: heat_map, columns: [a], log: true, floor: x",
            r"does not read floor, log; it reads: row\.",
        ),
        ("kind: images, row: A, columns: [a, b]", "takes one column, 2 were given"),
        (
            "kind: against_steps, metric: m, columns: [a], x: evals",
            "needs one of evaluations, seconds, step as its x, 'evals' was given; did you mean 'eval",
        ),
    ],
)
def test_a_panel_with_a_mistake_is_refused(panel: str, sentence: str) -> None:
    with pytest.raises(UserError, match=sentence):
        check_panels(figure(panel))


def test_a_new_kind_is_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = Path(panels.__path__[0]) / "heat_map.py"
    (tmp_path / "our_map.py").write_text(source.read_text().replace('"heat_map": ', '"our_map": '))
    monkeypatch.setattr(panels, "__path__", [*panels.__path__, str(tmp_path)])
    check_panels(figure("kind: our_map, columns: [a]"))


def test_two_files_with_one_kind_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    twice = SimpleNamespace(KINDS={"heat_map": PanelKind(lambda _ax, _data: None)})
    monkeypatch.setattr(panel_kinds, "import_module", lambda _name: twice)
    with pytest.raises(ValueError, match="declares heat_map, another panel does too"):
        panel_kinds.panel_kinds()


def test_the_documents_name_every_kind() -> None:
    written = "".join(page.read_text() for page in DOCS.rglob("*.md"))
    assert [kind for kind in panel_kinds.panel_kinds() if f"`{kind}`" not in written] == []
