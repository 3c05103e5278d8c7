"""Records that are missing, of another schema, or edited: a sentence each, and the other rows stand."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pandas as pd
import pytest

from runner.files.atomic_files import write_json
from runner.report.recorded.seed_values import read_seed_values
from runner.store.folder_digests import DIGESTS
from runner.verdicts import records
from runner.verdicts.__main__ import main
from runner.verdicts.records import read_records

RECORD = Path(__file__).parents[3] / "outputs" / "record"
HELD = ["pt_table1", "pt_table2_sampling", "edlp_figure11"]


def verdicts(root: Path) -> pd.DataFrame:
    return pd.read_csv(root / "record" / "verdicts" / "verdicts.csv", keep_default_na=False)


def test_a_missing_record_is_named_and_the_others_stand(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([f"output_root={root}"]) == 0
    said = capsys.readouterr().err
    (sentence,) = [line for line in said.splitlines() if "There is no record of" in line]
    named = sentence.partition("There is no record of ")[2].partition(": ")[0].split(", ")
    assert {"pt_table4", "edlp_table2"} <= set(named)
    assert "pt_table1" not in named
    missing = (made := verdicts(root))["verdict"] == "not measured"
    assert missing[made["table"] == "Table 4"].all()
    assert not missing[made["table"] == "Figure 11"].any()
    assert sentence.removeprefix("warning: ") in (root / "record" / "verdicts" / "verdicts.md").read_text()


def test_a_folder_without_any_of_the_records_is_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "record" / "own_smoke").mkdir(parents=True)
    assert main([f"output_root={tmp_path}"]) == 0
    assert capsys.readouterr().err.splitlines() == [
        "warning: There is no record of any published table: what it would hold counts as not measured."
    ]


@pytest.mark.parametrize(
    ("numbers", "lost", "absent"),
    [
        ({"n": 5, "runs": 5, "runs_expected": 5}, 0, 0),
        ({"n": 3, "runs": 5, "runs_expected": 5}, 2, 0),
        ({"n": 3, "runs": 3, "runs_expected": 5}, 0, 2),
        ({"n": 3, "runs": 3, "runs_expected": 5, "without_value": 2}, 2, 0),
        ({"n": 2, "runs": 3, "runs_expected": 5, "without_value": 2}, 2, 1),
    ],
)
def test_runs_that_failed_or_are_not_there_are_counted(
    root: Path, numbers: dict[str, int], lost: int, absent: int
) -> None:
    folder = root / "record" / "edlp_figure11_paper"
    (folder / DIGESTS).unlink()
    frame = pd.read_csv(folder / "table.csv")
    frame = frame[frame["mean"].notna()].drop(columns="without_value", errors="ignore").assign(**numbers)
    frame.to_csv(folder / "table.csv", index=False)
    (record,) = read_records(root / "record", HELD).of("edlp_figure11")
    assert {(one.lost, one.absent) for one in record.numbers.values()} == {(lost, absent)}


@pytest.mark.parametrize(
    ("name", "place", "verdict", "why"),
    [
        ("edlp_figure11_paper", ("DULA", "as published", "hessian_std"), "undecided", "{0} of {0} runs have"),
        ("pt_table1_paper", ("DMALA", "MoG, c = 8", "mmd_exact"), "not comparable", "target, statistic"),
    ],
)
def test_a_number_whose_runs_all_ended_without_a_value_is_undecided(
    root: Path, name: str, place: tuple[str, str, str], verdict: str, why: str
) -> None:
    """It was not measured, or that of `quick` was taken."""
    main([f"output_root={root}"])
    before, folder = verdicts(root), root / "record" / name
    (folder / DIGESTS).unlink()
    frame = pd.read_csv(folder / "table.csv", dtype={"n": int, "runs": int})
    own = (frame[["row", "cell", "metric"]] == list(place)).all(axis=1)
    runs = int(frame.loc[own, "runs"].item())
    frame.loc[own, ["mean", "lo", "hi", "sd"]] = None
    frame.loc[own, "n"] = 0
    frame.assign(without_value=frame["runs"] - frame["n"]).to_csv(folder / "table.csv", index=False)
    main([f"output_root={root}"])
    after = verdicts(root)
    own = (before != after).drop(columns="other_statistics").any(axis=1)  # others name its numbers, too
    (changed,) = after[own].to_dict("records")
    assert (changed["verdict"], changed["scale"], changed["n"], changed["ours"]) == (verdict, "paper", 0, "")
    assert changed["reason"].startswith(why.format(runs))
    assert f"| - | - | **{verdict}** |" in (root / "record" / "verdicts" / "verdicts.md").read_text()


def test_a_record_edited_by_hand_is_left_out(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main([f"output_root={root}"])
    before = verdicts(root)
    table = root / "record" / "edlp_figure11_paper" / "table.csv"
    table.write_text(table.read_text().replace("2.62", "2.83"))
    assert main([f"output_root={root}"]) == 1
    assert "edlp_figure11_paper is left out: table.csv is not as it was recorded" in capsys.readouterr().err
    after, own = verdicts(root), before["table"] == "Figure 11"
    assert set(after[own]["verdict"]) == {"not measured"}
    pd.testing.assert_frame_equal(before[~own], after[~own])


def test_the_next_scale_stands_in_for_a_record_that_is_left_out(root: Path) -> None:
    manifest = root / "record" / "pt_table1_paper" / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"steps": 10000', '"steps": 99999'))
    records = read_records(root / "record", HELD)
    assert [record.scale for record in records.of("pt_table1")] == ["quick"]
    assert len(records.refused) == 1
    assert "pt_table1_paper is left out: manifest.json" in records.refused[0]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("table.csv", "no,table\n1\n", "table.csv is of another schema, without row, role, cell"),
        ("table.csv", "", "No columns to parse"),
        ("table.csv", None, "No such file"),
        ("table.md", None, "No such file"),
        ("manifest.json", "{}", "its manifest.json is of another table or schema"),
        ("manifest.json", "[1", "manifest.json is not there or not as it was recorded"),
        ("manifest.json", None, "manifest.json is not there or not as it was recorded"),
    ],
)
def test_a_record_of_another_schema_is_one_sentence(
    root: Path, name: str, text: str | None, said: str
) -> None:
    folder = root / "record" / "edlp_figure11_paper"
    (folder / DIGESTS).unlink()
    if text is None:
        (folder / name).unlink()
    else:
        (folder / name).write_text(text)
    records = read_records(root / "record", HELD)
    assert len(records.refused) == 1
    assert said in records.refused[0]
    assert not records.of("edlp_figure11")
    assert len(records.of("pt_table1")) == 2


def test_a_number_that_is_none_is_one_sentence(root: Path) -> None:
    folder = root / "record" / "edlp_figure11_paper"
    (folder / DIGESTS).unlink()
    frame = pd.read_csv(folder / "table.csv")
    frame["mean"] = None
    frame.to_csv(folder / "table.csv", index=False)
    refused = read_records(root / "record", HELD).refused
    assert len(refused) == 1
    assert "the mean of DULA, as published, hessian_std is not there" in refused[0]


def test_a_record_without_digests_stands_and_says_so(root: Path) -> None:
    (root / "record" / "edlp_figure11_paper" / DIGESTS).unlink()
    records = read_records(root / "record", HELD)
    assert records.refused == ()
    assert records.missing == (
        f"edlp_figure11_paper has no {DIGESTS}: nobody can tell whether it was edited.",
    )


def test_a_part_fills_what_the_record_beside_it_lacks(root: Path) -> None:
    whole, part = root / "record" / "pt_table1_paper", root / "record" / "pt_table1_paper-dmala"
    shutil.copytree(whole, part)
    for folder in (whole, part):
        frame = pd.read_csv(folder / "table.csv")
        frame = frame if folder == part else frame[frame["row"] != "DMALA"]
        frame["mean"] += float(folder == part)
        frame.to_csv(folder / "table.csv", index=False)
        (folder / DIGESTS).unlink()
    content = json.loads((part / "manifest.json").read_text())
    write_json(part / "manifest.json", content | {"scale": "paper-dmala"})
    before = pd.read_csv(RECORD / "pt_table1_paper" / "table.csv")
    record = read_records(root / "record", HELD).of("pt_table1")[0]
    assert record.scale == "paper"
    for line in before[before["n"] > 0].to_dict("records"):
        found = record.numbers[line["row"], line["cell"], line["metric"]].interval.mean
        assert found == line["mean"] + (line["row"] == "DMALA")
    folders = {row: one.folder for (row, _, _), one in record.numbers.items()}
    assert folders.pop("DMALA") == part.name
    assert set(folders.values()) == {whole.name}


def test_of_two_parts_with_a_number_that_of_more_runs_is_taken() -> None:
    """The rows of Adult were measured on two machines, one of them with fewer seeds."""
    (found,) = [
        record
        for record in read_records(RECORD, ["edlp_table3"]).found
        if record.scale == "paper" and not record.changed
    ]
    rows = found.rows("Adult", "train_minus_mse_all_steps")
    sizes = {row: one.interval.n for row, one in rows.items() if one.interval is not None}
    assert (sizes["DULA"], sizes["DMALA"]) == (10, 24)
    assert rows["DULA"].folder == rows["EDULA"].folder


def test_a_part_under_another_name_than_its_own_is_refused(root: Path) -> None:
    shutil.copytree(root / "record" / "pt_table1_paper", root / "record" / "pt_table1_paper-dmala")
    records = read_records(root / "record", HELD)
    (refused,) = records.refused
    assert "pt_table1_paper-dmala is left out: its manifest.json is of another table" in refused
    assert len(records.of("pt_table1")) == 2


def test_another_experiments_record_in_its_place_is_refused(root: Path) -> None:
    folder = root / "record" / "pt_table1_quick"
    content = json.loads((folder / "manifest.json").read_text())
    shutil.rmtree(folder)
    shutil.copytree(root / "record" / "edlp_figure11_paper", folder)
    (refused,) = read_records(root / "record", HELD).refused
    assert "pt_table1_quick is left out: its manifest.json is of another table" in refused
    (folder / DIGESTS).unlink()
    write_json(folder / "manifest.json", content | {"scale": "smoke"})
    assert "of another table" in read_records(root / "record", HELD).refused[0]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["output_root=/nowhere"], "'/nowhere/record', which is no folder"),
        (["outputroot=x"], "'outputroot=x' was given; did you mean 'output_root'?"),
        (["output_root="], "output_root=DIR alone, 'output_root=' was given"),
        (["--fast"], "Unrecognized arguments: --fast"),
    ],
)
def test_a_mistake_in_the_command_is_one_sentence(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    shown = capsys.readouterr().err
    assert said in shown
    assert len(shown.strip().splitlines()) == 1


def test_the_table_says_which_columns_are_void(root: Path) -> None:
    (record,) = read_records(root / "record", ["pt_table2_sampling"]).of("pt_table2_sampling")
    assert record.void == {"Caltech"}
    assert {one.command for one in record.numbers.values()} == {
        "make pt-table2-sampling SCALE=paper ARGS=compile=true"
    }


@pytest.mark.parametrize(
    "page", ["|  | eps = 0.1 | eps = 0.15ᵃᵇ |", "|  | KL |\n| eps = 0.1 | 3ᵇ |\n| eps = 0.15ᵃᵇ | 2 |"]
)
def test_a_void_column_is_not_another_one_whose_name_its_own_begins_with(page: str) -> None:
    page += "\n\n- ᵃ Another note.\n- ᵇ Two samples differ: its floor and its ranking are void."
    assert records._void(page, ["eps = 0.1", "eps = 0.15"]) == {"eps = 0.15"}


def test_labels_that_are_numbers_are_text(tmp_path: Path) -> None:
    (tmp_path / "seeds.csv").write_text("row,cell,metric,0,1\n8,0.5,kl,1.0,\n16,10,kl,2.0,3.0\n")
    found = read_seed_values(tmp_path / "seeds.csv")
    assert found == {("8", "0.5", "kl"): {0: 1.0}, ("16", "10", "kl"): {0: 2.0, 1: 3.0}}
