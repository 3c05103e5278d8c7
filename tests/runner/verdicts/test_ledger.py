"""The ledger of the recorded tables: whole, as it is committed, and explained in full."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from dataclasses import replace
from itertools import chain
from pathlib import Path

import pandas as pd
import pytest

from metrics.inference.few_seeds import Interval
from runner.execution.errors import UserError
from runner.report.figure_shape import Role
from runner.report.numerals import Numeral
from runner.report.published import Published
from runner.report.table_shape import Direction, MetricShape
from runner.verdicts import cells
from runner.verdicts.cells import Block, Counterpart, counterparts, published_blocks, published_shapes
from runner.verdicts.files import write_ledger
from runner.verdicts.floors import at_floor, invalid_floor
from runner.verdicts.ledger import Ledger, ledger
from runner.verdicts.protocols import read_protocols
from runner.verdicts.records import Measured, Record
from runner.verdicts.rule import Verdict

ROOT = Path(__file__).parents[3]
ROWS = ("DMALA", "ACS", "PT-DMALA, released")
SETTINGS = (ROOT / "docs" / "papers" / "settings.md").read_text()


@pytest.fixture(scope="module")
def made() -> Ledger:
    return ledger(ROOT / "outputs" / "record")


def test_every_published_number_has_one_line(made: Ledger) -> None:
    assert len(made.lines) == 450
    assert len({(line.block, line.row) for line in made.lines}) == 450
    assert made.refused == ()
    for line in made.lines:
        assert (line.verdict is Verdict.not_measured) == (line.ours is None)
        assert line.settings
        assert line.reason


def test_a_reason_that_a_run_has_shown_stands_beside_what_differs_and_names_a_record(made: Ledger) -> None:
    explained = [line for line in made.lines if line.shown]
    assert {line.verdict for line in explained} == {Verdict.differs}
    for line in explained:
        assert line.source is not None
        named = re.search(r"\((?:(?:row )?([\w ]+) of the same record|([\w-]+))\)$", line.shown)
        assert named is not None
        if named[2]:
            assert (ROOT / "outputs" / "record" / named[2] / "reading.md").exists()
        else:
            assert any(named[1] in (row, metric) for row, _, metric in line.source.record.numbers)


def test_what_matters_is_the_range_of_the_published_column(made: Ledger) -> None:
    for block in {line.block for line in made.lines}:
        printed = [line.published.mean * line.published.scale for line in made.lines if line.block == block]
        for line in made.lines:
            if line.block == block:
                assert line.matters == pytest.approx(max(printed) - min(printed))


def test_the_committed_ledger_is_that_of_the_committed_records(made: Ledger, tmp_path: Path) -> None:
    """A record that is added or measured anew needs `make verdicts`."""
    for path in write_ledger(made, tmp_path):
        assert path.read_text() == (ROOT / "outputs" / "record" / "verdicts" / path.name).read_text()


def test_the_csv_and_the_summary_count_alike(made: Ledger, tmp_path: Path) -> None:
    write_ledger(made, tmp_path)
    numbers, counts = (pd.read_csv(tmp_path / f"{name}.csv") for name in ("verdicts", "summary"))
    total = counts[counts["paper"] == "all"].iloc[0]
    assert total["numbers"] == 450
    assert {one.value: total[one.value] for one in Verdict} == {
        one.value: (numbers["verdict"] == one.value).sum() for one in Verdict
    }
    measured = numbers[numbers["n"] > 0]
    assert measured["command"].str.startswith("make ").all()
    assert set(measured["scale"]) <= {"paper", "quick"}


def test_the_command_of_a_number_has_the_overrides_of_its_own_part(made: Ledger) -> None:
    parts = set()
    for line in made.lines:
        if line.ours is not None:
            manifest = json.loads(
                (ROOT / "outputs" / "record" / line.ours.folder / "manifest.json").read_text()
            )
            given = shlex.split(line.ours.command.partition(" ARGS=")[2] or "''")
            assert shlex.split(given[0]) == (manifest.get("overrides") or [])
            parts |= {line.ours.folder} if given[0] else set()
    assert {"edlp_table2_paper-adult", "edlp_table2_paper-blog"} <= parts


def test_what_follows_the_released_code_alone_is_said(made: Ledger) -> None:
    """The networks of EDLP's Tables 2 and 3, whose numbers with the stated width stand beside."""
    compas = [
        line for line in made.lines if line.block.column == "binary BNN COMPAS" and line.ours is not None
    ]
    assert len(compas) == 12
    for line in compas:
        assert "the paper states 500" in line.released
        (stated,) = [said for said in line.others if "_all_steps" in said and ", column COMPAS:" in said]
        assert re.search(r"not comparable \(network\); by its numbers alone: \w+$", stated)


def test_another_reading_of_the_settings_has_its_own_verdicts_and_order(made: Ledger) -> None:
    """Of the released Table 1: the steps that are given as they stand are those of variants."""
    columns = [column for column in made.columns if column.readings]
    assert {column.block.table for column in columns} == {"Table 1", "Table 4", "Table 5"}
    for column in columns:
        (read,) = column.readings
        assert all(source.place.reading.startswith("the steps as they stand") for source in read.sources)
        rows = {row for pair in read.pairs for row in pair.rows}
        assert rows == {"DMALA", "ACS", "PT-DMALA" if column.block.paper == "pt-v2" else "PTDLP"}
        assert not any(source.place.reading for source in column.sources)
    block = Block("pt-v2", "Table 1", "MMD", "MoG c=16")
    (line,) = [one for one in made.lines if (one.block, one.row) == (block, "DMALA")]
    assert line.source is not None
    assert line.source.place.rows["DMALA"] == "DMALA"
    assert any("steps as they stand" in said for said in line.others)


def test_the_page_says_how_another_reading_changes_the_order(made: Ledger, tmp_path: Path) -> None:
    write_ledger(made, tmp_path)
    order = pd.read_csv(tmp_path / "order.csv", keep_default_na=False)
    first, other = (order[order["reading"].ne("") == read] for read in (False, True))
    assert len(first) == sum(len(column.pairs) for column in made.columns)
    place = ["paper", "table", "column", "metric"]
    turned = {tuple(one) for one in first.loc[first["outcome"] == "reversed", place].to_numpy()}
    read = other.groupby(place)["outcome"].agg(set)
    hold = sum(outcomes == {"holds"} for at, outcomes in read.items() if at in turned)
    more = sum("reversed" in outcomes for at, outcomes in read.items() if at not in turned)
    number = len(turned & set(read.index))
    said = f"the order of the other rows holds in {hold} of {number} columns that are reversed above."
    page = (tmp_path / "verdicts.md").read_text()
    assert said in page
    assert f"It is reversed in {more} columns that cannot be told above." in page


def test_another_reading_differs_in_what_its_numbers_differ_in(made: Ledger) -> None:
    """The entries of `protocols.yaml` name the rows of the first reading."""
    block = Block("pt-v2", "Table 1", "KL", "MoS c=16")
    for row, comparable in (("DMALA", False), ("ACS", False), ("PT-DMALA", True)):
        (line,) = [one for one in made.lines if (one.block, one.row) == (block, row)]
        (said,) = [said for said in line.others if "steps as they stand" in said]
        assert ("not comparable (statistic)" in said) is not comparable


def test_readings_name_only_rows_that_are_there() -> None:
    shapes = published_shapes()
    for reading in read_protocols().readings:
        for experiment in reading.experiments:
            rows = {row.row: row for row in shapes[experiment].rows}
            assert all(rows[one].published for one in reading.rows)
            assert all(not rows[one].published for one in reading.rows.values())


def test_numbers_that_a_later_version_prints_again_are_counted(made: Ledger, tmp_path: Path) -> None:
    write_ledger(made, tmp_path)
    numbers = pd.read_csv(tmp_path / "verdicts.csv").dropna(subset="ours")
    alike = numbers.groupby(["experiment", "our_metric", "column", "ours", "published"])
    again = (alike["paper"].nunique() - 1).sum()
    assert again > 0
    assert f"Of these numbers {again} are printed in two versions" in (tmp_path / "verdicts.md").read_text()


def test_every_pair_that_cannot_be_told_has_the_difference_that_would_be_found(made: Ledger) -> None:
    pairs = [
        pair for column in made.columns for pair in column.pairs if pair.outcome.value == "cannot be told"
    ]
    assert pairs
    assert all(pair.detectable is not None for pair in pairs if pair.p_value is not None)


def test_the_protocol_of_every_metric_beside_a_published_one_is_described() -> None:
    protocols, places = read_protocols(), counterparts(published_shapes())
    for block in published_blocks():
        entry = protocols.unmeasured_of(block)
        assert (entry is None) == (block in places), block
        for place in places.get(block, []):
            assert protocols.settings(place), (block, place.experiment, place.metric.metric)


def test_a_published_name_that_is_not_there_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its cells would count as not measured."""
    text = (cells.CONF / "experiment" / "pt_table1.yaml").read_text()
    (tmp_path / "experiment").mkdir()
    (tmp_path / "experiment" / "pt_table1.yaml").write_text(text.replace("v2: DMALA}", "v2: DMALLA}"))
    monkeypatch.setattr(cells, "CONF", tmp_path)
    with pytest.raises(UserError, match="v2 is 'DMALLA'; did you mean 'DMALA'"):
        published_shapes.__wrapped__()


def test_a_difference_of_some_rows_is_none_of_the_others() -> None:
    """Of one column three values fall as the draws grow, and the fourth to a bias above the published one."""
    shape = published_shapes()["pt_table1_released"]
    places = counterparts({"pt_table1_released": shape})[Block("pt-v2", "Table 1", "KL", "MoS c=16")]
    differs = {
        row: set(read_protocols().differs(place, row, "paper", shape)) for place in places for row in ROWS
    }
    assert differs == {"DMALA": {"statistic"}, "ACS": {"statistic"}, "PT-DMALA, released": set()}
    assert all(set(read_protocols().differs(place, None, "paper", shape)) for place in places)


def test_protocols_name_only_what_is_there() -> None:
    shapes = published_shapes()
    for entry in read_protocols().protocols:
        shape = shapes[entry.experiment]
        assert {metric.metric for metric in shape.metrics if metric.published} >= set(entry.metrics)
        assert {column.label for column in shape.columns} >= set(entry.columns)
        assert {row.row for row in shape.rows if row.published} >= set(entry.rows)
        assert set(entry.smaller) <= {"smoke", "quick", "paper"}


def test_deviations_are_numbers_of_the_settings_page() -> None:
    read = read_protocols()
    numbers = [entry.settings for entry in read.protocols] + [entry.settings for entry in read.unmeasured]
    for number in set(chain.from_iterable(numbers)):
        finding = re.fullmatch(r"finding (\d+)", number)
        anchor = f'id="0{finding[1]}"' if finding else f'id="{number.lower().replace(".", "")}"'
        section = f"{{ #{number.lower().replace('.', '')} }}"
        assert anchor in SETTINGS or section in SETTINGS, number


@pytest.mark.parametrize(
    ("text", "said"), [("differ: {}", "differ"), ("differs: {date: x}", "did you mean 'data'")]
)
def test_a_mistake_in_the_protocols_is_one_sentence(tmp_path: Path, text: str, said: str) -> None:
    entry = f"{{experiment: a, metrics: [b], {text}}}"
    (tmp_path / "protocols.yaml").write_text(f"{{protocols: [{entry}], unmeasured: []}}")
    with pytest.raises(UserError, match=said):
        read_protocols(tmp_path / "protocols.yaml")


def test_it_takes_no_torch() -> None:
    code = "import sys, runner.verdicts.__main__, runner.verdicts.files; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


PLACE = Counterpart("made_up", MetricShape("m", "m", Direction.min, floor="perfect"), "c", {"A": "A"})


def made_up(void: bool = False, **rows: tuple[float, Role]) -> Record:
    numbers = {
        (row, "c", "m"): Measured(Interval(mean, 0.1, None, None, 5), role is Role.sampler, role.value)
        for row, (mean, role) in rows.items()
    }
    return Record("made_up", "paper", numbers, frozenset({"c"} if void else ()))


def test_a_floor_is_invalid_where_it_is_void_beaten_or_tells_nothing() -> None:
    floor, sampler = (1.0, Role.draws), (2.0, Role.sampler)
    void = made_up(void=True, perfect=floor, A=sampler)
    beaten = made_up(perfect=floor, A=(0.5, Role.sampler))
    told = made_up(perfect=floor, uniform=(1.01, Role.draws))
    for record, said in ((void, "void"), (beaten, "better than perfect"), (told, "does not tell")):
        assert said in (invalid_floor(record, PLACE) or "")
    assert invalid_floor(made_up(perfect=floor, A=(0.95, Role.sampler)), PLACE) is None
    assert invalid_floor(made_up(perfect=floor, A=sampler, uniform=(3.0, Role.draws)), PLACE) is None


def test_rows_without_any_value_tell_nothing_of_a_floor() -> None:
    record = made_up(perfect=(1.0, Role.draws), uniform=(3.0, Role.draws), A=(2.0, Role.sampler))
    ours, none = record.numbers["A", "c", "m"], Measured(None, False, "sampler", lost=5)
    for row in ("A", "perfect", "uniform"):
        lost = replace(none, role=record.numbers[row, "c", "m"].role)
        without = replace(record, numbers={**record.numbers, (row, "c", "m"): lost})
        assert invalid_floor(without, PLACE) is None
    assert not at_floor(record, PLACE, none, Published(Numeral("1.0")))
    perfect = {**record.numbers, ("perfect", "c", "m"): replace(none, role=Role.draws.value)}
    assert not at_floor(replace(record, numbers=perfect), PLACE, ours, Published(Numeral("1.0")))


def test_both_are_at_the_floor_only_if_the_published_one_is_too() -> None:
    record = made_up(perfect=(1.0, Role.draws), A=(1.0, Role.sampler))
    ours = record.numbers["A", "c", "m"]
    assert at_floor(record, PLACE, ours, Published(Numeral("1.2")))
    assert at_floor(record, PLACE, ours, Published(Numeral("-5.0")))
    assert not at_floor(record, PLACE, ours, Published(Numeral("1.4")))
    assert not at_floor(record, PLACE, Measured(ours.interval, False, "sampler"), Published(Numeral("1.0")))
    noisy = Measured(Interval(1.5, 0.9, None, None, 5), True, "sampler")  # its own test finds nothing
    assert not at_floor(record, PLACE, noisy, Published(Numeral("1.2")))


@pytest.mark.parametrize("direction", [Direction.min, Direction.max])
def test_our_mean_has_to_lie_where_the_mean_of_as_many_perfect_draws_is_expected(
    direction: Direction,
) -> None:
    sign = -1.0 if direction is Direction.max else 1.0
    record = made_up(perfect=(sign * 1.0, Role.draws), A=(sign * 1.0, Role.sampler))
    place = replace(PLACE, metric=replace(PLACE.metric, direction=direction))
    # The floor is of 5 values of standard deviation 0.1: one more lies within 0.304 of it, the mean of two
    # within 0.232, that of five within 0.176.
    for apart, n, expected in ((0.17, 5, True), (0.18, 5, False), (0.23, 2, True), (0.24, 2, False)):
        ours = Measured(Interval(sign * (1 + apart), 0.1, None, None, n), True, "sampler")
        assert at_floor(record, place, ours, Published(Numeral(f"{sign * 1.3}"))) is expected


def test_a_floor_in_closed_form_has_the_spread_of_its_draws() -> None:
    record = made_up(perfect=(1.0, Role.draws), A=(1.0, Role.sampler))
    closed = Measured(
        Interval(1.0, 0.0, None, None, 5), False, "draws", dict(enumerate([0.9, 1.1, 1.05, 0.95, 1.0]))
    )
    record = replace(record, numbers={**record.numbers, ("perfect", "c", "m"): closed})
    ours = record.numbers["A", "c", "m"]
    assert at_floor(record, PLACE, ours, Published(Numeral("1.1")))
    assert not at_floor(record, PLACE, ours, Published(Numeral("1.3")))
