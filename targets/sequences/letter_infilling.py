"""Filling in missing letters of a passage under an n-gram model of letters."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from targets.checks import positive_number, whole_number, within
from targets.multilinear import Multilinear
from targets.randomness import Generator, derive_seed, draw_index, uniform
from targets.sequences.character_counts import LETTERS, letter_log_probs, letters_of, read_text
from targets.spaces import Categorical

HIGHEST_ORDER = 4
"""Its table has half a million entries."""

FORBIDDEN = -1e6
"""Log density of a letter other than the one that is there."""


class LetterInfilling(Multilinear):
    """U = sum_t log p(c_t | c_t-n+1 .. c_t-1) over a passage, whose masked letters are the state.

    The probabilities are counted from a text, and the passage is a part of it. All sums over the masked
    letters are exact (`log_partition`, `sample`), by forward filtering over the n - 1 letters before.

    Spaces: categorical.
    Source: Shannon (1948), section 3; additive smoothing as in Chen and Goodman (1999), Eq. 3.

    Args:
        text: a file; None for the licence of this project. Letters become lower case, and what is between
            two words one space.
        order: n, from 2 to 4.
        length: letters of the passage.
        masked: share of its letters that are missing.
        smoothing: added to each count.
        instance_seed: of the passage and of what is missing.

    Attributes:
        table: log p(c_t | c_t-n+1 .. c_t-1), ``(27, .., 27)``.
        passage: the true letters, ``(length,)``, int64.
        places: where letters are missing, ``(d,)``, int64, ascending.

    Raises:
        ValueError: if an argument is out of its range, or the text is shorter than the passage.
    """

    space: Categorical
    table: Tensor
    passage: Tensor
    places: Tensor
    _digits: Tensor

    def __init__(
        self,
        text: str | None = None,
        order: int = 3,
        length: int = 100,
        masked: float = 0.5,
        smoothing: float = 0.1,
        instance_seed: int = 0,
    ) -> None:
        super().__init__()
        self.order = int(within("order", whole_number("order", order), 2, HIGHEST_ORDER))
        whole_number("length", length, order)
        whole_number("instance_seed", instance_seed, 0)
        missing = round(length * within("masked", masked, 0.0, 1.0))
        if not missing:
            raise ValueError(f"masked must leave a letter of {length} to fill in, {masked} was given")
        letters = letters_of(read_text(text))
        if len(letters) < length:
            raise ValueError(f"length must be at most that of the text, {len(letters)}; {length} was given")
        generator = torch.Generator().manual_seed(derive_seed(instance_seed, "passage"))
        like = torch.empty(0, dtype=torch.float64)
        start = int(uniform(generator, (), like=like) * (len(letters) - length + 1))
        places = uniform(generator, (length,), like=like).argsort()[:missing].sort().values
        self.space = Categorical(missing, len(LETTERS))
        table = letter_log_probs(letters, order, positive_number("smoothing", smoothing))
        self.register_buffer("table", table)
        self.register_buffer("passage", letters[start : start + length])
        self.register_buffer("places", places)
        self.register_buffer("_digits", len(LETTERS) ** torch.arange(order - 1, -1, -1))

    def filled(self, theta: Tensor) -> Tensor:
        """The passage with the letters of `theta` in it, ``(*batch, length)``, int64."""
        passage = self.passage.expand(*self.space.batch_shape(theta), -1)
        return passage.index_copy(-1, self.places, self.space.to_levels(theta))

    def log_prob(self, theta: Tensor) -> Tensor:
        """U; not differentiable, since the table is looked up."""
        return self._looked_up(self._windows(self.filled(theta))).sum(-1)

    def log_prob_and_grad(self, theta: Tensor) -> tuple[Tensor, Tensor]:
        """U and the gradient of its multilinear extension, ``(*batch, d, 27)``."""
        passage = self.filled(theta)
        windows = self._windows(passage)
        grad = torch.zeros_like(theta)
        letters = torch.arange(len(LETTERS), device=theta.device)
        for position in range(self.order):
            # The window in which a masked letter has this position begins so many places before it.
            begin = self.places - position
            inside = (begin >= 0) & (begin < windows.shape[-1])
            place = begin.clamp(0, windows.shape[-1] - 1)
            digit = self._digits[position]
            others = (windows[..., place] - digit * passage[..., self.places]) * inside
            looked_up = self._looked_up(others.unsqueeze(-1) + digit * letters)
            grad.add_(looked_up * inside.unsqueeze(-1).to(looked_up))
        return self._looked_up(windows).sum(-1), grad

    def _windows(self, passage: Tensor) -> Tensor:
        """Place in the table of every n letters in a row, ``(*batch, length - n + 1)``."""
        return (passage.unfold(-1, self.order, 1) * self._digits).sum(-1)

    def _looked_up(self, index: Tensor) -> Tensor:
        return self.table.flatten().index_select(0, index.flatten()).reshape(index.shape)

    def log_partition(self, beta: Tensor | float = 1.0) -> Tensor:
        """log sum exp(beta U), exact, a scalar, float64."""
        beta = torch.as_tensor(beta, dtype=torch.float64, device=self.table.device)
        return self._forward(beta)[-1].flatten().logsumexp(0)

    def sample(self, shape: Sequence[int], generator: Generator) -> Tensor:
        """Independent draws ``(*shape, d, 27)``, by forward filtering and backward sampling."""
        beta = torch.ones((), dtype=torch.float64, device=self.table.device)
        forward, table = self._forward(beta), self.table.double().reshape(len(LETTERS), -1)
        numbers = uniform(generator, shape, (len(forward),), like=beta)
        size, context = len(LETTERS), len(LETTERS) ** (self.order - 1)
        last = draw_index(forward[-1].flatten().softmax(0), numbers[..., -1])
        # The letters of a window from its first, which the backward pass draws, to its last.
        drawn = [last // (self._digits[position + 1]) % size for position in range(self.order - 1)][::-1]
        for time in range(len(forward) - 2, -1, -1):
            message = forward[time].reshape(size, -1)
            # `last` holds the n - 1 letters that end one place later; all but the last of them are here.
            weights = message[:, last // size] + table[:, last]
            first = draw_index(weights.movedim(0, -1).softmax(-1), numbers[..., time])
            drawn.append(first)
            last = first * (context // size) + last // size
        letters = torch.stack(drawn[::-1], -1)
        return self.space.from_levels(letters[..., self.places], self.table.dtype)

    def _forward(self, beta: Tensor) -> list[Tensor]:
        """log sums over all letters before n - 1 in a row, by these, one for each place where they begin."""
        table, size = beta * self.table.double(), len(LETTERS)
        # Minus infinity would give derivatives that are NaN; this is zero after exp, too.
        allowed = table.new_full((len(self.passage), size), FORBIDDEN)
        allowed[torch.arange(len(self.passage), device=table.device), self.passage] = 0.0
        allowed[self.places] = 0.0
        message = table.new_zeros(())
        for place in range(self.order - 1):
            message = message.unsqueeze(-1) + allowed[place]
        messages = [message]
        for row in allowed[self.order - 1 :]:
            messages.append((messages[-1].unsqueeze(-1) + table).logsumexp(0) + row)
        return messages
