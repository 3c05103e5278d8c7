"""``output_root=DIR`` is read alike by every command, and paths with special signs come through."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from runner import table, verify, wandb_sweep
from runner.config.compose import compose, parsed_override
from runner.config.output_root import only_output_root, output_root, output_root_word
from runner.execution.command_line import with_config_dir
from runner.execution.errors import UserError
from runner.execution.override_values import quoted
from runner.library.selected_runs import load_runs
from runner.site.content.experiment_places import Place
from runner.site.report_command import main as report
from runner.store.run_store import Store
from runner.sweep.jobs import experiment_jobs, jobs_of, requested
from runner.verdicts.__main__ import main as verdicts
from tests.support.commands import Call, refused

SPECIAL = ["a b", "ausgäbe", "a,b", "a(b", "a=b", "[a", "it's", 'say "x"', "end\\", "null", "1", "~", "#"]
REFERENCES = ["out${x}", r"a\${x}", r"a\\${x}/b", "a${", "${output_root}"]


@pytest.mark.parametrize("text", ["outputs", "/tmp/a-b_c.d", "../x:y", *SPECIAL, *REFERENCES])
def test_a_quoted_text_is_read_back(text: str) -> None:
    assert parsed_override(f"output_root={quoted(text)}").value() == text
    assert output_root([output_root_word(text)]) == Path(text)
    assert compose(["target=bernoulli4", output_root_word(text)]).output_root == text


def test_a_reference_is_read_as_by_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCRATCH", "/tmp/mine")
    assert output_root(["output_root='${oc.env:SCRATCH}/out'"]) == Path("/tmp/mine/out")


@pytest.mark.parametrize("value", ["out${x}", "'out${x}'", "'out${'", "${target.name}", "'${a b}'"])
def test_a_reference_that_leads_nowhere_is_refused(value: str) -> None:
    with pytest.raises(UserError, match=r"^output_root cannot be resolved: .*; where \$\{ is meant "):
        output_root([f"output_root={value}"])


def test_a_link_to_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    (link := tmp_path / "outputs").symlink_to(tmp_path / "gone")
    with pytest.raises(UserError, match=r"outputs' was given \(a link to a folder that is not there\)\."):
        Store(link).require_writable()


def test_plain_texts_stand_without_quotes() -> None:
    assert [quoted(text) for text in ("outputs", "/tmp/a-b_c.d", "a b")] == [
        "outputs",
        "/tmp/a-b_c.d",
        '"a b"',
    ]


def test_the_last_output_root_holds() -> None:
    assert output_root([]) == output_root(["target=mog"]) == Path("outputs")
    assert output_root(["output_root=a", "target=mog", "output_root='b c'"]) == Path("b c")
    assert output_root(["output_root=a", "++output_root='b c'"]) == Path("b c")
    assert only_output_root(["++output_root=a"], "The report is made of") == Path("a")


@pytest.mark.parametrize("value", ["1", "a,b", "[a]", "null"])
def test_what_is_no_text_is_refused(value: str) -> None:
    with pytest.raises(UserError, match="output_root must be one folder, in quotes if it looks like another"):
        only_output_root([f"output_root={value}"], "The report is made of")


def test_all_commands_read_a_folder_in_quotes(
    call: Call, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The words with which the run was computed are those with which it is found."""
    root = tmp_path / "ausgäbe (1, 2) ${x}"
    word = f"output_root='{tmp_path}/ausgäbe (1, 2) \\${{x}}'"
    monkeypatch.chdir(tmp_path)
    assert (
        call("target=bernoulli4", "sampler=gibbs", "metric=tv", "scale=smoke", "task.steps=5", word).status
        == 0
    )
    assert len(load_runs(word)) == len(load_runs(output_root=root)) == len(load_runs(f"++{word}")) == 1
    assert verify.main([word]) == 0
    assert table.main(["runs", word]) == 0
    assert (root / "tables" / "runs").is_dir()
    assert report([word]) == 0
    assert (root / "report" / "index.html").is_file()
    (root / "record").mkdir()
    verdicts([word])
    assert (root / "record" / "verdicts").is_dir()


def test_a_table_of_results_that_are_not_there_is_refused_and_makes_no_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An empty table was written into a new folder; `verify` and the report say the same of such a folder."""
    root = tmp_path / "typo"
    said = f"error: output_root must be a folder with results, '{root}' was given, which is not there.\n"
    for main in (lambda words: table.main(["pt_table5", "scale=smoke", *words]), verify.main, report):
        assert main([f"output_root={root}"]) == 2
        assert capsys.readouterr().err == said
    assert not root.exists()


TIMED = "'out/${now:%H%M%S%f}'"
SEVERAL = [
    (
        TIMED,
        "must not have the time in it, since the command would not find its results when it is repeated, ",
    ),
    (
        "'out/${sampler.name}'",
        "must be one folder for all jobs, 'out/${sampler.name}' was given, which is 'out/",
    ),
    (
        "'out/${seed}'",
        "must be one folder for all jobs, 'out/${seed}' was given, which is 'out/0' and 'out/1'.",
    ),
]


@pytest.mark.parametrize(("root", "sentence"), SEVERAL, ids=[root for root, _ in SEVERAL])
def test_jobs_have_one_folder(root: str, sentence: str) -> None:
    lines = ["target=bernoulli4", "sampler=gibbs,dula", "scale=smoke", "metric=[tv]", "seed=0,1"]
    with pytest.raises(UserError, match=re.escape(f"output_root {sentence}")):
        jobs_of(requested([*lines, f"output_root={root}"], multirun=True))


def test_a_single_run_has_no_time_in_its_folder(call: Call) -> None:
    assert "the time in it" in refused(call, "target=bernoulli4 sampler=gibbs", f"output_root={TIMED}")
    ended = call("target=bernoulli4", "sampler=gibbs", "output_root='out/${sampler.name}'", "--dry-run")
    assert ended.status == 0, ended.err


@pytest.mark.parametrize(
    ("root", "why"), [(TIMED, "the time in it"), ("'out/${sampler.name}'", "refers to another key.")]
)
def test_the_trials_of_a_search_have_one_folder(
    call: Call, root: str, why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = ["target=bernoulli4", "sampler=gibbs,dula", "scale=smoke", "metric=[tv]", f"output_root={root}"]
    assert wandb_sweep.main(lines) == 2
    assert why in capsys.readouterr().err
    pytest.importorskip("optuna", reason="the extra optuna is not installed")
    assert why in refused(call, "-m", "hydra/sweeper=optuna", *lines)


def test_all_commands_refuse_a_folder_that_needs_quotes(capsys: pytest.CaptureFixture[str]) -> None:
    for main, words in ((verify.main, []), (table.main, ["runs"]), (report, []), (verdicts, [])):
        assert main([*words, "output_root=ausgäbe"]) == 2
        assert "Cannot read the override 'output_root=ausgäbe': after =" in capsys.readouterr().err


def test_the_report_plans_an_experiment_below_such_a_folder(tmp_path: Path) -> None:
    place = Place("pt_table1", "smoke", tmp_path, tmp_path)
    jobs = experiment_jobs("pt_table1", place.overrides([], Path("a (b)")))
    assert {job.config.output_root for job in jobs} == {"a (b)"}


@pytest.mark.parametrize("name", SPECIAL[:8])
def test_the_folder_of_config_dir_may_have_any_name(name: str, tmp_path: Path) -> None:
    (mine := tmp_path / name / "conf").mkdir(parents=True)
    (word,) = with_config_dir(["hydra.searchpath=[pkg://conf]"], str(mine))
    assert parsed_override(word).value() == ["pkg://conf", f"file://{mine}"]


def test_a_scale_below_such_a_folder_is_found(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home := tmp_path / "jürgen (a, b)" / "mine" / "scale").mkdir(parents=True)
    (home / "tiny.yaml").write_text("{name: tiny, steps: 10, chains: 2, seeds: 1}")
    monkeypatch.chdir(home.parent.parent)
    ended = call("--config-dir", "mine", "target=bernoulli4", "sampler=gibbs", "metric=tv", "scale=tiny")
    assert ended.status == 0, ended.err
