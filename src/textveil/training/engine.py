"""DP-SGD: the round loop, written once. Sample, clip and sum, add noise once, divide by the public batch, update.

Claim. `fit` runs exactly the plan: its event prices it. What leaves the loop is the noisy sum of each update and what
is computed from it. Losses and norms are private and are neither returned nor shown.
- A virtual batch of any size costs the memory of one micro-batch: clipped sums of micro-batches add up in one buffer.
- Noise is drawn once per update, however many micro-batches, shards' noises together (sigma * sqrt(P)); a Poisson batch
  without anybody is an update of noise alone.
- The sum is divided by the expected public batch, never by the number that came.
What a net offers: `collate(list_of_examples) -> batch`, `losses(batch) -> (examples,)` and, if it can, `length(example)
-> int` (examples of like length then share a micro-batch; the sum is the same). With unit "user", an example is the
list of a user's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from textveil.core import BadInput, Event
from textveil.core.params import needs, positive_integer
from textveil.core.units import Unit
from textveil.noise import Source, secure

from .checkpoints import Checkpoint
from .clipping_explicit import add_clipped_units, verify
from .clipping_tape import NotFinite, Recorder
from .gaussian import add_gaussian
from .optimisers import Average, make_optimiser
from .plan import Phase, Plan
from .sampler import Sampler
from .schedules import rate_factor
from .spent import Spent


@dataclass(frozen=True)
class Progress:
    """Where a run is: updates done, and the epsilon that they cost so far."""

    step: int
    steps: int
    epsilon: float
    delta: float


@dataclass(frozen=True)
class History:
    """What a run did, in public facts: the event of all steps begun (those done again too) and its price."""

    steps: int
    repeated: int
    event: Event
    epsilon: float
    delta: float
    draft: bool


class PrivateTrainer:
    """Trains a net under a plan.

    rate: the step size, `rate_schedule` (constant, linear, cosine) and `warmup` shape it; decay: of the weights;
    average: decay of the average of iterates (0.99, say), which the net takes at the end; None keeps the last iterate.
    micro_batch and micro_tokens bound what is in memory at once; source: secure unless given (a seeded one makes a draft).
    """

    def __init__(
        self,
        net: Any,
        plan: Plan,
        *,
        optimiser: str = "adamw",
        rate: float,
        rate_schedule: str = "constant",
        warmup: int = 0,
        momentum: float = 0.0,
        decay: float = 0.0,
        average: float | None = None,
        source: Source | None = None,
        micro_batch: int = 128,
        micro_tokens: int = 1536,
        delta: float = 1e-5,
    ) -> None:
        needs("training", "torch")
        self.net, self.plan, self.delta = net, plan, delta
        self.source = source if source is not None else secure()
        self.micro_batch = positive_integer("micro_batch", micro_batch)
        self.micro_tokens = positive_integer("micro_tokens", micro_tokens)
        self.rate, self.rate_schedule, self.warmup = rate, rate_schedule, warmup
        rate_factor(rate_schedule, 0, plan.steps, warmup)  # refuses an unknown name before anything is charged
        self.parameters = [p for p in net.parameters() if p.requires_grad]
        if not self.parameters:
            raise BadInput("the net has no parameter that learns")
        if any(p.device.type != "cpu" for p in self.parameters):
            raise BadInput("the engine draws its noise on the processor", possible="net.cpu()")
        self.optimiser = make_optimiser(optimiser, self.parameters, rate, momentum=momentum, decay=decay)
        self.average = Average(self.parameters, average) if average is not None else None
        self._flat = torch.zeros(sum(p.numel() for p in self.parameters), dtype=self.parameters[0].dtype)
        pieces = torch.split(self._flat, [p.numel() for p in self.parameters])
        self.sums = {p: piece.view_as(p) for p, piece in zip(self.parameters, pieces, strict=True)}

    def fit(
        self,
        examples: Sequence[Any],
        *,
        progress: Callable[[Progress], None] | None = None,
        checkpoint: Path | None = None,
        save_every: int = 100,
        charge_repeated: Callable[[Event], None] | None = None,
    ) -> History:
        """Run the plan on the examples. The plan itself is charged by the caller, before; `charge_repeated` is called with
        the event of steps that a stopped run had begun and lost, before they are done again."""
        sampler = Sampler(self.plan, len(examples), self.source)
        saved = Checkpoint(checkpoint, self.plan, examples) if checkpoint is not None else None
        if saved is None or not saved.step:
            self._verify(examples)
        spent = Spent(self.plan, self.delta, self._resume(saved, charge_repeated))
        self.net.train()
        recorder = Recorder(self.net)
        try:
            for step in range(saved.step if saved else 0, self.plan.steps):
                self._step(step, sampler, recorder, examples, spent, saved)
                if saved and ((step + 1) % save_every == 0 or step + 1 == self.plan.steps):
                    self._save(saved, step + 1)
                if progress:
                    progress(Progress(step + 1, self.plan.steps, spent.so_far(), self.delta))
        except NotFinite as error:
            raise NotFinite(
                f"{error} at step {step + 1} of {self.plan.steps}: the run stopped, and what it was charged stays charged",
                possible="a smaller rate or clip",
            ) from None
        finally:
            recorder.close()
            self.optimiser.zero_grad(set_to_none=True)
        if self.average:
            self.average.load_into_net()
        self.net.eval()
        final = spent.total()
        return History(self.plan.steps, spent.repeated, spent.event(), final, self.delta, self.source.seeded)

    def _step(
        self, step: int, sampler: Sampler, recorder: Recorder, examples: Sequence[Any], spent: Spent, saved: Any
    ) -> None:
        phase = self.plan.phase(step)
        spent.begin(step)
        if saved is not None:
            saved.begin(self.plan.phase_number(step))
        self.accumulate(recorder, [examples[i] for i in sampler.draw(phase)])
        self.update(step, phase)

    def accumulate(self, recorder: Recorder, sample: list[Any]) -> None:
        """The clipped sum of a sample, into the (empty) buffer, one micro-batch at a time."""
        self._flat.zero_()
        if self.plan.unit is Unit.USER:
            add_clipped_units(self.net, self.parameters, sample, self.plan.clip, self.sums, self.micro_batch)
            return
        for some in self.micro_batches(sample):
            recorder.add_clipped(self.net.collate(some), len(some), self.plan.clip, self.sums)

    def update(self, step: int, phase: Phase) -> None:
        """Noise once, the public batch, and the optimiser."""
        add_gaussian(self._flat, self.plan.multiplier(phase) * self.plan.clip, self.source)
        self._flat.div_(phase.batch)
        for p in self.parameters:
            p.grad = self.sums[p]
        for group in self.optimiser.param_groups:
            group["lr"] = self.rate * rate_factor(self.rate_schedule, step, self.plan.steps, self.warmup)
        self.optimiser.step()
        if self.average:
            self.average.update()

    def micro_batches(self, sample: list[Any]) -> Iterator[list[Any]]:
        """Pieces of at most micro_batch examples and, where the net tells lengths, about micro_tokens padded positions."""
        length = getattr(self.net, "length", None)
        if length is None:
            for start in range(0, len(sample), self.micro_batch):
                yield sample[start : start + self.micro_batch]
            return
        some: list[Any] = []
        for example in sorted(sample, key=length, reverse=True):  # the longest first: it sets the padded width
            if some and (len(some) == self.micro_batch or (len(some) + 1) * length(some[0]) > self.micro_tokens):
                yield some
                some = []
            some.append(example)
        if some:
            yield some

    def _verify(self, examples: Sequence[Any]) -> None:
        if self.plan.unit is not Unit.USER and len(examples) > 1:
            verify(self.net, list(examples[: min(3, len(examples))]))

    def _resume(self, saved: Checkpoint | None, charge: Callable[[Event], None] | None) -> list[int]:
        """Load what was saved; the steps of each phase begun so far."""
        if saved is None:
            return [0] * len(self.plan.phases)
        if saved.state:
            try:
                self.net.load_state_dict(saved.state["net"])
                self.optimiser.load_state_dict(saved.state["optimiser"])
            except (RuntimeError, ValueError, KeyError):
                raise BadInput("belongs to another net or optimiser", where=saved.path) from None
            if self.average and saved.state["average"]:
                self.average.load(saved.state["average"])
        lost = saved.lost()
        if any(lost) and charge is not None:
            charge(self.plan.event(begun=lost))
        self._save(saved, saved.step)  # from here on the lost steps count as charged
        return saved.begun()

    def _save(self, saved: Checkpoint, step: int) -> None:
        average = self.average.state() if self.average else None
        saved.save(step, net=self.net.state_dict(), optimiser=self.optimiser.state_dict(), average=average)
