"""The page of samplers, with what enumeration found of each."""

from __future__ import annotations

from docs.generator.markdown_text import cell, markdown
from docs.generator.measured_exactness import Exactness
from docs.generator.sections import DOCS, introduction, page, prose, section
from runner.catalogue.entries import Entry, entry_of
from runner.catalogue.yaml_files import Groups


def samplers(conf: Groups, exactness: dict[str, Exactness]) -> str:
    """The page.

    Args:
        conf: the groups.
        exactness: what was found of each sampler.
    """
    rows, sections = [], []
    for name in conf.names("sampler"):
        entry, found = entry_of(conf, "sampler", name), exactness.get(name, Exactness())
        exact = "yes" if found.claimed else "no †"
        rows.append(f"| [`{name}`](#{name}) | {cell(entry.summary)} | {_spaces(found, entry)} | {exact} |")
        paragraphs = prose(entry.docstring)
        if entry.kernel is not None:
            summary, *more = prose(entry.kernel.docstring)
            paragraphs += [f"Inside it, `{entry.kernel.name}`: {summary}", *more]
        sections.append(section(entry, "sampler", [*paragraphs, _proof(found)]))
    head = "| name | what it does | spaces | exact |\n| :-- | :-- | :-- | :-- |"
    return page("Samplers", introduction("samplers"), head, rows, sections)


def temperings(conf: Groups) -> str:
    """The page of tempering schemes."""
    entries = [entry_of(conf, "tempering", name) for name in conf.names("tempering")]
    entries = [entry for entry in entries if entry.source is not None]
    rows = [f"| [`{entry.name}`](#{entry.name}) | {cell(entry.summary)} |" for entry in entries]
    sections = [section(entry, "tempering", prose(entry.docstring)) for entry in entries]
    return page(
        "Tempering", introduction("tempering"), "| name | what it does |\n| :-- | :-- |", rows, sections
    )


def _spaces(found: Exactness, entry: Entry) -> str:
    if any("reals" in reason for reason in found.reasons):
        return "real"
    if any("auxiliary variable" in reason for reason in found.reasons):
        return entry.facts["Spaces"]
    if found.spaces == ["RBM"]:
        return "RBMs"
    return ", ".join(space for space in found.spaces if space != "RBM") or "models with a reference sample"


def _proof(found: Exactness) -> str:
    if found.error is not None:
        return (
            f"Exact: max abs(pi P - pi) is {found.error:.1e} over all enumerated spaces and settings "
            "(`make exactness`)."
        )
    if found.bias is not None:
        return (
            "Not exact: the total variation between its own stationary distribution and the target is at "
            f"most {found.bias:.3f} over the enumerated spaces and settings (`make exactness`)."
        )
    if found.reasons:
        start = "Claims to be exact; not" if found.claimed else "Not exact. Not"
        return f"{start} enumerated: {markdown(found.reasons[0], DOCS)}."
    return ""
