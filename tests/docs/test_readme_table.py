"""The table in README.md has the numbers of its recorded table, in one column of each metric."""

from __future__ import annotations

from tests.docs.pages import ROOT

LETTERS = "ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖ"
RECORD = ROOT / "outputs" / "record" / "pt_table1_quick" / "table.md"
CELL = "MoG, c = 8"
METRICS = ("**MMD² (exact kernel)", "**Forward KL (nats)")
UNITS = (", unit 10⁻³,", ", unit 10⁻²,")


def rows(text: str) -> dict[str, list[str]]:
    """The first table of `text`: the cells of each row by its name, footnote letters removed."""
    lines = text[text.index("\n|") + 1 :].split("\n\n", 1)[0].splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if ":-" not in line]
    return {name.rstrip(LETTERS): values for name, *values in cells}


def recorded(metric: str, unit: str) -> dict[str, list[str]]:
    """Our number and that of the second version of the paper, of each row of the recorded table."""
    text = RECORD.read_text()
    text = text[text.index(f"\n{metric}") :]
    assert unit in text.splitlines()[1]
    table = rows(text)
    header = [name.rstrip(LETTERS) for name in table[""]]
    ours = header.index(CELL)
    published = header.index("v2", ours)
    return {name: [values[ours], values[published]] for name, values in table.items()}


def test_the_table_of_the_readme_has_the_recorded_numbers() -> None:
    readme = (ROOT / "README.md").read_text()
    shown = rows(readme[readme.index("\n## A result\n") :])
    assert [name.split(" ")[0] for name in shown.pop("sampler")] == ["MMD²", "published", "KL", "published"]
    assert {"DMALA", "PT-DMALA", "exact draws"} <= set(shown)
    mmd, kl = (recorded(metric, unit) for metric, unit in zip(METRICS, UNITS, strict=True))
    assert shown == {name: [*mmd[name], *kl[name]] for name in shown}
