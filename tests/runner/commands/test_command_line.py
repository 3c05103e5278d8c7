"""The command line as a user calls it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from runner.command.subcommands import main as rungwise
from runner.store.run_store import Store
from tests.support.commands import SMALL, Call, refused

ROOT = Path(__file__).parents[3]

# Fails as soon as anything imports torch.
NO_TORCH = """
import sys
class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "torch":
            raise AssertionError("torch was imported")
sys.meta_path.insert(0, Refuse())
from runner.__main__ import main
sys.exit(main(sys.argv[1:]))
"""


def without_torch(*argv: str, code: str = NO_TORCH) -> subprocess.CompletedProcess[str]:
    """The command in a Python that has no torch."""
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", code, *argv]
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)


@pytest.mark.parametrize(
    "argv",
    [
        ("target=mgo",),
        ("sampler=dmala", "sampler.stepsize=3"),
        ("-m", "+experiment=pt_table1", "scale=quik"),
        ("-m", "sampler=dmala,pt_dmala", "sampler.ladder=[1,0]"),
    ],
)
def test_a_mistyped_name_is_refused_before_torch_is_imported(argv: tuple[str, ...]) -> None:
    ended = without_torch(*argv)
    assert ended.returncode == 2, ended.stderr
    assert ended.stderr.startswith("error: Unknown ")


def test_values_that_need_no_torch_are_refused_before_it_is_imported() -> None:
    lines = [
        "task.steps=0", "task.burn_in=3000", "task.start=one_mod", "seed=-1", "threads=0", "device=gpu",
        "dtype=float16", "streams=both", "checkpoint.seconds=-1", "scale.seeds=0", "tuning.effort=0",
        "sampler.scan=rndom", "target.components=7",
    ]  # fmt: skip
    each = NO_TORCH.replace(
        "sys.exit(main(sys.argv[1:]))", "for line in sys.argv[1:]: assert main(['sampler=gibbs', line]) == 2"
    )
    ended = without_torch(*lines, code=each)
    assert ended.returncode == 0, ended.stderr
    for line, said in zip(lines, ended.stderr.splitlines(), strict=True):
        key, _, value = line.partition("=")
        assert said.startswith(f"error: {key} must be ")
        assert value in said


EARLY = {
    "sampler=acs": "cycles=-3 beta_max=2 zeta=0 target_acceptance=1.5 cycle_length=1 step_size=fast "
    "balancing=3",
    "sampler=acs sampler.step_size=1": "min_step_size=5",
    "sampler=ab": "balancing=0.2 acceptance=2 step_size=-1",
    "sampler=dmala": "step_size=atuo acceptance=0 balancing=7 norm=-1",
    "sampler=pt_dmala": "ladder=3 ladder=[1,2] ladder=[1] replicas=1 replicas=many max_replicas=1 "
    "replicas_formula=v3 swap.pairing=random swap.intensity=-1 kernel.norm=0",
    "sampler=st_dmala": "ladder=fine2 rate=1 max_levels=1",
    "sampler=pt_dmala sampler.ladder=[1,0.5]": "step_size=[0.1] step_size=fast step_size=-1",
    "sampler=pt_gibbs": "step_size=3 step_size=auto",
    "sampler=st_dmala sampler.ladder=[1,0.5]": "step_size=[0.1,0.2,0.3] step_size=stmh",
    "sampler=stmh": "step_size=-1 step_size=fast",
    "sampler=dmala tempering=annealed": "step_size=0 step_size=stmh",
    "sampler=reld": "rho=-1 tau=-1 ladder=[0.5,1] scale=0 step_size=0",
    "sampler=hamming_ball": "radius=20",
    "sampler=random_walk": "step_size=0",
    "sampler=edmala": "eta=-1 auxiliary_step_size=0",
    "sampler=tour_swap target=tsp": "target.cities=1 target.scale=0",
    "target=rbm sampler=rbm_gibbs": "target.dataset=mnst target.training.iterations=0 target.n_hidden=0",
    "task=learn target=rbm": "task.learning_rate=-1 task.method=dc task.ais.chains=1 task.buffer=0",
    "task=evaluate": "model=missing.pt",
    "task=autoencode target=rbm": "task.samples=1 task.noise=2 task.input=clear task.autoencoder.networks=0 "
    "task.autoencoder.epochs=0",
    "task=classify target=rbm": "task.images=all task.classifier.batch=0",
    "task=spectral_gap": "task.method=exact task.memory=0",
    "metric=mean_norm": "metric.mean_norm.threshold=0",
    "logger=wandb": "logger.mode=of",
}
"""Values of a sampler, or of the key that is written out, each wrong by itself."""


def test_values_of_every_part_are_refused_before_torch_is_imported() -> None:
    """Each sentence is that of who reads the value."""
    whole = ("target.", "task.", "metric.", "logger.", "model")
    lines = [
        f"{chosen} {value if value.startswith(whole) else f'sampler.{value}'}"
        for chosen, values in EARLY.items()
        for value in values.split()
    ]
    each = NO_TORCH.replace(
        "sys.exit(main(sys.argv[1:]))", "for line in sys.argv[1:]: assert main(line.split()) == 2"
    )
    ended = without_torch(*lines, code=each)
    assert ended.returncode == 0, ended.stderr
    for line, said in zip(lines, ended.stderr.splitlines(), strict=True):
        key, _, value = line.rsplit(" ", 1)[-1].partition("=")
        assert said.startswith(f"error: {key} must "), said
        assert value.strip("[]").replace(",", ", ") in said


def test_a_step_size_of_a_rung_is_refused_as_early() -> None:
    ended = without_torch("sampler=pt_dmala", "sampler.ladder=[1,0.5]", "sampler.step_size=[0.1,-1]")
    assert ended.stderr == "error: sampler.step_size must be a positive number, -1 was given.\n"


def test_a_number_of_replicas_that_does_not_fit_the_ladder_is_refused_as_early() -> None:
    ended = without_torch("sampler=pt_dmala", "sampler.ladder=[1,0.5]", "sampler.replicas=3")
    assert ended.stderr == ("error: sampler.replicas=3 does not fit the ladder given, which has 2 rungs.\n")


def test_optuna_is_named_where_it_is_missing(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    said = refused(call, "-m hydra/sweeper=optuna sampler=dmala sampler.step_size=interval(1,2)")
    assert said == "error: hydra/sweeper=optuna needs Optuna: pip install -e '.[optuna]'.\n"


@pytest.mark.parametrize("argv", [("--help",), ("--cfg", "job", "sampler=gibbs"), ("--info", "searchpath")])
def test_help_and_configuration_need_no_torch(argv: tuple[str, ...]) -> None:
    ended = without_torch(*argv)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout


def test_help_names_groups_and_keys(call: Call) -> None:
    ended = call("--help")
    assert ended.status == 0
    for text in (
        "sampler: ab, acs, block_gibbs, dlmc, dlmc_forward, dmala",
        "+experiment=pt_table1",
        "step_size",
        "output_root: outputs",
    ):
        assert text in ended.out
    assert "Exit status: 0, done; 1, some runs failed, the others are done; 2, refused" in " ".join(
        ended.out.split()
    )


def test_cfg_shows_the_configuration_that_runs(call: Call) -> None:
    ended = call("--cfg", "job", *SMALL, "seed=3")
    shown = yaml.safe_load(ended.out)
    assert (ended.status, shown["seed"], shown["sampler"]["name"]) == (0, 3, "gibbs")
    resolved = yaml.safe_load(call("--cfg", "job", "--resolve", *SMALL).out)
    assert resolved["task"]["burn_in"] == 4
    assert call("--cfg", "job", "--package", "scale").out.startswith("# @package scale")


def test_cfg_shows_a_part_of_the_configuration_that_runs(call: Call) -> None:
    """A tempering is folded into its sampler there, too."""
    words = ("--cfg", "job", "sampler=gibbs", "tempering=parallel", "tempering.replicas=3")
    whole = yaml.safe_load(call(*words).out)
    assert whole["sampler"]["name"] == "pt_gibbs"
    assert yaml.safe_load(call(*words, "--package", "sampler").out) == whole["sampler"]
    assert call(*words, "--package", "sampler.replicas").out == "3\n"
    assert yaml.safe_load(call(*words, "--package", "task", "--resolve").out)["burn_in"] == 400


def test_cfg_all_shows_the_same_with_hydras_own_settings(call: Call) -> None:
    """The tempering stood there beside the sampler."""
    words = ("sampler=gibbs", "tempering=parallel", "hydra.sweep.subdir=there")
    job, whole = (yaml.safe_load(call("--cfg", kind, *words).out) for kind in ("job", "all"))
    assert whole.pop("hydra")["sweep"]["subdir"] == "there"
    assert whole == job
    assert call("--cfg", "all", *words, "--package", "hydra.sweep.subdir", "--resolve").out == "there\n"


def test_one_run_leaves_what_a_reader_expects(call: Call, tmp_path: Path) -> None:
    ended = call(*SMALL, "seed=3", "task.record=2")
    assert ended.status == 0, ended.err
    assert "tv=" in ended.out
    (path,) = (tmp_path / "outputs" / "runs").iterdir()
    folder = Store(tmp_path / "outputs").run(path.name)
    assert {each.name for each in path.iterdir()} == {
        "config.yaml",
        "lock",
        "manifest.json",
        "metrics.csv",
        "summary.json",
        "visits.npz",
    }
    summary = json.loads((path / "summary.json").read_text())
    assert summary["status"] == folder.status() == "done"
    assert (summary["run_id"], summary["steps"], summary["seed"]) == (path.name, 20, 3)
    assert 0 < summary["seconds"] <= summary["wall_seconds"]
    rows = folder.metrics()
    assert rows is not None
    assert list(rows["step"].drop_duplicates()) == [8, 20]
    last = rows[(rows["step"] == 20) & (rows["metric"] == "tv")]
    assert last["value"].item() == summary["metrics"]["tv"]
    assert last["evaluations"].item() == summary["evaluations"]
    config = yaml.safe_load((path / "config.yaml").read_text())
    assert (config["seed"], config["task"]["burn_in"]) == (3, 4)
    manifest = folder.manifest()
    assert manifest is not None
    assert {"git", "packages", "device", "host", "command", "started", "finished"} <= set(manifest)
    assert not (tmp_path / "outputs" / ".hydra").exists()
    assert [each.name for each in tmp_path.iterdir()] == ["outputs"]


def test_a_run_that_is_done_is_skipped(call: Call, tmp_path: Path) -> None:
    call(*SMALL)
    (summary,) = tmp_path.glob("outputs/runs/*/summary.json")
    before = summary.stat().st_mtime_ns
    assert "done before" in call(*SMALL).out
    assert summary.stat().st_mtime_ns == before


@pytest.mark.parametrize("words", ["run target=mine sampler=gibbs", "list targets"])
def test_a_folder_one_above_that_of_ones_own_is_named(
    words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The target in it was unknown, and the message did not say that the folder had none."""
    (tmp_path / "lab" / "conf" / "target").mkdir(parents=True)
    (tmp_path / "lab" / "conf" / "target" / "mine.yaml").write_text("name: mine\n_target_: lab.mine.Mine\n")
    monkeypatch.chdir(tmp_path)
    assert rungwise([*words.split(), "--config-dir", "lab"]) == 2
    assert capsys.readouterr().err == (
        "error: --config-dir must be the folder that has target in it, 'lab' was given; "
        "did you mean 'lab/conf'?\n"
    )


def test_a_folder_of_ones_own_by_config_dir(call: Call, tmp_path: Path) -> None:
    (tmp_path / "mine" / "scale").mkdir(parents=True)
    (tmp_path / "mine" / "scale" / "tiny.yaml").write_text("{name: tiny, steps: 10, chains: 2, seeds: 1}")
    argv = ("target=bernoulli4", "sampler=gibbs", "metric=tv", "scale=tiny")
    ended = call("--config-dir", "mine", *argv)
    assert ended.status == 0, ended.err
    assert "10 steps" in ended.out
    for sign in ("", "+", "++"):
        assert "done before" in call(f"{sign}hydra.searchpath=[file://mine]", *argv).out
    assert "done before" in call("--config-dir", "mine", "++hydra.searchpath=[pkg://conf]", *argv).out
    assert "Unknown scale 'tiny'" in call(*argv).err
    assert "did you mean 'tiny'?" in call("--config-dir", "mine", "scale=tiyn").err
