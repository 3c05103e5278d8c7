"""What a command line can say: it is done, or refused in one sentence with status 2, never in a traceback."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any

import pytest

from runner.config.overrides import Names
from runner.execution.command_line import UNFORESEEN
from tests.robustness.fuzz import COMMANDS, Fuzz, judged
from tests.robustness.override_values import BROKEN, CLASSES, PLAIN, REFERENCES, SWEEPS
from tests.support.commands import Call, refused

SMALL = "target=bernoulli4 sampler=gibbs metric=tv task.steps=3 task.chains=2"
DEEP = "[" * 3000 + "]" * 3000
TEXT = "; where ${ is meant as text, write \\${ (in a shell, inside single quotes)."

# Each of them once ended in a traceback, ran as if nothing had been said, or took the machine with it.
NAMED = [
    ("checkpoint=null", "checkpoint must be a group of keys, None was given."),
    ("sweep=null", "sweep must be a group of keys, None was given."),
    ("sweep.retries=${nope}", "Interpolation key 'nope' not found"),
    ("sweep.retries=-1", "sweep.retries must be a whole number of at least 0, -1 was given."),
    ("sweep.fail_fast=maybe", "sweep.fail_fast must be true or false, 'maybe' was given."),
    ("sweep.gpus=3", "sweep.gpus must be auto, null or a list of ids, such as [0,1], 3 was given."),
    (
        "sweep.seeds_per_job=0",
        "sweep.seeds_per_job must be a whole number of at least 1, or null, 0 was given.",
    ),
    ("task.burn_in=${nope}", f"task.burn_in cannot be resolved: Interpolation key 'nope' not found{TEXT}"),
    ("task.burn_in=${nope.steps}", f"Interpolation key 'nope.steps' not found{TEXT}"),
    (
        "-m +experiment=edlp_figure5 scale=smoke target.tabular=adult",
        "target.n_hidden cannot be resolved: Interpolation key 'edlp.n_hidden.adult' not found; "
        "edlp.n_hidden has breast_cancer, compas.\n",
    ),
    ("seed=${seed}", f"seed cannot be resolved: Recursive interpolation detected{TEXT}"),
    ("output_root='out${x}'", f"output_root cannot be resolved: Interpolation key 'x' not found{TEXT}"),
    ("data.root='d${'", f"data.root cannot be resolved: no viable alternative at input '${{'{TEXT}"),
    ("metric=[]", "metric must be one name or a list of some, [] was given."),
    ("output_root=null", "output_root must be text on one line, None was given."),
    ("data=0.0", "data must be a group of keys, 0.0 was given."),
    ("target=stmh_two_modes sampler=stmh sampler.pilot=1e5", "sampler.pilot must be null or a group of keys"),
    (f"target.name={DEEP}", "nested too deeply."),
    (
        f"sampler=pt_gibbs sampler.ladder={'[' * 40}1{']' * 40}",
        "sampler must not have more than 30 levels",
    ),
    (
        "target=resnet_ebm target._target_=Mine +target.x=1 task=learn",
        "task=learn needs a target that can be",
    ),
    ("seed=???", "seed cannot be resolved: Missing mandatory value: seed."),
    ("scale.name=../up", "scale.name must be a plain name of letters, digits and . _ + -, since a folder is"),
    ("scale.seeds=many", "scale.seeds must be a whole number from 1 to 10,000, 'many' was given."),
    ("task.name=[1]", "task.name must be text on one line, [1] was given."),
    (
        "metric=standard metric._optional_=0.5",
        "metric._optional_ must be null or a list of names, 0.5",
    ),
    ("threads=100000", "threads must be a whole number from 1 to 1024, 100000 was given."),
    (
        "seed=9223372036854775808",
        "seed must be at most 10,000 numbers, each below 2^63; 1 up to 922337203",
    ),
    ("-m seed=range(0,1000000000)", "'seed=range(0,1000000000)' must be a range of at most 100,000 values."),
    ("-m seed=range(0,5,0)", "must be a range of at most 100,000 values."),
    ("-m task.steps=range(1,99999) task.chains=range(1,99999)", "at most 100,000 jobs, 9,999,600,004 were"),
    (
        "-m +experiment=pt_table5 task.steps=range(1,2001) task.chains=range(1,2001)",
        "A sweep must have at most 100,000 jobs, ",
    ),
    ("-m output_root=a,b", "output_root must be one folder for all jobs, 'output_root=a,b' was given."),
    (
        "-m +experiment=pt_table1 ~scale.temperatures",
        "Keys cannot be removed, '~scale.temperatures'",
    ),
    (f"target={'a' * 9000}", "aaaa ... aaaa"),
    (f"{'a' * 9000}=3", "Unknown key 'aaaa"),
    (f"dtype=[{','.join('1' * 900)}]", " ... , 1, 1, 1, 1"),
    (
        "target=rbm target.dataset=digits target.training.sampler=1.5",
        "target.training.sampler must be a",
    ),
]


@pytest.mark.parametrize(("given", "sentence"), NAMED, ids=[given[:60] for given, _ in NAMED])
def test_a_slip_is_refused_in_one_sentence(call: Call, given: str, sentence: str) -> None:
    groups = {line.split("=")[0] for line in given.split()}
    plain = [] if groups & {"+experiment", "task"} else SMALL.split()
    said = refused(call, given, *(line for line in plain if line.split("=")[0] not in groups))
    assert sentence in said
    assert len(said) < 1000
    assert UNFORESEEN not in said


OF_SWEEPS = [
    *("hydra/launcher=joblib", "hydra/launcher=slurm", "hydra/sweeper=optuna"),
    *("hydra.launcher.n_jobs=2", "+hydra.launcher.n_jobs=2", "hydra.sweeper.n_trials=3", "hydra.sweep.dir=x"),
]


@pytest.mark.parametrize("given", OF_SWEEPS)
def test_what_hydra_uses_in_sweeps_alone_needs_m(
    call: Call, given: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Names, "check_hydra", lambda names, override: None)  # as where the extra is installed
    said = "error: {} needs -m, since a command without it runs in this process.\n"
    assert refused(call, *SMALL.split(), given) == said.format(given)
    assert call(*SMALL.split(), "hydra/launcher=basic", "--dry-run").status == 0


YAMLS = [
    ("name: [1, 2\nfoo: {", "is no YAML: line 2: while parsing a flow sequence expected ',' or ']'"),
    ("name: x\n_target_: !!python/object/apply:os.mkdir [made]\n", "line 2: a configuration has no tags"),
    ("name: !mine x\n", "a configuration has no tags, '!mine' was given."),
    ("name: a\nname: b\n", "is no YAML: line 2: while constructing a mapping found duplicate key name."),
    (f"name: {DEEP}", "must not have more than 30 levels of nested groups or lists."),
    ("defaults: 3\nname: a", "Invalid defaults list in 'target/mine', defaults must be a list (got int)."),
    ("- 1\n- 2\n", "target must be a group of keys, [1, 2] was given."),
    (
        "a: &a [x,x,x,x]\n" + "".join(f"{n}: &{n} [{f'*{p},' * 40}]\n" for p, n in ("ab", "bc", "cd")),
        "100,000",
    ),
    ("name: " + "x" * 2**20, "a configuration has at most 1,048,576."),
    ("name: a\nb: *nowhere\n", "is no YAML: line 2: found undefined alias 'nowhere'."),
    (b"name: \xff\xfe", "is no YAML: 'utf-8' codec can't decode byte 0xff"),
]


@pytest.mark.parametrize(("text", "sentence"), YAMLS, ids=[sentence[:40] for _, sentence in YAMLS])
def test_a_yaml_on_the_search_path_is_refused(
    call: Call, tmp_path: Path, text: str | bytes, sentence: str
) -> None:
    own = tmp_path / "conf" / "target" / "mine.yaml"
    own.parent.mkdir(parents=True)
    own.write_bytes(text.encode() if isinstance(text, str) else text)
    assert sentence in refused(call, "target=mine sampler=gibbs --config-dir conf")
    assert not (tmp_path / "made").exists()


SWEEP_BLOCKS = [
    (
        "{grid: 3, rows: [{row: a}]}",
        "sweep.grid of the experiment mine must be a group of keys, 3 was",
    ),
    ("{rows: [1]}", "sweep.rows.0 of the experiment mine must be a group of keys, 1 was given."),
    ("{rows: [{sampler: gibbs}]}", "sweep.rows.0 of the experiment mine needs a key row, its label."),
    (
        "{rows: [{row: ' ', sampler: gibbs}]}",
        "sweep.rows.0 of the experiment mine needs a key row, its label.",
    ),
    ("{rows: [{row: a}], seeds: 3}", "sweep.seeds of the experiment mine must be a group of keys"),
    ("{rows: [{row: a}], seeds: {smoke: 99999999}}", "must be a whole number from 1 to 10,000, 99999999 was"),
    ("{rows: [{row: a}], overrides: [1]}", "sweep.overrides of the experiment mine must be a group of keys"),
]


@pytest.mark.parametrize(("block", "sentence"), SWEEP_BLOCKS, ids=[block for block, _ in SWEEP_BLOCKS])
def test_the_sweep_of_an_own_experiment_is_refused(
    call: Call, tmp_path: Path, block: str, sentence: str
) -> None:
    own = tmp_path / "conf" / "experiment" / "mine.yaml"
    own.parent.mkdir(parents=True)
    own.write_text(f"# @package _global_\nexperiment: mine\nsweep: {block}\n")
    assert sentence in refused(call, "--config-dir conf -m +experiment=mine scale=smoke")


def test_an_error_that_nobody_foresaw_is_one_sentence_too(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    def breaks(*given: Any) -> None:
        raise KeyError("of ours")

    monkeypatch.setattr("runner.sweep.preflight.preflight", breaks)
    assert f"{UNFORESEEN} (KeyError: 'of ours'); HYDRA_FULL_ERROR=1 shows where." in refused(call, SMALL)
    assert judged([], 2, f"error: {UNFORESEEN}", at_work=False).outcome == "traceback"


def test_what_the_fuzz_calls_a_traceback() -> None:
    said = "error: seed must be whole.\n"
    assert judged([], 2, said, at_work=False).outcome == "clean"
    for status, text in ((2, ""), (2, said * 2), (2, "no sentence"), (-11, ""), (70, ""), (None, "")):
        assert judged([], status, text, at_work=False).outcome == "traceback"
    assert judged([], None, "", at_work=True).outcome == "clean"
    assert judged([], 1, 'failed: x\n    File "here", line 3', at_work=True).outcome == "traceback"


@pytest.mark.slow
def test_no_override_of_any_key_ends_in_a_traceback(tmp_path: Path) -> None:
    """300 commands, each a plain one with an override of any key by any value."""
    from hypothesis import HealthCheck, given, settings
    from hypothesis import strategies as st

    with contextlib.chdir(tmp_path):
        fuzz = Fuzz(tmp_path)
    characters = st.characters(exclude_categories=("Cs",), exclude_characters="\0")
    scalars = st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(), st.text(characters, max_size=20)
    ).map(json.dumps)
    nested = st.recursive(
        scalars,
        lambda inner: st.one_of(
            st.lists(inner, max_size=4).map(lambda items: f"[{','.join(items)}]"),
            st.dictionaries(st.sampled_from("abc"), inner, max_size=3).map(
                lambda group: f"{{{','.join(f'{key}:{item}' for key, item in group.items())}}}"
            ),
        ),
        max_leaves=6,
    )
    known = st.sampled_from([*PLAIN, *REFERENCES, *SWEEPS, *BROKEN, *CLASSES])
    values = st.one_of(known, nested, st.text(characters, max_size=30))

    @settings(max_examples=300, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(st.data())
    def clean(data: st.DataObject) -> None:
        plain = data.draw(st.sampled_from(COMMANDS))
        sign = data.draw(st.sampled_from(("", "", "", "+", "++")))
        line = f"{sign}{data.draw(st.sampled_from(fuzz.keys[plain]))}={data.draw(values)}"
        trial = fuzz.trial([*plain, line])
        assert trial.outcome == "clean", trial.said

    clean()
