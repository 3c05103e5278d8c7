"""The page of samplers, with what enumeration found of each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from docs.generator.docstrings import cell, docstring, located, markdown
from docs.generator.measured_exactness import Exactness
from docs.generator.sections import SETTINGS, described, introduction, names, page, prose, section
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
        kernel = _inner_kernel(conf, name)
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
        sections.append(section(name, "sampler", thing, paragraphs, keys, arguments))
    head = "| name | what it does | spaces | exact |\n| :-- | :-- | :-- | :-- |"
    return page("Samplers", introduction("samplers"), head, rows, sections)


def _inner_kernel(conf: Path, name: str) -> Any:
    """The class of the kernel that a tempered sampler wraps; None for any other."""
    kernel = content(conf / "sampler" / f"{name}.yaml").get("kernel")
    return located(kernel["_target_"]) if isinstance(kernel, dict) and "_target_" in kernel else None


def _spaces(found: Exactness) -> str:
    if any("reals" in reason for reason in found.reasons):
        return "real"
    if any("continuous variable" in reason for reason in found.reasons):
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
