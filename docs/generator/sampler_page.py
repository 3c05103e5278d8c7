"""The page of samplers, with what enumeration found of each."""

from __future__ import annotations

from pathlib import Path

from docs.generator.docstrings import cell, docstring, markdown
from docs.generator.measured_exactness import Exactness
from docs.generator.sections import (
    SETTINGS,
    described,
    inner_kernel,
    introduction,
    names,
    page,
    prose,
    section,
)
from docs.generator.yaml_files import all_keys, content, header


def samplers(conf: Path, exactness: dict[str, Exactness]) -> str:
    """The page.

    Args:
        conf: the folder conf/.
        exactness: what was found of each sampler.
    """
    rows, sections = [], []
    for name in names(conf, "sampler"):
        thing, text = described(conf, "sampler", name)
        found = exactness.get(name, Exactness())
        kernel = inner_kernel(conf, name)
        summary = header(conf / "sampler" / f"{name}.yaml") or text.summary
        if kernel and summary == text.summary:
            summary = f"`{thing.__name__}` around `{kernel.__name__}`. {summary}"
        exact = "yes" if found.claimed else "no †"
        rows.append(f"| [`{name}`](#{name}) | {cell(summary)} | {_spaces(found)} | {exact} |")
        paragraphs, arguments = prose(text), dict(text.sections.get("Args", {}))
        if kernel:
            inner = docstring(kernel)
            paragraphs += [f"Inside it, `{kernel.__name__}`: {prose(inner)[0]}", prose(inner)[1]]
            arguments = {**inner.sections.get("Args", {}), **arguments}
        paragraphs.append(_proof(found))
        keys = all_keys(conf, "sampler", name)
        # A tempered sampler's own key stands in place of the one of the kernel inside.
        own = {f"kernel.{key.path}" for key in keys}
        keys = [key for key in keys if key.path not in own]
        sections.append(section(name, "sampler", thing, paragraphs, keys, arguments))
    head = "| name | what it does | spaces | exact |\n| :-- | :-- | :-- | :-- |"
    return page("Samplers", introduction("samplers"), head, rows, sections)


def temperings(conf: Path) -> str:
    """The page of tempering schemes."""
    rows, sections = [], []
    for name in names(conf, "tempering"):
        if "_target_" not in content(conf / "tempering" / f"{name}.yaml"):
            continue
        thing, text = described(conf, "tempering", name)
        rows.append(
            f"| [`{name}`](#{name}) | {cell(header(conf / 'tempering' / f'{name}.yaml') or text.summary)} |"
        )
        keys, arguments = all_keys(conf, "tempering", name), text.sections.get("Args", {})
        sections.append(section(name, "tempering", thing, prose(text), keys, arguments))
    return page(
        "Tempering", introduction("tempering"), "| name | what it does |\n| :-- | :-- |", rows, sections
    )


def _spaces(found: Exactness) -> str:
    if any("reals" in reason for reason in found.reasons):
        return "real"
    if any("auxiliary variable" in reason for reason in found.reasons):
        return "binary, ordinal, categorical"
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
        return f"{start} enumerated: {markdown(found.reasons[0], SETTINGS)}."
    return ""
