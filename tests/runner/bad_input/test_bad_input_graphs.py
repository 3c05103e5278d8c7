"""What is refused of problems on graphs: one sentence, status 2, before any work."""

from __future__ import annotations

from pathlib import Path

import networkx
import pytest

from runner.loggers.run_names import run_name
from runner.report.selection.conditions import chosen_by
from runner.report.selection.grid import places_of
from runner.report.selection.stored_runs import stored_runs
from tests.support.commands import Call, refused_before_any_run

TOUR = (
    "NAME: own\nTYPE: TSP\nDIMENSION: 3\nEDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION\n"
    "1 0 0\n2 0 3\n3 4 0\nEOF\n"
)

RUN = "sampler=dmala sampler.step_size=0.3 metric=acceptance task.steps=20 task.chains=3"


@pytest.fixture(autouse=True)
def _no_data_but_our_own(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    """In an empty folder."""
    monkeypatch.delenv("DATA_ROOT", raising=False)


SETTINGS = [
    (
        "target=maxcut target.graph.model=ising",
        "target.graph.model must be one of barabasi_albert, erdos_renyi",
    ),
    (
        "target=maxcut target.graph.node=5",
        "Unknown key 'target.graph.node'; did you mean 'target.graph.nodes'?",
    ),
    (
        "target=maxcut target.file_format=gset",
        "target.file_format must be 'auto' where file is null, 'gset' was given",
    ),
    ("target=maxcut target.graph.nodes=1", "target.graph.nodes must be a whole number of at least 2, 1 was"),
    (
        "target=maxcut target.graph=5",
        "target.graph must be the settings of a random graph by name, 5 was given",
    ),
    (
        "target=maxcut target.graph.degree=0",
        "must have at least one edge, a graph of 100 nodes without was given",
    ),
    ("target=maxcut target.scale=0", "target.scale must be a positive number, 0 was given"),
    ("target=mis target.penalty=0.9", "target.penalty must be a number from 1 to"),
    ("target=normcut target.parts=1", "target.parts must be a whole number of at least 2, 1 was given"),
    (
        "target=mis target.file=nowhere",
        "target.file must be null or a graph's file, 'nowhere' was given, which",
    ),
    ("target=mis target.file=nowhere data.root=.", "nor is 'graphs/nowhere'"),
]
UNREAD = [
    (
        "target=mis target.file=own.edges target.graph.nodes=12",
        "target.graph.nodes must be left out, since target.file=own.edges replaces the random instance; 12",
    ),
    (
        "target=tsp sampler=tour_swap target.file=own.tsp target.cities=5",
        "target.cities must be left out, since target.file=own.tsp replaces the random instance; 5 was given",
    ),
    (
        "target=mis target.graph.model=rb target.graph.degree=6",
        "target.graph.degree must be left out, since target.graph.model=rb does not read it; 6 was given",
    ),
    (
        "target=mis target.graph.tightness=0.3",
        "target.graph.tightness must be left out, since target.graph.model=erdos_renyi does not read it; 0.3",
    ),
    ("target=max_clique target.graph.degree=2", "since target.graph.model=rb does not read it; 2 was given"),
]


@pytest.mark.parametrize(("given", "sentence"), UNREAD, ids=[given for given, _ in UNREAD])
def test_a_key_that_the_instance_does_not_read_is_refused(given: str, sentence: str) -> None:
    Path("own.edges").write_text("1 2\n")
    Path("own.tsp").write_text(TOUR)
    sampler = [] if "sampler" in given else ["sampler=gibbs"]
    assert sentence in refused_before_any_run("metric=acceptance task.steps=20", given, *sampler)


def test_keys_that_an_instance_does_not_read_make_neither_runs_nor_rows(call: Call) -> None:
    """Of a sweep in which another job reads them; the ids are those without any override of them."""
    Path("own.edges").write_text("1 2\n2 3\n")
    short = "metric=acceptance task.steps=20 task.chains=3 sampler=gibbs"
    for given in ("target.graph.model=rb", "target.file=own.edges"):
        assert call(*f"target=mis {given} {short}".split()).status == 0
    for given in (
        "graph.model=rb,erdos_renyi target.graph.degree=2,6",
        "file=null,own.edges target.graph.seed=3,4",
    ):
        assert call(*f"-m target=mis target.{given} {short}".split()).status == 0
    runs = stored_runs("outputs")
    assert len(runs) == 2 + 2 + 2
    (rb,) = chosen_by(["target.graph.model=rb"], runs)
    assert not {"target.graph.degree", "target.root"} & set(rb.settings)
    (filed,) = chosen_by(["target.file=own.edges"], runs)
    assert not [key for key in filed.settings if key.startswith("target.graph")]
    assert "graph" not in filed.config["target"]


@pytest.mark.parametrize(("given", "sentence"), SETTINGS, ids=[given for given, _ in SETTINGS])
def test_a_setting_is_refused(given: str, sentence: str) -> None:
    assert sentence in refused_before_any_run(RUN, given)


FILES = [
    ("own.gset", "3 2\n1 2 1\n", "'own.gset' is no gset file: it must have 2 edges, it has 1."),
    ("own.gset", "3 1\n2 2 1\n", "'own.gset' must have no edge from a node to itself, node 2 has one."),
    ("own.gset", "3 0\n", "'own.gset' must have at least one edge, a graph of 3 nodes without was given."),
    ("own.col", "p edge 2 1\na 1 2\n", "'own.col' is no dimacs file: it must be undirected, it has arcs"),
    ("own.graph", "2 1\n2\n\n", "it must be undirected, node 1 lists 2 and 2 does not list 1."),
    (
        "own.gml",
        "\n".join(networkx.generate_gml(networkx.DiGraph([(0, 1)]))),
        "'own.gml' must be an undirected graph, a directed one was given.",
    ),
]


@pytest.mark.parametrize(("name", "content", "sentence"), FILES, ids=[str(n) for n in range(len(FILES))])
def test_a_file_is_refused(name: str, content: str, sentence: str) -> None:
    Path(name).write_text(content)
    assert sentence in refused_before_any_run(RUN, f"target=maxcut target.file={name}")


def test_the_identity_of_a_run_is_the_content_of_its_file(call: Call) -> None:
    def run(path: str) -> set[str]:
        assert call(*f"target=maxcut target.file={path} {RUN}".split()).status == 0
        return {folder.name for folder in Path("outputs/runs").iterdir()}

    for folder in ("here", "there", "data/graphs"):
        Path(folder).mkdir(parents=True)
        (Path(folder) / "own.gset").write_text("3 2\n1 2 1\n2 3 1\n")
    first = run("here/own.gset")
    assert run("there/own.gset") == first
    assert run("own.gset data.root=data") == first
    Path("there/own.gset").write_text("3 2\n1 2 1\n1 3 1\n")
    assert len(run("there/own.gset")) == 2


def test_runs_on_different_files_at_one_path_stand_in_columns_of_their_own(call: Call) -> None:
    def table(weight: int, seed: int) -> tuple[list[str], list[str]]:
        Path("own.edges").write_text(f"1 2 {weight}\n2 3 {weight}\n")
        lines = f"target=maxcut target.file=own.edges {RUN} seed={seed}".split()
        assert call(*lines).status == 0
        places = places_of(stored_runs("outputs"))
        return places.keys, sorted({column for _, column in places.labels})

    assert table(1, 0) == ([], ["maxcut"])
    assert table(1, 1) == ([], ["maxcut"])
    keys, columns = table(10, 2)
    assert keys == ["target.file.content"]
    assert [column.split("=")[0] for column in columns] == ["maxcut, file.content"] * 2
    Path("other.edges").write_text("1 2\n")
    assert call(*f"target=maxcut target.file=other.edges {RUN}".split()).status == 0
    names = {run_name(run.config).text for run in stored_runs("outputs")}
    assert not any("content" in name for name in names)


def test_a_file_that_another_setting_tells_apart_has_no_column_of_its_content(call: Call) -> None:
    for name in ("one", "other"):
        Path(f"{name}.edges").write_text("1 2\n2 3\n" if name == "one" else "1 2\n")
        assert call(*f"target=maxcut target.file={name}.edges {RUN}".split()).status == 0
    assert places_of(stored_runs("outputs")).keys == ["target.file"]


def test_where_data_and_files_lie_makes_no_row_of_its_own(call: Call) -> None:
    """Three seeds of one problem: by its path, by another, by its name below the root, which is set anew."""
    for folder in ("here", "there", "data/graphs"):
        Path(folder).mkdir(parents=True)
        (Path(folder) / "own.edges").write_text("1 2\n2 3\n")
    paths = ("here/own.edges", "there/own.edges data.root=null", "own.edges data.root=data")
    for seed, path in enumerate(paths):
        assert call(*f"target=maxcut target.file={path} {RUN} seed={seed}".split()).status == 0
    for seed, root in enumerate(("null", "data", "there")):
        random = f"target=mis target.graph.nodes=9 {RUN} data.root={root} seed={seed}"
        assert call(*random.split()).status == 0
    runs = stored_runs("outputs")
    places = places_of(runs)
    assert places.keys == ["target"]
    assert sorted({column for _, column in places.labels}) == ["maxcut", "mis"]
    for given in ("own.edges", "here/own.edges", "nowhere,there/own.edges"):
        assert len(chosen_by([f"target.file={given}"], runs)) == 3
    assert not chosen_by(["target.file=here"], runs)
    assert {run.settings.get("target.file") for run in runs} == {"own.edges", None}


def test_files_of_one_name_with_other_content_stay_apart(call: Call) -> None:
    for folder in ("here", "there"):
        Path(folder).mkdir()
        (Path(folder) / "own.edges").write_text(f"1 2\n2 {len(folder)}\n")
        assert call(*f"target=maxcut target.file={folder}/own.edges {RUN}".split()).status == 0
    assert places_of(stored_runs("outputs")).keys == ["target.file.content"]


def test_two_copies_of_a_text_are_one_problem(call: Call) -> None:
    for seed, folder in enumerate(("here", "there")):
        Path(folder).mkdir()
        (Path(folder) / "own.txt").write_text("the cat sat on the mat")
        lines = f"target=ngram target.length=20 target.text={folder}/own.txt sampler=gibbs seed={seed}"
        assert call(*f"{lines} metric=acceptance task.steps=20 task.chains=3".split()).status == 0
    assert places_of(stored_runs("outputs")).keys == []
