"""`--dry-run`: the plan of a run or a sweep; nothing is started and nothing is written."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from hydra.core.global_hydra import GlobalHydra
from omegaconf import DictConfig

from runner.execution import progress
from runner.execution.reached import duration
from runner.models import training_trial
from runner.models.recipe import Recipe
from runner.problem.build import Problem
from runner.sweep import estimate
from runner.sweep.estimate import Left
from runner.tasks import sampled_runs
from runner.tasks.learn_task import Learn
from runner.tasks.runs import Trial
from runner.tasks.sample import Sampling, begin
from runner.tasks.sample_task import Sample
from tests.support.commands import Call, refused

SMALL = ("target=bernoulli4", "metric=tv", "task.steps=200", "task.chains=3")
SWEEP = ("sampler=gibbs,random_walk", "-m", "seed=0,1", *SMALL)


def test_the_plan_of_a_sweep(call: Call, tmp_path: Path) -> None:
    plan = call(*SWEEP, "--dry-run")
    assert plan.status == 0, plan.err
    assert list(tmp_path.iterdir()) == []
    assert "\n4 runs, 4 to do.\n" in plan.out
    # Gibbs evaluates both levels of a bit, the walk one state: 2 seeds x 200 steps x 3 chains x (2 + 1).
    assert re.search(
        r"They take about 3,600 evaluations of the target and [0-9.]+ m?s in one process", plan.out
    )
    assert plan.out.endswith("Nothing was started.\n")

    assert call("sampler=gibbs", "seed=[0,1]", *SMALL).status == 0
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    rest = call("--dry-run", *SWEEP)
    assert "\n4 runs, 2 to do.\n" in rest.out
    assert "They take about 1,200 evaluations" in rest.out
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before
    assert call(*SWEEP).status == 0
    done = call("--dry-run", *SWEEP)
    assert "\n4 runs, 0 to do.\nNothing was started.\n" in done.out


def test_a_run_that_jobs_share_is_counted_once(call: Call) -> None:
    plan = call("-m", "seed=[0,1],[1,2]", "sampler=gibbs,random_walk", *SMALL, "--dry-run")
    assert "\n6 runs, 6 to do.\n" in plan.out
    counts = [re.findall(r"\d+", line) for line in plan.out.splitlines() if line.startswith("│")]
    assert counts == [["3"], ["3"], ["0", "6"]]
    # 3 seeds x 200 steps x 3 chains x (2 + 1).
    assert "They take about 5,400 evaluations" in plan.out


def test_a_task_without_a_trial_has_no_time(call: Call) -> None:
    """It was told as 0.0 s, whatever its runs take."""
    gap = ("task=spectral_gap", "target=bernoulli4", "sampler=gibbs,random_walk", "-m")
    plan = call(*gap, "--dry-run")
    assert plan.out.endswith(
        "2 runs, 2 to do.\nHow long they take cannot be told before one is done.\nNothing was started.\n"
    )
    assert call(*gap, "sampler=gibbs").status == 0
    plan = call(*gap, "--dry-run")
    assert re.search(
        r"2 runs, 1 to do.\nHow long it takes cannot be told before one is done.\nNothing", plan.out
    )
    assert Left(3.0, untried=2).unknown(5) == (
        "This leaves out 2 of them, whose time cannot be told before one is done."
    )
    assert Left(3.0).unknown(5) == ""


RBM = ("-m", "scale=smoke", "target=rbm", "target.dataset=digits", "target.n_hidden=4")
LEARN = (
    *(*RBM, "task=learn", "sampler=rbm_gibbs", "task.iterations=3", "task.cd_steps=1", "task.chains=5"),
    *("task.ais.chains=5", "task.ais.draw_steps=2"),
)
SAMPLE = (*RBM, "sampler=gibbs", "metric=jump", "task.steps=4", "target.training.iterations=3")


def test_a_model_that_is_not_there_is_trained_once(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of runs that share one each paid for it, as did runs whose model is there; others paid for none."""
    tried = []

    def seconds(recipe: Recipe, config: DictConfig) -> float:
        tried.append(recipe.seed)
        return 1000.0

    monkeypatch.setattr(training_trial, "training_seconds", seconds)
    for task in (Learn, Sample):
        monkeypatch.setattr(task, "trial", lambda self, config, seeds: Trial(0.001))
    annealings = ("task.ais.temperatures=5,10,20", "seed=0,1")
    plan = call(*LEARN, *annealings, "--dry-run")
    assert f" {duration(2000)} in one process on this machine, the training of 2 models included." in plan.out
    assert call(*LEARN, "task.ais.temperatures=5", "seed=0").status == 0
    assert len(tried) == 1, "one of each kind"
    plan = call(*LEARN, *annealings, "--dry-run")
    # With what the finished run took.
    of_one = r" 16 min [45]\d s in one process on this machine, the training of 1 model included\."
    assert re.search(of_one, plan.out)
    assert call(*LEARN, "task.ais.temperatures=5", "seed=1").status == 0
    plan = call(*LEARN, *annealings, "--dry-run")
    assert re.search(r"They take about (\d+ ms|[0-9.]+ s) in one process on this machine\.", plan.out)

    models = ("target.model_seed=0,1", "seed=0,1")
    plan = call(*SAMPLE, *models, "--dry-run")
    assert f" {duration(2000)} in one process on this machine, the training of 2 models included." in plan.out


@pytest.mark.parametrize("experiment", ["pt_table2_sampling", "pt_table2_learning", "pt_table3"])
def test_the_time_of_models_that_are_not_trained_yet(experiment: str, call: Call) -> None:
    # Every row of the table, the reference draws among them, is tried on a model that is not trained.
    plan = call("-m", f"+experiment={experiment}", "scale=smoke", "seed=0", "task.chains=4", "--dry-run")
    assert (plan.status, "in one process on this machine, the training of" in plan.out) == (0, True)
    assert not list(Path("outputs/models").glob("*/model.safetensors"))


def test_fits_of_networks_are_told_to_be_left_out(call: Call) -> None:
    images = ("task=autoencode", "task.samples=130", "task.chains=20", "sampler=gibbs")
    assert "\nThis leaves out the fits of networks to images.\n" in call(*RBM, *images, "--dry-run").out
    parts = Left(3.0, untried=2, beside={"the fits"}).unknown(5)
    assert parts.endswith("before one is done. This leaves out the fits.")


def test_jobs_that_are_the_same_are_named(call: Call) -> None:
    plan = call("-m", "threads=1,2", "sampler=gibbs,random_walk", *SMALL, "--dry-run")
    assert plan.err == (
        "warning: 2 of 4 jobs have the same runs as others and are left out; `threads` is no part of a run's "
        "identity.\n"
    )
    plan = call("-m", "sampler=dmala", "sampler.step_size=1,1.0", *SMALL, "--dry-run")
    assert plan.err == "warning: 1 of 2 jobs has the same runs as another and is left out.\n"


def test_an_experiment_without_m_is_named_as_one_run(call: Call) -> None:
    said = (
        "warning: `+experiment=pt_table5` without -m is one run with the default target and sampler, and "
        "none of the experiment's; -m runs the table.\n"
    )
    assert call("+experiment=pt_table5", "scale=smoke", "--dry-run").err == said
    assert call("+experiment=pt_table5", "scale=smoke", "sampler=gibbs", "--dry-run").err == ""


def test_a_mistyped_key_of_a_launcher_is_told_the_nearest(call: Call) -> None:
    words = (
        "-m",
        "sampler=gibbs,dmala",
        *SMALL,
        "hydra/launcher=joblib",
        "hydra.launcher.n_jbs=2",
        "--dry-run",
    )
    assert call(*words).err.endswith("Key 'n_jbs' not in 'JobLibLauncherConf'; did you mean 'n_jobs'?\n")


def test_what_is_no_trial_is_refused(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    """Seconds alone, as a page said, ended in an AttributeError."""
    monkeypatch.setattr(Sample, "trial", lambda *_: 1.5)
    said = call("target=bernoulli4", "sampler=gibbs", "--dry-run")
    assert (said.status, "Traceback" in said.err) == (2, False)
    assert (
        "The trial of the task sample must give a runner.tasks.runs.Trial or None, 1.5 was given" in said.err
    )


def test_long_trials_show_how_far_they_are(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "FIRST_SECONDS", 0.0)
    assert "trying a few steps of gibbs: 0 of 2\n" in call(*SWEEP, "--dry-run").err


class Costly:
    """A trial in which a step on `mog` takes 100 times as long as on `bernoulli4`, by the replicas."""

    def __init__(self) -> None:
        self.tried: list[tuple[str, int]] = []

    def __call__(self, task: Sample, config: DictConfig, seeds: Sequence[int]) -> Trial:
        target, replicas = str(config.target.name), len(config.sampler.ladder)
        self.tried.append((target, replicas))
        seconds = 1e-3 * replicas * task.work(config) * (100.0 if target == "mog" else 1.0)
        return Trial(seconds, evaluations=float(replicas * task.work(config)))


LADDERS = "sampler.ladder=[1,0.5],[1,0.8,0.5,0.3]"


def estimated(call: Call, *lines: str) -> str:
    plan = call("-m", "sampler=pt_gibbs", *SMALL[1:], *lines, "--dry-run")
    (said,) = re.findall("They take about (.*) in one process", plan.out)
    return str(said)


def test_the_time_does_not_depend_on_the_order_of_the_jobs(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was that of the first target and the first ladder, by the work of each."""
    costly = Costly()
    monkeypatch.setattr(Sample, "trial", lambda task, config, seeds: costly(task, config, seeds))
    one = estimated(call, "target=bernoulli4,mog", LADDERS, "seed=0,1")
    assert sorted(costly.tried) == [("bernoulli4", 2), ("bernoulli4", 4), ("mog", 2), ("mog", 4)]
    # On both targets, 2 seeds of 600 steps of chains, with 2 and 4 replicas.
    assert one == f"14,400 evaluations of the target and {duration(2 * 600 * 6 * 0.101)}"
    turned = "sampler.ladder=[1,0.8,0.5,0.3],[1,0.5]"
    assert estimated(call, "target=mog,bernoulli4", turned, "seed=0,1") == one


def test_many_kinds_of_jobs_are_tried_for_a_while(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that are left are taken for the mean of the others, whatever the order."""
    costly = Costly()
    monkeypatch.setattr(Sample, "trial", lambda task, config, seeds: costly(task, config, seeds))
    monkeypatch.setattr(estimate, "SECONDS", -1.0)
    one = estimated(call, "target=bernoulli4,mog", LADDERS)
    assert len(costly.tried) == 1
    assert estimated(call, "target=mog,bernoulli4", LADDERS) == one
    assert costly.tried[0] == costly.tried[1]


def test_another_target_is_tried_though_runs_of_the_row_are_done(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A sweep from small to large was told to end at once."""
    tried: list[int] = []

    def trial(task: Sample, config: DictConfig, seeds: Sequence[int]) -> Trial:
        tried.append(config.target.d)
        return Trial(100.0)

    given = ("-m", "target=quadratic", "sampler=random_walk", "metric=jump", "task.steps=20", "task.chains=3")
    assert call(*given, "target.d=2").status == 0
    monkeypatch.setattr(Sample, "trial", trial)
    plan = call(*given, "target.d=2,40", "--dry-run")
    assert tried == [40]
    assert f" {duration(100)} in one process" in plan.out


def test_the_evaluations_are_those_of_the_runs(call: Call) -> None:
    plan = call("sampler=pt_gibbs", "sampler.ladder=[1,0.5,0]", *SMALL, "--dry-run")
    assert plan.out.startswith("1 run, 1 to do.\nIt takes about "), "a table of one line tells nothing"
    planned = float(re.findall(r"about ([\d,]+) evaluations", plan.out)[0].replace(",", ""))
    assert call("sampler=pt_gibbs", "sampler.ladder=[1,0.5,0]", *SMALL).status == 0
    (summary,) = Path("outputs").glob("runs/*/summary.json")
    assert planned == json.loads(summary.read_text())["evaluations"] * 3


@pytest.mark.parametrize(("slow", "taken"), [(-1e9, [(1, 4)]), (1e9, [(1, 4), (2, 120)])])
def test_slow_steps_are_tried_less_often(
    call: Call, monkeypatch: pytest.MonkeyPatch, slow: float, taken: list[tuple[int, int]]
) -> None:
    begun: list[Sampling] = []

    def spied(problem: Problem, seeds: Sequence[int]) -> Sampling:
        begun.append(begin(problem, seeds))
        return begun[-1]

    monkeypatch.setattr(sampled_runs, "begin", spied)
    monkeypatch.setattr(sampled_runs, "SLOW", slow)
    plan = call("sampler=gibbs", "-m", "seed=0,1", *SMALL, "--dry-run")
    assert [(len(run.seeds), run.step) for run in begun] == taken
    assert "They take about 2,400 evaluations" in plan.out


def test_what_a_run_pays_once_is_no_part_of_its_steps(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    record = Sampling.record

    def slowly(self: Sampling) -> None:
        time.sleep(0.5)
        record(self)

    monkeypatch.setattr(Sampling, "record", slowly)
    plan = call("sampler=gibbs", *SMALL, "--dry-run").out
    found = re.search(r"([0-9.]+) (m?s) in one process", plan)
    assert found is not None, plan
    assert float(found[1]) * (0.001 if found[2] == "ms" else 1.0) < 20  # 200 steps of 0.5 s would be 100 s


@pytest.mark.usefixtures("tiny")
def test_the_plan_of_an_experiment(call: Call, tmp_path: Path) -> None:
    where = f"hydra.searchpath=[file://{tmp_path}/conf]"
    plan = call("+experiment=tiny", where, "scale=smoke", "target=bernoulli4", "--dry-run", "-m")
    assert "\n8 runs, 8 to do.\n" in plan.out, plan
    assert not (tmp_path / "outputs").exists()


def test_a_plan_of_what_cannot_run_is_refused(call: Call) -> None:
    assert "task.burn_in must be less" in refused(
        call, "--dry-run sampler=gibbs task.steps=10 task.burn_in=10"
    )


def test_a_search_has_no_plan(call: Call) -> None:
    pytest.importorskip("optuna")
    assert "a search decides on its trials" in refused(
        call, "-m --dry-run hydra/sweeper=optuna sampler=dmala sampler.step_size=interval(1,2)"
    )


TABLE = """
table:
  title: T
  caption: C
  rows: [{row: Gibbs}]
  columns: [{label: bits, where: {target: bernoulli4}}]
  metrics: [{metric: tv, name: TV, direction: min}]
  comparisons: [{metric: tv, rows: [Gibbs, PT]}]
"""


@pytest.mark.parametrize("flags", [(), ("--dry-run",)])
def test_a_mistake_in_the_table_of_an_experiment_is_found_before_its_runs(
    call: Call, tiny: str, tmp_path: Path, flags: Sequence[str]
) -> None:
    path = tmp_path / "conf" / "experiment" / "tiny.yaml"
    plain = path.read_text()
    command = ("-m", "+experiment=tiny", tiny, "scale=smoke", *flags)
    path.write_text(plain + TABLE)
    assert (
        "table.comparisons[0].rows[1] names 'PT', which is not among table.rows. Allowed: Gibbs."
        in refused(call, *command)
    )
    path.write_text(plain + TABLE.replace("direction: min", "direction: best"))
    GlobalHydra.instance().clear()
    assert "table.metrics[0].direction must be min or max or none, 'best' was given" in refused(
        call, *command
    )
    assert not (tmp_path / "outputs").exists()


WHOLE = """
table:
  title: T
  caption: C
  rows: [{row: Gibbs}, {row: "DMALA, fixed"}, {row: PT}]
  columns: [{label: bits, where: {target: bernoulli4}}, {label: grid, where: {target: mog}}]
  metrics: [{metric: tv, name: TV, direction: min}]
  figures: [{name: figure, panels: [{kind: intervals, metric: tv, columns: [bits], title: bits}]}]
"""


@pytest.mark.parametrize(
    ("edit", "sentence"),
    [
        (("bits", "bits"), "row 'DMALA, fixed' has two runs of seed 0 in the column 'bits', which differ in"),
        ((", {label: grid, where: {target: mog}}", ""), "row 'Gibbs' with target=mog fits no column"),
        (
            ("{row: PT}", "{row: PT}, {row: Gibs}"),
            "table.rows[3].row is 'Gibs', which is not among sweep.rows",
        ),
        (
            ("label: grid, where: {target: mog}", "label: grid, where: {targte: mog}"),
            "it has no 'targte', for which table.columns[1].where asks; did you mean 'target'?",
        ),
        (
            ("title: T", "title: T\n  growths: [{metric: tv, x: task.step, symbol: n}]"),
            "table.growths[0].x must be a key with a number, 'task.step' was given, of which a job of row "
            "'Gibbs' has none; did you mean 'task.steps'?",
        ),
        (
            ("kind: intervals,", "kind: against_columns, x: target,"),
            "table.figures[0].panels[0].x must be a key with a number, 'target' was given, of which a job of",
        ),
        (("{row: Gibbs}, ", ""), "the sweep's row 'Gibbs' is not among table.rows."),
        (
            ("title: T", "title: T\n  reduced: {smok: less}"),
            "table.reduced of the experiment tiny has",
        ),
        (
            ("title: T", "title: T\n  published: {file: no.csv, versions: {}}"),
            "table.published.file is 'no.csv', conf/published holds: ",
        ),
    ],
)
def test_a_table_that_does_not_fit_its_jobs_is_refused_before_them(
    call: Call, tiny: str, tmp_path: Path, edit: tuple[str, str], sentence: str
) -> None:
    path = tmp_path / "conf" / "experiment" / "tiny.yaml"
    path.write_text(path.read_text() + WHOLE.replace(*edit))
    GlobalHydra.instance().clear()
    assert sentence in refused(call, "-m", "+experiment=tiny", tiny, "scale=smoke")
    assert not (tmp_path / "outputs").exists()


@pytest.mark.parametrize(
    ("edit", "sentence"),
    [
        (
            ("kind: intervals", "kind: interval"),
            "Unknown table.figures[0].panels[0].kind 'interval'; did you mean 'intervals'?",
        ),
        (
            ("metric: tv, columns", "columns"),
            "panels[0] (figure figure, panel 'bits' of kind intervals) needs metric.",
        ),
    ],
)
@pytest.mark.parametrize("flags", [(), ("--dry-run",)])
def test_a_panel_that_cannot_be_drawn_is_refused_before_any_work(
    call: Call, tiny: str, tmp_path: Path, edit: tuple[str, str], sentence: str, flags: tuple[str, ...]
) -> None:
    path = tmp_path / "conf" / "experiment" / "tiny.yaml"
    path.write_text(path.read_text() + WHOLE.replace(*edit))
    GlobalHydra.instance().clear()
    chosen = ("sampler=gibbs", "target=bernoulli4", "scale=smoke", *flags)
    assert sentence in refused(call, "-m", "+experiment=tiny", tiny, *chosen)
    assert not (tmp_path / "outputs" / "runs").exists()


def test_the_jobs_of_two_scales_have_the_same_places(call: Call, tiny: str, tmp_path: Path) -> None:
    path = tmp_path / "conf" / "experiment" / "tiny.yaml"
    path.write_text(path.read_text() + WHOLE)
    GlobalHydra.instance().clear()
    chosen = ("sampler=gibbs", "target=bernoulli4", "scale=smoke,quick", "task.steps=20,30")
    plan = call("-m", "+experiment=tiny", tiny, *chosen[:3], "--dry-run")
    assert plan.status == 0, plan
    assert "which differ in task.steps (20, 30)" in refused(call, "-m", "+experiment=tiny", tiny, *chosen)
