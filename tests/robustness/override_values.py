"""Values of overrides of every kind that a command line, or a slip of the hand, can make."""

from __future__ import annotations

import random
from collections.abc import Callable

PLAIN = (
    *("null", "true", "false", "auto", "none", "''", "'  '", "???", "abc", "a/b", "../up", "/dev/null", "."),
    *("0", "1", "2", "-1", "3", "10", "1e5", "0.5", "-0.0", "1e-300", "1e308", "nan", "inf", "-inf", "1e400"),
    *("99999999999999999999", "-9223372036854775808", "1000000", "2147483648", "07", "0x10", "1_000"),
    *("[]", "[1]", "[1,0.5]", "[a,b]", "[null]", "[[1,2],[3]]", "[nan]", "[1,1]", "[true]", "[0.5,1]"),
    *("{}", "{a:1}", "{a:{b:{c:[1]}}}", "{_target_:os.getcwd}", "{name:x}", "{_target_:null}", "{1:2}"),
    *("'é ü 漢字'", "'\\ttab'", '"quo\'ted"', "'a,b'", "a b", "'[1'", "'{'", "%s", "$x", "'${'", "-", "="),
    *("dmala", "gibbs", "mog", "rbm", "digits", "mnist", "cuda", "float64", "cpu", "uniform", "one_mode"),
)
"""Texts, numbers, lists and groups as they are written in an override."""

REFERENCES = (
    *(
        "${nope}",
        "${seed}",
        "${.}",
        "${..}",
        "${oc.env:HOME}",
        "${oc.env:NOT_SET_AT_ALL}",
        "${task}",
        "${target}",
    ),
    *("${share:0.5,${task.steps}}", "${share:a,b}", "${share:1}", "${power:2,abc}", "${power:9,999}"),
    *(
        "${oc.select:nope,3}",
        "${oc.decode:'[1'}",
        "${oc.create:{a:1}}",
        "${unknown:3}",
        "${hydra:job}",
        "${}",
    ),
    *("x${seed}y", "${scale.steps}", "${${seed}}", "${oc.env:}", "${sampler.step_size}"),
)

SWEEPS = ("1,2", "a,b", "range(0,3)", "range(3,0)", "range(0,5,0)", "interval(0,1)", "glob(*)", "choice(1,2)")
CALLS = (
    "shuffle(1,2)",
    "sort(3,1)",
    "tag(a,1)",
    "int(abc)",
    "float(3)",
    "str(3)",
    "json_str({a:1})",
    "bool(7)",
)
BROKEN = ("[1,", "{a:", "'open", '"open', "]", "}", "a:b:c", "[1,,2]", "(", "range(", "${", "\\", "{a}", ",")
CLASSES = (
    "os.system",
    "os.getcwd",
    "subprocess.Popen",
    "nowhere.Class",
    "Mine",
    "targets.target.Target",
    "a..b",
)


def value(chance: random.Random, key: str) -> str:
    """A random value for `key`."""
    if key.endswith("_target_") and chance.random() < 0.8:
        return chance.choice(CLASSES)
    return chance.choice(KINDS)(chance, key)


def _long(chance: random.Random, key: str) -> str:
    number = chance.choice((200, 3000))
    return chance.choice(
        ("a" * number, "9" * number, f"[{','.join('1' * number)}]", "[" * 40 + "1" + "]" * 40, "é" * number)
    )


def _number(chance: random.Random, key: str) -> str:
    return repr(
        chance.choice(
            (chance.randint(-5, 5), chance.randint(0, 10**6), chance.gauss(0, 1), chance.expovariate(1) * 1e9)
        )
    )


def _itself(chance: random.Random, key: str) -> str:
    return f"${{{key}}}"


KINDS: tuple[Callable[[random.Random, str], str], ...] = (
    *[lambda chance, key: chance.choice(PLAIN)] * 12,
    *[lambda chance, key: chance.choice(REFERENCES)] * 2,
    lambda chance, key: chance.choice(SWEEPS),
    lambda chance, key: chance.choice(CALLS),
    lambda chance, key: chance.choice(BROKEN),
    lambda chance, key: chance.choice(CLASSES),
    *[_number] * 5,
    _long,
    _itself,
)
