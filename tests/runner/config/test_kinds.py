"""A `_target_` names a class of the right kind, or nothing is called."""

from __future__ import annotations

from pathlib import Path

import pytest

from runner.config.construct import construct
from runner.execution.errors import UserError
from samplers.kernel import Kernel
from samplers.tempering.swaps.swap_round import Swaps
from targets.synthetic.bernoulli4 import Bernoulli4
from targets.target import Target
from tests.support.commands import refusal

MADE = "made"

# Each would make a folder if it were called. The sampler's name is of the class that belongs there.
CASES = [
    ("target._target_=os.mkdir +target.path=made", "target._target_=os.mkdir is no targets.target.Target."),
    (
        "sampler._target_=os.mkdir +sampler.path=made",
        "sampler._target_=os.mkdir is no samplers.kernel.Kernel",
    ),
    (
        "sampler=pt_gibbs sampler.kernel._target_=os.mkdir +sampler.kernel.path=made",
        "sampler.kernel._target_=os",
    ),
    ("sampler=pt_gibbs sampler.swap._target_=os.mkdir +sampler.swap.path=made", "swap_round.Swaps."),
    ("sampler=gibbs +sampler.sites={_target_:os.mkdir,path:made}", "Unknown key 'sampler.sites'"),
    (
        "target=mog target.components={_target_:os.mkdir,path:made}",
        "target.components._target_=os.mkdir is no",
    ),
    ("metric=tv metric.tv._target_=os.mkdir +metric.tv.path=made", "is no metrics.metric.Metric."),
    ("logger=wandb logger._target_=os.mkdir +logger.path=made", "is no runner.store.logger_protocol.Logger."),
    ("task._target_=os.mkdir +task.path=made", "task._target_=os.mkdir is no runner.tasks.task.Task."),
    (
        "tempering=parallel tempering._target_=os.mkdir +tempering.path=made",
        "tempering._target_=os.mkdir is no",
    ),
    ("sampler=dmala +sampler.norm={_target_:os.mkdir,path:made}", "sampler.norm._target_=os.mkdir is no"),
    ("sampler=pt_gibbs sampler.swap={_target_:subprocess.Popen,args:[mkdir,made]}", "'sampler.swap.args'"),
    (
        "sampler=pt_gibbs sampler.swap=3",
        "sampler.swap must be null or a group of keys with a _target_, such as samplers.Swaps with rule, "
        "pairing, intensity, shared_uniform, 3 was",
    ),
    (
        "sampler=gibbs tempering=parallel tempering.swap=bad",
        "tempering.swap must be null or a group of keys with a _target_, such as samplers.Swaps with",
    ),
    ("target=stmh_two_modes sampler=stmh sampler.pilot=1e5", "sampler.pilot must be null or a group of keys"),
]


@pytest.mark.parametrize(("given", "sentence"), CASES, ids=[given for given, _ in CASES])
def test_a_class_of_another_kind_is_never_called(
    given: str, sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    small = {"target": "target=bernoulli4", "sampler": "sampler=gibbs"}
    groups = {line.split("=")[0] for line in given.split()}
    assert sentence in refusal(*(line for group, line in small.items() if group not in groups), given)
    assert not Path(MADE).exists()


def test_nor_where_a_yaml_on_the_search_path_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    own = tmp_path / "conf" / "sampler" / "mine.yaml"
    own.parent.mkdir(parents=True)
    own.write_text(
        "name: mine\n_target_: samplers.tempering.parallel_tempering.ParallelTempering\nladder: [1.0, 0.5]\n"
        "kernel: {_target_: samplers.discrete.gibbs.Gibbs}\nswap: {_target_: os.mkdir, path: made}\n"
    )
    said = refusal(f"hydra.searchpath=[file://{tmp_path}/conf]", "target=bernoulli4", "sampler=mine")
    assert said == "sampler.swap._target_=os.mkdir is no samplers.tempering.swaps.swap_round.Swaps."
    assert not Path(MADE).exists()


def test_a_class_with_the_learned_targets_name_replaces_all_its_arguments() -> None:
    """Null values and interpolations among them, of which Hydra says that they cannot be removed."""
    learned = "target=resnet_ebm target._target_=Mine +target.x=1 task=learn"
    assert "task=learn needs a target that can be learned" in refusal("sampler=dula", learned)
    assert "must be a class as package.module.Class, 'Mine'" in refusal(learned.replace("task=learn", ""))


def bits() -> Target:
    return Bernoulli4()


def unsaid():  # type: ignore[no-untyped-def]
    return Bernoulli4()


class Helper:
    """What a user's kernel may need."""


class Helped(Kernel):
    exact = True

    def __init__(self, helper, swaps: Swaps | None = None, anything: object = None) -> None:  # type: ignore[no-untyped-def]
        self.helper = helper

    init = step = None  # type: ignore[assignment]


HERE = "tests.runner.config.test_kinds"


class Plain(Bernoulli4):
    def __init__(self, rate: float = 1.0, size: int = 3, lazy: bool = False, either: int | float = 1) -> None:
        super().__init__()
        self.given = {"rate": rate, "size": size, "lazy": lazy, "either": either}


def test_numbers_are_of_the_class_that_the_annotation_names() -> None:
    """Division of a whole number and a mean of whole numbers are others, under the same identity."""
    node = {"_target_": f"{HERE}.Plain", "rate": 2, "size": 4.0, "lazy": True, "either": 3}
    found = construct(node, "target", (Target,))
    assert repr(found.given) == "{'rate': 2.0, 'size': 4, 'lazy': True, 'either': 3}"
    with pytest.raises(UserError, match=r"target\.rate must be a number that a float can hold"):
        construct({**node, "rate": 10**400}, "target", (Target,))
    for value in ("no", 1, "yes"):
        with pytest.raises(UserError, match=rf"target\.lazy must be true or false, {value!r} was given"):
            construct({**node, "lazy": value}, "target", (Target,))


def test_a_function_that_says_what_it_returns_is_a_factory() -> None:
    assert isinstance(construct({"_target_": f"{HERE}.bits"}, "target", (Target,)), Bernoulli4)
    with pytest.raises(UserError, match=r"unsaid is no targets\.target\.Target"):
        construct({"_target_": f"{HERE}.unsaid"}, "target", (Target,))


def test_without_an_annotation_a_helper_is_ours_or_of_the_owners_package() -> None:
    def helped(path: str) -> Kernel:
        node = {"_target_": f"{HERE}.Helped", "helper": {"_target_": path}}
        found: Kernel = construct(node, "sampler", (Kernel,))
        return found

    assert type(helped(f"{HERE}.Helper").helper).__name__ == "Helper"  # type: ignore[attr-defined]
    assert isinstance(helped("samplers.discrete.gibbs.Gibbs").helper, Kernel)  # type: ignore[attr-defined]
    with pytest.raises(UserError, match=r"sampler\.helper\._target_=subprocess\.Popen is no class of this"):
        helped("subprocess.Popen")
