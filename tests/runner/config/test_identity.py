"""What makes a run the same run."""

from __future__ import annotations

from pathlib import Path

import pytest

from runner.config.compose import compose
from runner.config.values import seeds_of
from runner.models.identity import tuning_id
from runner.models.model_files import save_model
from runner.store.short_hash import canonical, short_hash
from runner.tasks.run_identity import run_identity, run_ids
from targets import RBM, ResNetEBM


def ids(*overrides: str, device: str = "cpu") -> dict[int, str]:
    config = compose(overrides)
    return run_ids(config, device, seeds_of(config))


def test_an_id_is_a_short_hash_that_does_not_change_by_itself() -> None:
    (run_id,) = ids().values()
    assert len(run_id) == 16
    assert int(run_id, 16) >= 0
    assert ids() == {0: run_id}


def test_canonical_json_is_pinned() -> None:
    assert (
        short_hash({"b": [1.0, None], "a": 0}) == short_hash({"a": 0, "b": (1, None)}) == "78e2e70fcd9fd3b3"
    )


@pytest.mark.parametrize(
    "override",
    [
        "output_root=another",
        "logger=wandb",
        "checkpoint.seconds=1",
        "checkpoint.steps=7",
        "hydra/launcher=joblib",
        "threads=2",
    ],
)
def test_what_changes_no_number_changes_no_id(override: str) -> None:
    assert ids(override) == ids()


def test_a_scale_matters_only_by_what_it_sets() -> None:
    sizes = ("task.steps=2000", "task.chains=100", "task.record=8", "tuning.effort=1")
    written_out = ids("scale=smoke", *sizes)
    assert written_out == ids("scale=quick")
    assert ids("scale=smoke") != ids("scale=quick")


@pytest.mark.parametrize(
    "override",
    [
        "target=mos",
        "target.components=6",
        "sampler=dmala",
        "sampler.swap.intensity=0",
        "task.burn_in=0",
        "task.record=3",
        "metric=tv",
        "dtype=float64",
    ],
)
def test_what_can_change_a_number_changes_the_id(override: str) -> None:
    assert ids(override)[0] != ids()[0]


def test_the_device_type_is_part_of_a_run() -> None:
    assert ids(device="cuda") != ids(device="cpu")


def test_an_id_changed_with_the_streams_of_large_seeds_and_no_other() -> None:
    plain = run_identity(compose(["seed=0"]), "cpu")
    found = ids("seed=[4095,4096]")
    assert found[4095] == short_hash({**plain, "seed": 4095})
    assert found[4096] != short_hash({**plain, "seed": 4096})


def test_a_text_counts_by_its_content_and_not_by_its_place(tmp_path: Path) -> None:
    one, other = tmp_path / "one.txt", tmp_path / "other.txt"
    one.write_text("the cat sat on the mat")
    other.write_text("the cat sat on the mat")
    named, elsewhere = (
        (
            ids("target=ngram", f"target.text={path}"),
            tuning_id(compose(["target=ngram", f"target.text={path}"]), "cpu"),
        )
        for path in (one, other)
    )
    assert named == elsewhere
    one.write_text("the dog sat on the mat")
    edited = compose(["target=ngram", f"target.text={one}"])
    assert ids("target=ngram", f"target.text={one}") != named[0]
    assert tuning_id(edited, "cpu") != named[1]
    assert ids("target=ngram") != ids("target=ngram", f"target.text={one}") != elsewhere[0]


def test_falsy_values_count() -> None:
    assert ids("seed=0")[0] != ids("seed=1")[1]
    assert ids("task.burn_in=0") != ids("task.burn_in=1")
    assert short_hash({"a": 0}) != short_hash({"a": None}) != short_hash({"a": False})
    assert short_hash({"a": 0}) != short_hash({})


def test_numbers_that_are_equal_are_the_same() -> None:
    one = ids("sampler=dmala", "sampler.step_size=1")
    assert (
        one == ids("sampler=dmala", "sampler.step_size=1.0") == ids("sampler=dmala", "sampler.step_size=1e0")
    )
    assert canonical({"a": (1.0, 2.5, True)}) == {"a": [1, 2.5, True]}


def test_neither_order_nor_other_seeds_matter() -> None:
    several = ids("seed=[2,0,1]")
    assert list(several) == [2, 0, 1]
    assert all(ids(f"seed={seed}")[seed] == run_id for seed, run_id in several.items())


def test_a_tuning_result_belongs_to_sampler_and_target_alone() -> None:
    def name(*overrides: str) -> str:
        return tuning_id(compose(overrides), "cpu")

    assert name() == name("seed=4") == name("task.steps=7") == name("metric=tv")
    assert len({name(), name("target=mos"), name("sampler=dmala"), name("dtype=float64")}) == 4


TRANSITION = ("task.ais.repeats=2", "task.ais.sampler.step_size=0.2")


@pytest.mark.parametrize("override", TRANSITION)
def test_how_other_models_anneal_is_no_part_of_an_rbm_s_likelihood(override: str, tmp_path: Path) -> None:
    rbm, network = tmp_path / "rbm.safetensors", tmp_path / "network.safetensors"
    save_model(rbm, RBM(9, 2), {"dataset": "digits"})
    save_model(network, ResNetEBM(9, width=2, blocks=1, halvings=0), {"dataset": "digits"})
    learn, evaluate = ("task=learn", "sampler=dmala", "target.dataset=digits"), ("task=evaluate",)
    assert ids(*learn, "target=rbm", override) == ids(*learn, "target=rbm")
    assert ids(*evaluate, f"model={rbm}", override) == ids(*evaluate, f"model={rbm}")
    assert ids(*learn, "target=resnet_ebm", override) != ids(*learn, "target=resnet_ebm")
    assert ids(*evaluate, f"model={network}", override) != ids(*evaluate, f"model={network}")
    assert ids(*learn, "target=rbm", "task.ais.chains=7") != ids(*learn, "target=rbm")


def test_a_class_that_moves_keeps_its_runs_and_a_users_own_enters_by_its_path() -> None:
    assert canonical({"_target_": "samplers.discrete.dmala.DMALA"}) == {"_target_": "DMALA"}
    assert canonical({"kernel": {"_target_": "samplers.dmala.DMALA"}}) == {"kernel": {"_target_": "DMALA"}}
    assert canonical({"_target_": "mine.dmala.DMALA"}) == {"_target_": "mine.dmala.DMALA"}
