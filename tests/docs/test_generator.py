"""The generated pages hold every name of conf/ and every recorded table, with keys, defaults and comments."""

from __future__ import annotations

import csv
import io
import json
import posixpath
import re
import shlex
from pathlib import Path

import pytest

from docs.generator import data_pages, reference_pages, result_pages, room_page
from docs.generator.markdown_text import cell, markdown
from docs.generator.measured_exactness import summaries
from docs.generator.sampler_page import samplers
from runner.catalogue.yaml_files import Groups, Key, header, keys
from runner.verdicts.readings.texts import reading_text
from tests.docs.pages import ROOT

CONF = Groups(ROOT / "conf")


@pytest.mark.parametrize("group", ["target", "metric", "task", "experiment"])
def test_a_page_has_a_section_for_every_name(group: str) -> None:
    module = data_pages if group == "experiment" else reference_pages
    page = getattr(module, f"{group}s")(CONF)
    offered = [name for name in CONF.names(group) if name != "standard"]
    assert [name for name in offered if f"\n## {name} {{ #{name} }}\n" not in page] == []


def test_the_page_of_samplers_has_all_of_them_with_what_was_measured() -> None:
    measured = summaries(
        csv.DictReader(
            io.StringIO(
                "sampler,space,claimed,error,lowest_tv,highest_tv,checked,found,left_out\n"
                "dmala,binary 2^3,True,2e-16,,,9,exact,\n"
                "dmala,tours 3!,True,nan,,,0,not checked,no tours\n"
                "dula,binary 2^3,False,0.1,0.01,0.25,9,inexact,\n"
                "gibbs (scan=systematic),binary 2^3,True,1e-16,,,3,exact,\n"
            )
        )
    )
    page = samplers(CONF, measured)
    assert [name for name in CONF.names("sampler") if f"## {name} {{ #{name} }}" not in page] == []
    row = next(line for line in page.splitlines() if line.startswith("| [`dmala`]"))
    assert row.endswith("| binary | yes |")
    assert next(line for line in page.splitlines() if line.startswith("| [`dula`]")).endswith(
        "| binary | no † |"
    )
    assert "max abs(pi P - pi) is 2.0e-16" in page
    assert "at most 0.250" in page
    assert measured["gibbs"].claimed


def test_every_setting_of_a_sampler_is_listed() -> None:
    page = samplers(CONF, {})
    for name in CONF.names("sampler"):
        keys = {key.path for key in CONF.all_keys("sampler", name)}
        # A tempered sampler's own step size stands in place of the one of the kernel inside.
        for key in keys - {f"kernel.{key}" for key in keys}:
            assert f"`sampler.{key}`" in page


def test_keys_have_defaults_and_comments(tmp_path: Path) -> None:
    (tmp_path / "group").mkdir()
    path = tmp_path / "group" / "one.yaml"
    path.write_text(
        "# What it is,\n# in two lines.\nname: one\n_target_: a.B\n"
        'rate: 0.5  # between # 0 and 1\nmode: "a # b"\ninner:  # of the inner part\n'
        "  steps: ${scale.steps}  # how many\n"
        "listed: [1, 2]  # two of them\n"
    )
    assert header(path) == "What it is, in two lines."
    assert keys(path) == [
        Key("rate", "0.5", "between # 0 and 1"),
        Key("mode", '"a # b"', ""),
        Key("inner", "", "of the inner part"),
        Key("inner.steps", "${scale.steps}", "how many"),
        Key("listed", "[1, 2]", "two of them"),
    ]


@pytest.mark.parametrize("line", ["/tempering@_here_: parallel", "/tempering/parallel@_here_"])
def test_included_files_give_their_keys(line: str, tmp_path: Path) -> None:
    for group in ("sampler", "tempering"):
        (tmp_path / group).mkdir()
    (tmp_path / "tempering" / "parallel.yaml").write_text(
        "ladder: auto  # inverse temperatures\nreplicas: auto\n"
    )
    (tmp_path / "sampler" / "dmala.yaml").write_text("name: dmala\nstep_size: auto  # alpha\n")
    (tmp_path / "sampler" / "pt.yaml").write_text(
        f"defaults:\n  - {line}\n  - dmala@kernel\n  - _self_\nname: pt\nreplicas: 4\n"
    )
    assert Groups(tmp_path).all_keys("sampler", "pt") == [
        Key("ladder", "auto", "inverse temperatures"),
        Key("replicas", "4", ""),
        Key("kernel.step_size", "auto", "alpha"),
    ]


def test_prose_is_no_markup_but_citations_are_links() -> None:
    assert markdown("a * b_c |x| < 1, `d_e`", "../") == r"a \* b\_c \|x\| &lt; 1, `d_e`"
    page = "../papers/settings.md"
    assert markdown("see (`experiments.md` I, row 3)", "../") == f"see ([settings I]({page}#i), row 3)"
    assert markdown("of settings B.4.", "../") == f"of [settings B.4]({page}#b4)."
    assert markdown("(Zanella 2020)", "") == "([Zanella 2020](references.md#zanella-2020))"
    assert markdown("Sun et al.\n(2023a), 4", "") == "[Sun et al.\n(2023a)](references.md#sun-2023a), 4"
    assert markdown("text:\n\n    q(y | x)", "../") == "text:\n\n    q(y | x)"
    assert cell("`a|b` and\nc") == r"`a\|b` and c"


LINK = re.compile(r"\]\([^)]*\)")


def test_every_recorded_table_is_on_a_page_with_its_figures_and_reading() -> None:
    record = ROOT / "outputs" / "record"
    pages = result_pages.pages(record)
    text = "\n".join(page.text for page in pages)
    without_addresses = LINK.sub("]", text)
    shown = {path for page in pages for path in page.pictures.values()}
    for folder in record.iterdir():
        assert set(folder.glob("*.png")) <= shown
        if (folder / "table.md").exists():
            assert f"{{ #{folder.name} }}" in text
            for line in (folder / "table.md").read_text().splitlines():
                if line.startswith("|"):
                    assert line in text
            if reading := reading_text(folder):
                # The addresses of its links are others on the page.
                assert LINK.sub("]", reading.splitlines()[-1]) in without_addresses
    assert "<!--" not in text


def test_links_of_result_pages_lead_to_pages() -> None:
    """A reading's own links are relative to its folder; on the page only those to other readings are."""
    made = result_pages.pages(ROOT / "outputs" / "record")
    addresses = {page.address for page in made}
    for page in made:
        for target in re.findall(r"\]\(([^)#:]+\.md)(?:#[\w-]+)?\)", page.text):
            path = posixpath.normpath(posixpath.join(posixpath.dirname(page.address), target))
            known = path in addresses or path.startswith("reference/") or (ROOT / "docs" / path).exists()
            assert known, f"{page.address}: {target}"


def test_a_record_of_a_part_says_the_command_that_measures_it(tmp_path: Path) -> None:
    folder = tmp_path / "pt_figure3_paper-emnist-kmnist"
    folder.mkdir()
    (folder / "manifest.json").write_text(json.dumps({"overrides": ["target.dataset=emnist,kmnist"]}))
    assert result_pages._scale(folder) == "paper, emnist-kmnist"
    expected = "make pt-figure3 SCALE=paper ARGS=target.dataset=emnist,kmnist"
    assert result_pages._command(folder) == expected
    link = result_pages._without_title("# A\n\n[the rest](../pt_figure3_paper-emnist-kmnist/reading.md)")
    assert link == "[the rest](pt-dlp.md#pt_figure3_paper-emnist-kmnist)"
    link = result_pages._without_title("# A\n\n[a machine](../bench_nvidia_h200/reading.md)")
    assert link == "[a machine](bench.md#bench_nvidia_h200)"
    (folder / "manifest.json").write_text(json.dumps({"overrides": ["sampler.ladder=[1, 0.5]"]}))
    (given,) = (word for word in shlex.split(result_pages._command(folder)) if word.startswith("ARGS="))
    assert shlex.split(given.removeprefix("ARGS=")) == ["sampler.ladder=[1, 0.5]"]
    (folder / "manifest.json").write_text("{}")
    assert result_pages._command(folder.rename(tmp_path / "pt_table1_quick")) == "make pt-table1"


def test_every_room_is_on_the_page_of_rooms() -> None:
    page = room_page.rooms(ROOT)
    for floor in room_page.FLOORS:
        for folder in (ROOT / floor).iterdir():
            if (folder / "__init__.py").exists():
                assert f"`{folder.name}`" in page


@pytest.fixture
def bench(tmp_path: Path) -> Path:
    """A recorded bench of one line, without a reading."""
    folder = tmp_path / "record" / "bench_here"
    folder.mkdir(parents=True)
    (folder / "bench.csv").write_text("measured,value,wanted,met\nstep,2 ms,-,yes\n")
    (folder / "bench.md").write_text("| measured |\n| step | 2 ms |\n")
    return folder


def test_a_reading_with_a_number_that_its_record_has_not_ends_the_generation(bench: Path) -> None:
    (bench / "reading.md").write_text("# Here\n\n2<!-- step | value | 1 --> ms.\n")
    (page,) = (one for one in result_pages.pages(bench.parent) if one.address == "results/bench.md")
    assert "## Here { #bench_here }\n\n2 ms." in page.text
    (bench / "reading.md").write_text("# Here\n\n3<!-- step | value | 1 --> ms and 4.\n")
    with pytest.raises(ValueError, match=r"bench_here/reading.md: not in the record: 3 where .* is 2, 4"):
        result_pages.pages(bench.parent)


def test_a_link_to_a_record_that_is_not_there_ends_the_generation(bench: Path) -> None:
    (bench / "reading.md").write_text("# Here\n\n[Before](../bench_her/reading.md).\n")
    with pytest.raises(ValueError, match=r"bench_here/reading.md links to bench_her, .* 'bench_here'"):
        result_pages.pages(bench.parent)
    (bench / "reading.md").write_text("# Here\n\n[Itself](../bench_here/reading.md).\n")
    assert "[Itself](bench.md#bench_here)." in result_pages.pages(bench.parent)[-1].text


def test_a_record_that_no_page_shows_ends_the_generation(tmp_path: Path) -> None:
    folder = tmp_path / "mine_table1_quick"
    folder.mkdir()
    (folder / "table.md").write_text("# Mine\n")
    with pytest.raises(ValueError, match="mine_table1_quick: no result page shows records named mine_"):
        result_pages.pages(tmp_path)
