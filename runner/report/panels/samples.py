"""Panels `samples` and `images`: a sheet of where a run's chains ended, or of data that it learned from."""

from __future__ import annotations

from matplotlib.axes import Axes

from runner.report.figures.panel import NO_RUN, PanelData, PanelKind, show_reason
from runner.store.array_files import DRAWS, IMAGES, load_images, sheet


def draw_samples(ax: Axes, data: PanelData) -> None:
    """Draws the last draws of the panel's row and column, of the first seed that stored some."""
    _draw_sheet(ax, data, DRAWS)


def draw_images(ax: Axes, data: PanelData) -> None:
    """Draws images of the data set behind the panel's row and column."""
    _draw_sheet(ax, data, IMAGES)


def _draw_sheet(ax: Axes, data: PanelData, file: str) -> None:
    (column,) = data.panel.columns
    ax.grid(False)
    ax.set(xticks=[], yticks=[])
    ax.set_box_aspect(1)
    for spine in ax.spines.values():
        spine.set_visible(False)
    assert data.panel.row is not None
    runs = [run for run in data.results.at(data.panel.row, column) if run.summary is not None]
    for run in sorted(runs, key=lambda run: run.seed):
        images = load_images(run.folder.path, file)
        if images is not None and len(images):
            picture = ax.imshow(sheet(images), cmap="gray_r", vmin=0, vmax=1, interpolation="nearest")
            picture.set_rasterized(True)
            return
    show_reason(ax, "no stored draws" if runs else NO_RUN)


KINDS = {
    "samples": PanelKind(draw_samples, required=("row",)),
    "images": PanelKind(draw_images, required=("row",)),
}
