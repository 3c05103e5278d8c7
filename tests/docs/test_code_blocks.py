"""The documentation's code blocks are run: commands at a tiny size, Python as it stands."""

from __future__ import annotations

import importlib
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

import runner
from runner.__main__ import main as run
from targets import MixtureOfGaussians
from tests.docs.pages import PAGES, ROOT, Command, blocks, commands, examples

TINY = {"scale": "smoke", "task.steps": "40", "task.chains": "8"}
"""Put in place of what a command says. Tasks without steps get the scale alone."""

NOT_RUN = (
    *("mnist", "omniglot", "caltech", "berlin52", "outputs/models/ID", "logger=wandb", "+experiment=pt_"),
    "--cfg",
)
"""Needs a download, a trained model, an account or an hour, or runs nothing; test_project.py composes it."""

SLOW = (
    *("target=rbm", "target=resnet_ebm", "target=binary_bnn", "task.method=reld", "runner.status"),
    *("runner.table", "runner.verify pt_", "hydra/launcher=", "+experiment=", "-m target=mog", "seed=3"),
)
"""Trains a model, starts processes, or takes more than a few seconds."""


def runnable(module: str) -> list[object]:
    """The commands of ``python -m MODULE`` that are run here, the slow ones marked."""
    found = [(one, shlex.join(one.words)) for one in commands() if one.words[:3] == ("python", "-m", module)]
    return [
        pytest.param(one, id=str(one), marks=[pytest.mark.slow] * any(mark in line for mark in SLOW))
        for one, line in found
        if not any(mark in line for mark in NOT_RUN)
    ]


def tiny(command: Command, output: Path) -> list[str]:
    """The arguments of a command at a tiny size, with its results in `output`."""
    words = list(command.words[3:])
    sizes = {"output_root": str(output), "scale": TINY["scale"]}
    if not any(word.startswith(("task=", "+experiment=")) for word in words):
        sizes = {**sizes, **TINY}
    kept = [word for word in words if word.split("=")[0] not in sizes]
    return [*kept, *(f"{key}={value}" for key, value in sizes.items())]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder outside the project with the files that the pages show."""
    folder = tmp_path_factory.mktemp("reader")
    for path, text in examples().items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    (folder / "mypackage" / "__init__.py").touch()
    return folder


@pytest.fixture(autouse=True)
def reader(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.syspath_prepend(folder)


@pytest.mark.parametrize("command", runnable("runner"))
def test_a_run_runs(command: Command, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tiny(command, folder / "outputs")) == 0, capsys.readouterr().err
    said = capsys.readouterr().out
    others = {"-m", "task=count_ones", "--dry-run"} & set(command.words[3:])
    if "mypackage" in str(command) and not others:
        assert "40 steps" in said
        assert re.search(r"\btv=0\.\d+", said)


@pytest.mark.parametrize("command", runnable("runner.exactness"))
def test_the_exactness_of_a_users_sampler_is_checked(
    command: Command, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from runner.exactness import main

    assert main([*command.words[3:], f"output_root={folder / 'exactness'}"]) == 0, capsys.readouterr()
    assert "exact" in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize("command", runnable("runner.status"))
def test_a_status_is_shown(command: Command, folder: Path) -> None:
    from runner.status import main

    kept = [word for word in command.words[3:] if not word.startswith("scale=")]
    assert main([*kept, "scale=smoke", f"output_root={folder / 'outputs'}"]) == 0


@pytest.mark.parametrize("command", runnable("runner.table"))
def test_a_table_of_finished_runs_is_drawn(command: Command, folder: Path) -> None:
    from runner.table import main

    assert main([*command.words[3:], f"output_root={folder / 'outputs'}"]) == 0


@pytest.mark.parametrize("command", runnable("runner.verify"))
def test_a_store_is_verified(command: Command, folder: Path) -> None:
    from runner.verify import main

    (folder / "outputs").mkdir(exist_ok=True)
    kept = [word for word in command.words[3:] if not word.startswith("output_root=")]
    assert main([*kept, f"output_root={folder / 'outputs'}"]) == 0


@pytest.mark.parametrize(
    "page",
    [pytest.param(page, id=str(page.relative_to(ROOT))) for page in PAGES if blocks(page, "python")],
)
def test_the_python_of_a_page_runs_from_top_to_bottom(page: Path, folder: Path) -> None:
    # What the pages read, whichever tests came before.
    made = ["-m", "target=bernoulli4,mog", "sampler=dmala,acs", "scale=smoke"]
    assert run([*made, f"output_root={folder / 'outputs'}"]) == 0
    names: dict[str, object] = {"__name__": "page"}
    for number, block in enumerate(blocks(page, "python")):
        exec(compile(block, f"{page.name}, block {number}", "exec", dont_inherit=True), names)


def test_a_kernel_tuned_by_hand_is_the_one_of_a_sample(capsys: pytest.CaptureFixture[str]) -> None:
    (block,) = (each for each in blocks(ROOT / "docs" / "library.md", "python") if "by hand" in each)
    names: dict[str, Any] = {}
    exec(compile(block, "by hand", "exec", dont_inherit=True), names)
    assert capsys.readouterr().out.endswith("tensor([1., 0.], dtype=torch.float64)\n")
    # Bernoulli4 gets the same kernel from any random numbers.
    line = next(each for each in block.splitlines() if "by hand" in each)
    names["target"] = MixtureOfGaussians(4)
    exec(compile(line, "by hand", "exec", dont_inherit=True), names)
    kernel: Any = runner.sample(names["target"], names["tunable"], steps=20).source.kernel
    assert names["kernel"].betas.tolist() == kernel.betas.tolist()
    assert names["kernel"].step_sizes.tolist() == kernel.step_sizes.tolist()


@pytest.mark.parametrize(
    "command", [*runnable("runner.catalogue.listing"), *runnable("runner.catalogue.showing")]
)
def test_what_there_is_is_shown(command: Command, capsys: pytest.CaptureFixture[str]) -> None:
    assert importlib.import_module(command.words[2]).main(list(command.words[3:])) == 0
    assert capsys.readouterr().out
