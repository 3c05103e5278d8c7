"""Sequences with hidden parts against sums written out, autograd and enumeration."""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path

import pytest
import torch
from torch import Tensor

from targets import FactorialHMM, LetterInfilling, Streams
from targets.sequences.character_counts import LETTERS, letter_log_probs, letters_of, read_text
from tests.support.error_message import error_message


def written_out(model: FactorialHMM, bits: list[list[int]]) -> float:
    """log p(x, y), term by term, for bits ``[time][chain]``."""
    total = -model.chains * math.log(2)
    for before, after in pairwise(bits):
        total += sum(math.log(0.8 if a == b else 0.2) for a, b in zip(before, after, strict=True))
    for row, seen in zip(bits, model.observations.tolist(), strict=True):
        mean = sum(w * x for w, x in zip(model.weights.tolist(), row, strict=True))
        total -= 0.5 * ((seen - mean) / 0.7) ** 2 + math.log(0.7 * math.sqrt(2 * math.pi))
    return total


def small_hmm() -> FactorialHMM:
    return FactorialHMM(length=4, chains=2, stay=0.8, noise=0.7, instance_seed=1)


def test_the_joint_density_of_hidden_chains_and_observations_is_its_terms() -> None:
    model = small_hmm()
    states = model.space.states()[::17]
    expected = [written_out(model, state.reshape(4, 2).long().tolist()) for state in states]
    assert model.log_prob(states).tolist() == pytest.approx(expected, abs=1e-12)


def test_the_sum_over_all_hidden_chains_is_the_likelihood() -> None:
    model = small_hmm()
    for beta in (1.0, 0.3, 0.0):
        every = (beta * model.log_prob(model.space.states())).logsumexp(0)
        assert float(model.log_partition(beta)) == pytest.approx(float(every), abs=1e-12)


def test_observations_come_from_chains_that_stay_and_normal_noise() -> None:
    """Shares and deviations of 20,000 observations; each within 5 standard errors: false alarm 6e-7 each."""
    model = FactorialHMM(length=20_000, chains=1, stay=0.9, noise=0.01)
    hidden = (model.observations / model.weights[0]).round()
    assert set(hidden.tolist()) == {0.0, 1.0}
    stays = float((hidden[1:] == hidden[:-1]).double().mean())
    assert abs(stays - 0.9) < 5 * (0.09 / 20_000) ** 0.5
    noise = float((model.observations - hidden * model.weights[0]).std())
    assert abs(noise - 0.01) < 5 * 0.01 / (2 * 20_000) ** 0.5


PASSAGES = {
    2: LetterInfilling(order=2, length=7, masked=0.3, instance_seed=3),
    3: LetterInfilling(order=3, length=8, masked=0.25, instance_seed=3),
    4: LetterInfilling(order=4, length=9, masked=0.25, instance_seed=4),
}


@pytest.mark.parametrize("order", PASSAGES)
def test_the_density_of_a_passage_is_the_product_over_its_letters(order: int) -> None:
    target = PASSAGES[order]
    theta = target.initial((5,), torch.Generator().manual_seed(0))
    for state, found in zip(theta, target.log_prob(theta).tolist(), strict=True):
        letters = target.passage.tolist()
        for place, letter in zip(target.places.tolist(), state.argmax(-1).tolist(), strict=True):
            letters[place] = letter
        windows = [tuple(letters[i : i + order]) for i in range(len(letters) - order + 1)]
        assert found == pytest.approx(sum(float(target.table[window]) for window in windows), abs=1e-12)


@pytest.mark.parametrize("masked", [0.25, 1.0])
def test_the_gradient_of_a_passage_is_that_of_its_multilinear_extension(masked: float) -> None:
    target = LetterInfilling(order=3, length=8, masked=masked, instance_seed=3)
    theta = target.initial((6,), torch.Generator().manual_seed(1)).requires_grad_(True)
    fixed = torch.nn.functional.one_hot(target.passage, len(LETTERS)).double()
    letters = fixed.expand(6, -1, -1).index_copy(1, target.places, theta)
    first, second, third = letters[:, :-2], letters[:, 1:-1], letters[:, 2:]
    log_prob = torch.einsum("btx,bty,btz,xyz->b", first, second, third, target.table)
    (expected,) = torch.autograd.grad(log_prob.sum(), theta)
    found, grad = target.log_prob_and_grad(theta.detach())
    torch.testing.assert_close(found, log_prob.detach(), rtol=0, atol=1e-10)
    torch.testing.assert_close(grad, expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize("order", PASSAGES)
def test_the_sum_over_all_missing_letters_is_enumerated(order: int) -> None:
    target = PASSAGES[order]
    for beta in (1.0, 0.4):
        every = (beta * target.log_prob(target.space.states())).logsumexp(0)
        assert float(target.log_partition(beta)) == pytest.approx(float(every), abs=1e-10)


def largest_cdf_gap(target: FactorialHMM | LetterInfilling, draws: int) -> float:
    """Largest difference of the distribution functions of exact draws and of all states."""
    theta = target.sample((1, draws), Streams([5], "chain"))
    assert theta.shape == (1, draws, *target.space.event_shape)
    assert bool(target.space.contains(theta).all())
    counts = target.space.index(theta).flatten().bincount(minlength=target.space.size)
    return float((counts.double() / draws - target.probabilities()).cumsum(0).abs().max())


@pytest.mark.parametrize("name", ["hmm", *PASSAGES])
def test_exact_draws_have_the_enumerated_probabilities(name: str | int) -> None:
    """The band of Dvoretzky, Kiefer and Wolfowitz: false alarm 1e-6; gaps above 0.02 are found."""
    target = small_hmm() if name == "hmm" else PASSAGES[int(name)]
    draws = 20_000
    assert largest_cdf_gap(target, draws) < (math.log(2 / 1e-6) / (2 * draws)) ** 0.5


def test_exact_draws_of_one_seed_do_not_depend_on_the_others() -> None:
    for target in (small_hmm(), PASSAGES[3]):
        both, one = (target.sample((len(seeds), 4), Streams(seeds, "chain")) for seeds in ([2, 7], [7]))
        assert torch.equal(both[1:], one)


def words_of(places: Tensor) -> str:
    """The text of places ``(length,)`` in `LETTERS`."""
    return "".join(LETTERS[place] for place in places.tolist())


def test_letters_are_counted_after_the_letters_before_them() -> None:
    letters = letters_of("Ab, abBA!")
    assert words_of(letters) == "ab abba"
    table = letter_log_probs(letters, 2, 0.5)
    # After "a" come "b" twice and the end once; after "b" come "a", "b" and a space once each.
    a, b, gap = (LETTERS.index(letter) for letter in "ab ")
    assert math.exp(table[a, b]) == pytest.approx(2.5 / (2 + 13.5))
    assert math.exp(table[b, a]) == pytest.approx(1.5 / (3 + 13.5))
    assert math.exp(table[b, gap]) == pytest.approx(1.5 / (3 + 13.5))
    assert math.exp(table[LETTERS.index("z"), a]) == pytest.approx(1 / 27)
    assert torch.allclose(letter_log_probs(letters, 3, 0.1).logsumexp(-1), torch.zeros(27, 27).double())


def test_the_text_is_the_licence_or_a_file(tmp_path: Path) -> None:
    assert "Apache License" in read_text(None)
    assert words_of(letters_of(read_text(None)))[:14] == "apache license"
    (tmp_path / "own.txt").write_text("one two three four")
    target = LetterInfilling(str(tmp_path / "own.txt"), length=18, masked=0.2)
    assert words_of(target.filled(true_letters(target))) == "one two three four"


def test_a_text_may_be_below_the_home_folder_and_must_be_in_utf_8(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "own.txt").write_text("one two")
    assert read_text("~/own.txt") == "one two"
    (tmp_path / "own.txt").write_text("one two", encoding="utf-16-le")
    said = error_message(ValueError, read_text, "~/own.txt")
    assert said == "text must be a file in UTF-8, '~/own.txt' has characters of value 0"


def true_letters(target: LetterInfilling) -> Tensor:
    return target.space.from_levels(target.passage[target.places], torch.float64)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"order": 1}, "order must be a number from 2 to 4, 1 was given"),
        ({"order": 5}, "order must be a number from 2 to 4, 5 was given"),
        ({"length": 2}, "length must be a whole number of at least 3, 2 was given"),
        ({"masked": 1.5}, "masked must be a number from 0 to 1, 1.5 was given"),
        ({"masked": 0}, "masked must leave a letter of 100 to fill in, 0 was given"),
        ({"masked": 0.004}, "masked must leave a letter of 100 to fill in, 0.004 was given"),
        ({"smoothing": 0}, "smoothing must be a positive number, 0 was given"),
        ({"text": "/nowhere"}, "text must be a file that can be read as UTF-8, '/nowhere' was given"),
    ],
)
def test_what_is_no_passage_is_refused(given: dict[str, object], sentence: str) -> None:
    assert error_message(ValueError, LetterInfilling, **given) == sentence


def test_a_passage_that_is_longer_than_its_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "own.txt").write_text("short")
    said = error_message(ValueError, LetterInfilling, text=str(tmp_path / "own.txt"))
    assert said == "length must be at most that of the text, 5; 100 was given"


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"length": 0}, "length must be a whole number of at least 1, 0 was given"),
        ({"chains": 0}, "chains must be a whole number of at least 1, 0 was given"),
        ({"stay": 1.0}, "stay must be a probability strictly between 0 and 1, 1.0 was given"),
        ({"stay": 0.0}, "stay must be a probability strictly between 0 and 1, 0.0 was given"),
        ({"noise": -1.0}, "noise must be a positive number, -1.0 was given"),
    ],
)
def test_what_is_no_hidden_markov_model_is_refused(given: dict[str, object], sentence: str) -> None:
    assert error_message(ValueError, FactorialHMM, **given) == sentence


def test_sums_over_too_many_hidden_chains_are_refused() -> None:
    said = error_message(ValueError, FactorialHMM(length=2, chains=13).log_partition)
    assert said == "exact sums take at most 12 hidden chains, 13 were given"
