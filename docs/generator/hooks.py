"""MkDocs hook: adds the generated pages to the site. They are never written into docs/."""

from __future__ import annotations

import sys
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from docs.generator import (  # noqa: E402 - needs the root
    data_pages,
    notebook_pages,
    reference_pages,
    result_pages,
    room_page,
)
from docs.generator.measured_exactness import measured  # noqa: E402
from docs.generator.sampler_page import samplers, temperings  # noqa: E402
from runner.catalogue.yaml_files import Groups  # noqa: E402


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the reference pages, the result pages, the recorded figures and the notebooks."""
    # MkDocs restores sys.path after loading a hook; the classes that conf/ names are imported from here.
    if str(ROOT) not in sys.path:
        sys.path.insert(0, str(ROOT))
    conf = Groups(ROOT / "conf")
    reference = {
        "samplers": samplers(conf, measured(ROOT)),
        "tempering": temperings(conf),
        "targets": reference_pages.targets(conf),
        "metrics": reference_pages.metrics(conf),
        "tasks": reference_pages.tasks(conf),
        "experiments": data_pages.experiments(conf),
        "data-sets": data_pages.data_sets(conf),
    }
    for name, text in reference.items():
        files.append(File.generated(config, f"reference/{name}.md", content=text))
    files.append(File.generated(config, "rooms.md", content=room_page.rooms(ROOT)))
    for page in result_pages.pages(ROOT / "outputs" / "record"):
        files.append(File.generated(config, page.address, content=page.text))
        for address, path in page.pictures.items():
            files.append(File.generated(config, address, abs_src_path=str(path)))
    for notebook in notebook_pages.pages(ROOT / "docs"):
        files.append(File.generated(config, notebook.address, content=notebook.text))
        for address, data in notebook.pictures.items():
            files.append(File.generated(config, address, content=data))
    return files


def on_page_markdown(markdown: str, page: Page, **_: object) -> str:
    """Leads a link to a notebook to its page; only those pages link to the file itself."""
    own = page.file.src_uri.startswith(f"{notebook_pages.FOLDER}/")
    return markdown if own else markdown.replace(".ipynb)", ".md)")
