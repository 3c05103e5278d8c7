"""Plain text as LaTeX reads it: special characters, Greek letters, raised and lowered digits, other signs."""

from __future__ import annotations

import re
import unicodedata

SPECIAL = {char: "\\" + char for char in "&%$#_{}"} | {
    "\\": r"\textbackslash{}", "~": r"$\sim$", "^": r"\textasciicircum{}", "<": "$<$", ">": "$>$",
    "|": r"\textbar{}", "±": r"$\pm$", "†": r"$\dagger$", "‡": r"$\ddagger$", "°": r"$^\circ$",
    "§": r"\S{}", "≥": r"$\geq$", "≤": r"$\leq$", "≈": r"$\approx$", "½": r"$\frac{1}{2}$",
    "\N{MINUS SIGN}": "$-$", "\N{MULTIPLICATION SIGN}": r"$\times$", "·": r"$\cdot$",
    "→": r"$\rightarrow$", "↑": r"$\uparrow$", "↓": r"$\downarrow$", "∞": r"$\infty$", "√": r"$\surd$",
    "—": "---", "\N{EN DASH}": "--", "…": r"\ldots{}",
    "“": "``", "”": "''", "\N{LEFT SINGLE QUOTATION MARK}": "`",
    "\N{RIGHT SINGLE QUOTATION MARK}": "'", "\N{NO-BREAK SPACE}": "~",
    "\N{THIN SPACE}": r"\,", "\N{NARROW NO-BREAK SPACE}": r"\,", "\N{NON-BREAKING HYPHEN}": "-",
}  # fmt: skip

FORMULA = {
    "∈": r"\in", "∉": r"\notin", "∂": r"\partial", "∇": r"\nabla", "∑": r"\sum", "∏": r"\prod",
    "∫": r"\int", "∝": r"\propto", "≠": r"\neq", "≡": r"\equiv", "\N{TILDE OPERATOR}": r"\sim",
    "≪": r"\ll", "≫": r"\gg", "∀": r"\forall", "∃": r"\exists", "∅": r"\emptyset",
    "\N{UNION}": r"\cup", "∩": r"\cap", "⊂": r"\subset", "⊆": r"\subseteq", "⊗": r"\otimes", "⊕": r"\oplus",
    "⊥": r"\perp", "∧": r"\wedge", "\N{LOGICAL OR}": r"\vee", "∘": r"\circ", "\N{ASTERISK OPERATOR}": "*",
    "\N{DOT OPERATOR}": r"\cdot", "⋯": r"\cdots", "\N{PRIME}": "'", "″": "''", "←": r"\leftarrow",
    "↔": r"\leftrightarrow", "⇒": r"\Rightarrow", "⇔": r"\Leftrightarrow", "↦": r"\mapsto", "⟨": r"\langle",
    "⟩": r"\rangle", "‖": r"\|", "∥": r"\|", "⌊": r"\lfloor", "⌋": r"\rfloor", "⌈": r"\lceil",
    "⌉": r"\rceil", "\N{SCRIPT SMALL L}": r"\ell", "ħ": r"\hbar", "✓": r"\surd",
    "\N{DOUBLE-STRUCK CAPITAL R}": r"\mathbf{R}", "\N{DOUBLE-STRUCK CAPITAL N}": r"\mathbf{N}",
    "\N{DOUBLE-STRUCK CAPITAL Z}": r"\mathbf{Z}", "\N{MATHEMATICAL DOUBLE-STRUCK CAPITAL E}": r"\mathbf{E}",
}  # fmt: skip
"""Signs that LaTeX knows in formulas alone."""

VARIANTS = {
    "ϵ": r"\epsilon",
    "ϑ": r"\vartheta",
    "ϕ": r"\phi",
    "ϖ": r"\varpi",
    "\N{GREEK RHO SYMBOL}": r"\varrho",
    "ς": r"\varsigma",
}
LATIN = dict(zip("ΑΒΕΖΗΙΚΜΝΟΡΤΧο", "ABEZHIKMNOPTXo", strict=True))  # noqa: RUF001
"""Greek letters that look like these, and which LaTeX has no command for."""

RAISED = re.compile("[⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿⁱ]+")
LOWERED = re.compile("[₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₐₑₒₓₕₖₗₘₙₚₛₜᵢⱼᵣᵤᵥ]+")
MOVED = re.compile(f"{RAISED.pattern}|{LOWERED.pattern}")
QUOTED = re.compile('"([^"]*)"')
BROKEN = re.compile(r"\s*\n\s*")


def escape(text: str) -> str:
    """Plain text as LaTeX, in one paragraph; letters with accents stay, LaTeX reads them as they are."""
    text = BROKEN.sub(" ", text)
    text = QUOTED.sub(r"“\1”", text).replace('"', "”")
    parts, end = [], 0
    for found in MOVED.finditer(text):
        inside = unicodedata.normalize("NFKC", found[0]).replace("\N{MINUS SIGN}", "-")
        sign = "^" if RAISED.match(found[0]) else "_"
        parts += [*map(_character, text[end : found.start()]), f"${sign}{{{inside}}}$"]
        end = found.end()
    return "".join([*parts, *map(_character, text[end:])])


def _character(char: str) -> str:
    """A character as LaTeX; Greek letters are set as in formulas, and a sign that is unknown has its name."""
    if char in FORMULA or char in VARIANTS:
        return f"${FORMULA.get(char) or VARIANTS[char]}$"
    if char in SPECIAL or char.isascii():
        return SPECIAL.get(char, char)
    name = unicodedata.name(char, "")
    if name.startswith("GREEK") and (base := unicodedata.normalize("NFD", char)[0]) != char:
        return _character(base)
    if char in LATIN:
        return rf"$\mathrm{{{LATIN[char]}}}$"
    if named := re.fullmatch(r"GREEK (SMALL|CAPITAL) LETTER (\w+)", name):
        letter = {"LAMDA": "LAMBDA"}.get(named[2], named[2])
        return rf"$\{letter.lower() if named[1] == 'SMALL' else letter.capitalize()}$"
    known = char <= "\N{LATIN SMALL LETTER LONG S}" or not unicodedata.category(char).startswith(("S", "P"))
    return char if known else f"[{name.lower() or 'sign'}]"
