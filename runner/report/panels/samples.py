"""Panels `samples` and `images`: a sheet of where a run's chains ended, or of data that it learned from."""

from __future__ import annotations

from functools import partial

from matplotlib.axes import Axes

from runner.report.figures.panel import PanelData, PanelKind, show_missing
from runner.store.arrays.array_files import DRAWS, IMAGES, load_images, sheet


def draw_sheet(ax: Axes, data: PanelData, file: str) -> None:
    """Draws the images in `file` of the first seed of the panel's row and column that stored some."""
    ax.grid(False)
    ax.set(xticks=[], yticks=[])
    ax.set_box_aspect(1)
    for spine in ax.spines.values():
        spine.set_visible(False)
    runs = [run for run in data.own_runs if run.summary is not None]
    for run in sorted(runs, key=lambda run: run.seed):
        images = load_images(run.folder.path, file)
        if images is not None and len(images):
            picture = ax.imshow(sheet(images), cmap="gray_r", vmin=0, vmax=1, interpolation="nearest")
            picture.set_rasterized(True)
            return
    show_missing(ax, runs, "stored draws")


KINDS = {
    "samples": PanelKind(partial(draw_sheet, file=DRAWS), required=("row",)),
    "images": PanelKind(partial(draw_sheet, file=IMAGES), required=("row",)),
}
