"""The chains of the negative phase of the gradient: any kernel, on a model whose parameters change."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import replace
from math import prod
from typing import Any

import torch
from torch import Tensor

from runner.execution.compiling.compiled_stepper import stepper_from
from runner.execution.errors import RunError, one_sentence
from runner.files.checkpoint import from_plain, to_plain
from runner.models.training.draws_check import check_draws
from runner.models.training.replay_buffer import ReplayBuffer
from samplers.compiling.counter_streams import CounterStreams
from samplers.kernel import Kernel, State
from samplers.pilot_run import PilotRun
from samplers.stepper import Stepper
from samplers.tuning.tunable import Tunable, TuningResult, fixed
from targets import Streams, Target


class NegativeChains:
    """Chains of `kernel` on `model`, whose cached values are recomputed whenever the model has changed.

    Open hyperparameters are tuned to the model as it is, by `tune`, and may be tuned again while the chains
    go on: learning needs no stationarity, so that adaptation is harmless here, unlike in a recorded run
    (settings I, row 23). The kernel must not be a `prepared` one, whose tables would know the model as it
    was.

    Args:
        model: the target; its parameters change from one call to the next.
        kernel: any kernel, or what tunes it; it is to be tuned before the first step.
        seed: of the chains, their start and the tuning.
        buffer: the states from which `replay` takes its chains, where there are any.
        effort: of a pilot, as a share of the full one.
        compiled: whether steps are compiled; ``auto``: where that fails they are not. Pilots never are.

    Attributes:
        state: current state of the chains, batch ``(*kernel.axes, 1, chains)``; None before the first step.
        by_rung: means over the chains and steps of the last call: ``acceptance`` of the moves on each rung
            ``(K,)``, and ``swap_rate``, the Metropolis probability of a swap of each rung with the next
            ``(K - 1,)``; ``inverse_temperature`` ``(K,)`` of a ladder that is tuned. Empty without a ladder.
        evaluations: of the model per chain so far, all replicas and the tuning's pilots counted.
        pilot: the tuning that goes on; None where none does.
    """

    def __init__(
        self,
        model: Target,
        kernel: Kernel | Tunable,
        seed: int,
        buffer: ReplayBuffer | None = None,
        effort: float = 1.0,
        compiled: bool | str = False,
    ) -> None:
        kernel.check(model)
        check_draws(fixed(kernel))
        self.model, self.seed, self.buffer, self.effort = model, seed, buffer, effort
        self.compiled = compiled
        self.like = model.like()
        self.tunable = kernel if isinstance(kernel, Tunable) else None
        self.kernel = fixed(kernel).to(self.like)
        self.beta = torch.ones((), dtype=self.like.dtype, device=self.like.device)
        kind = CounterStreams if compiled else Streams
        self.streams: Streams = kind([seed], "training chains", self.like.device)
        self.state: State | None = None
        self._stepper: Stepper | None = None
        self.by_rung: dict[str, Tensor] = {}
        self.evaluations = 0
        self.hyperparameters: dict[str, Any] | None = None
        self._ladder: dict[str, Tensor] = {}
        self.pilot: PilotRun[TuningResult] | None = None
        self._pilot_of = 0

    @torch.no_grad()
    def tune(self, iteration: int) -> bool:
        """Goes on with the tuning to the model as it is of what the kernel leaves open; whether it is done.

        The chains stay where they are.

        Raises:
            RunError: if the kernel cannot be tuned to it.
        """
        pilot = self.pilot or self._begin_pilot(iteration)
        try:
            pilot.advance()
        except ValueError as error:
            raise RunError(
                f"The sampler cannot be tuned to the model of iteration {iteration}: {one_sentence(error)}."
            ) from error
        found = pilot.result
        if found is None:
            return False
        self.pilot = None
        self.evaluations += found.evaluations
        self._take(found.hyperparameters)
        return True

    def _begin_pilot(self, iteration: int) -> PilotRun[TuningResult]:
        assert self.tunable is not None
        streams = Streams([self.seed], f"training pilot {iteration}", self.like.device)
        self.pilot = PilotRun(self.tunable.tuning, self.model, streams, self.effort)
        self._pilot_of = iteration
        return self.pilot

    @torch.no_grad()
    def persist(self, chains: int, steps: int) -> tuple[Tensor, Tensor]:
        """`steps` steps of `chains` chains from their current states; at first from the model's `initial`.

        Returns:
            The draws ``(1, chains, *event_shape)`` and the mean acceptance, a scalar.
        """
        if self.state is None:
            state = self._begin(chains)
        else:
            state = self.kernel.refreshed(self.model, self.state, self.beta)
        return self._step(state, steps)

    @torch.no_grad()
    def restart(self, data: Tensor, steps: int) -> tuple[Tensor, Tensor]:
        """`steps` steps of chains that start at `data` ``(batch, *event_shape)``, in all replicas.

        A cyclical kernel continues its cycle. Returns the same as `persist`.
        """
        theta = data.expand(*self.kernel.axes, 1, *data.shape).contiguous()
        if self.state is None:
            state = self.kernel.start(self.model, theta, self.beta, self.streams)
        else:
            state = self._moved(self.state, theta)
        return self._step(state, steps)

    @torch.no_grad()
    def replay(self, chains: int, steps: int, iteration: int) -> tuple[Tensor, Tensor]:
        """`steps` steps of `chains` chains from the buffer, whose new states are put back.

        Auxiliary variables that all chains share (ACS's position in its cycle, the parity of swaps) continue;
        those of a single chain (replica labels, an auxiliary state) begin anew.

        Returns:
            The draws ``(1, chains, *event_shape)`` and the mean acceptance, a scalar.
        """
        buffer = self.buffer
        assert buffer is not None
        if buffer.states is None:
            buffer.begin(self.kernel.axes)
        theta = buffer.take(chains, iteration)
        if self.state is None:
            state = self.kernel.start(self.model, theta, self.beta, self.streams)
        else:
            state = self._moved(self.state, theta)
        found = self._step(state, steps)
        assert self.state is not None
        buffer.put(self.state.theta)
        return found

    def samples(self, n: int) -> Tensor:
        """Current states of at most `n` chains, of the cold replicas: ``(rows, *event_shape)``."""
        if self.state is None:
            return self.like.new_empty((0, *self.model.space.event_shape))
        return self.kernel.draws(self.state)[0, :n].clone()

    def _begin(self, chains: int) -> State:
        """Chains at independent draws of the model's `initial`."""
        start = Streams([self.seed], "training start", self.like.device)
        theta = self.model.initial((*self.kernel.axes, 1, chains), start)
        return self.kernel.start(self.model, theta, self.beta, self.streams)

    def _moved(self, state: State, theta: Tensor) -> State:
        """`state` at other states `theta`: what its chains share goes on, what belongs to one begins anew."""
        shared = {name: value for name, value in state.aux.items() if value.dim() == 0}
        anew = self.kernel.refreshed(self.model, replace(state, theta=theta, aux=shared), self.beta)
        return self.kernel.drawn(anew, self.streams)

    def _step(self, state: State, steps: int) -> tuple[Tensor, Tensor]:
        self.evaluations += prod(self.kernel.axes)
        acceptance = torch.zeros((), dtype=torch.float64, device=self.like.device)
        by_rung: dict[str, list[Tensor]] = {}
        if self._stepper is None:
            parts = self.kernel, self.model, self.beta, self.streams
            self._stepper = stepper_from(state, *parts, self.compiled)
        stepper = self._stepper
        for _ in range(steps):
            state, info = stepper(state)
            self.evaluations += info.evaluations
            acceptance += info.acceptance.mean()
            if info.swap is not None:
                by_rung.setdefault("swap_rate", []).append(info.swap.probability.flatten(1).mean(1))
            if info.rungs is not None:
                by_rung.setdefault("acceptance", []).append(info.rungs.flatten(1).mean(1))
        self.state = state
        self.by_rung = {name: torch.stack(each).mean(0) for name, each in by_rung.items()} | self._ladder
        return self.kernel.draws(state), acceptance / steps

    def _take(self, hyperparameters: Mapping[str, Any]) -> None:
        self.hyperparameters = dict(hyperparameters)
        assert self.tunable is not None
        self.kernel, self._stepper = self.tunable.kernel_at(self.hyperparameters).to(self.like), None
        if "ladder" in self.hyperparameters:
            betas = torch.tensor(self.hyperparameters["ladder"], dtype=torch.float64, device=self.like.device)
            self._ladder = {"inverse_temperature": betas}
        if self.state is not None and self.state.log_prob.shape[:-2] != self.kernel.axes:
            # The ladder has a new length: each rung gets the replica that is nearest by rank.
            old, new = self.state.theta.shape[0], self.kernel.axes[0]
            rank = torch.linspace(0, old - 1, new).round().long().to(self.like.device)
            if self.buffer is not None:
                self.buffer.reindex(rank)
            self.state = self.kernel.start(self.model, self.state.theta[rank], self.beta, self.streams)

    def state_dict(self) -> dict[str, Any]:
        """Everything that the remaining steps depend on, besides the model."""
        return {
            "state": copy.deepcopy(to_plain(self.state)),
            "streams": self.streams.state_dict(),
            "evaluations": self.evaluations,
            "hyperparameters": copy.deepcopy(self.hyperparameters),
            "buffer": None if self.buffer is None else self.buffer.state_dict(),
            "pilot": None if self.pilot is None else {"of": self._pilot_of, **self.pilot.state_dict()},
        }

    @torch.no_grad()
    def load_state_dict(self, saved: Mapping[str, Any], chains: int) -> None:
        """Continues where `saved` was, with `chains` chains.

        Raises:
            UnusableCheckpointError: if it holds the state of another kernel.
        """
        self.state = None
        if saved["hyperparameters"] is not None:
            self._take(saved["hyperparameters"])
        if saved["state"] is not None:
            self.state = from_plain(self._begin(chains), saved["state"])
        if self.buffer is not None:
            self.buffer.load_state_dict(saved["buffer"], self.kernel.axes)
        self.streams.load_state_dict(saved["streams"])
        self.evaluations = int(saved["evaluations"])
        if (pilot := saved.get("pilot")) is not None:
            self._begin_pilot(int(pilot["of"])).load_state_dict(pilot)
