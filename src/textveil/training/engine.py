"""DP-SGD: the round loop, written once. Sample, clip and sum, add noise once, divide by the public batch, update.

Claim. `fit` runs exactly the plan: its event prices it. What leaves the loop is the noisy sum of each update and what
is computed from it. Losses and norms are private and are neither returned nor shown.
- A virtual batch of any size costs the memory of one micro-batch: clipped sums of micro-batches add up in one buffer.
- Noise is drawn once per update, however many micro-batches, shards' noises together (sigma * sqrt(P)); a Poisson batch
  without anybody is an update of noise alone.
- The sum is divided by the expected public batch, never by the number that came.
- An example whose gradient is not finite contributes nothing and moves nobody else's part: halving its micro-batch
  until it stands alone leaves the others as they are without it.
- What a net draws at random for an example (masked places) comes from the same source as the noise, example by example
  (`draw`); dropout comes from torch's generator, which is seeded from that source at every update, so that no known
  state lets one example move the draws of the others.
What a net offers: `collate(list_of_examples) -> batch`, `losses(batch) -> (examples,)` and, if it can, `length(example)
-> int` (examples of like length then share a micro-batch; the sum is the same) and `draw(example, source)` (the example
with what is drawn for it). With unit "user", an example is the list of a user's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import torch

from textveil.accounting.account import unrecorded
from textveil.accounting.journal import Journal
from textveil.core import BadInput, Event
from textveil.core.params import needs, positive_integer
from textveil.core.units import Unit
from textveil.nets.net_checks import check_precision, check_unchanged, marks
from textveil.noise import Source

from .checkpoints import Checkpoint
from .clipping_explicit import add_clipped_units, verify, verify_user
from .clipping_tape import NotFinite, Recorder
from .gaussian import add_gaussian
from .interrupts import Interrupts
from .optimisers import Average, make_optimiser
from .plan import Phase, TrainingPlan
from .sampler import Sampler
from .schedules import rate_factor
from .spent import Spent

_TRIED = 30  # examples, at most, among which three with finite gradients are looked for


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
    micro_batch and micro_tokens bound what is in memory at once; source: secure and on no account
    unless given (a seeded one, or a seed, makes a draft).
    """

    def __init__(
        self,
        net: Any,
        plan: TrainingPlan,
        *,
        optimiser: str = "adamw",
        rate: float,
        rate_schedule: str = "constant",
        warmup: int = 0,
        momentum: float = 0.0,
        decay: float = 0.0,
        average: float | None = None,
        source: Source | None = None,
        seed: int | None = None,
        micro_batch: int = 128,
        micro_tokens: int = 1536,
        delta: float = 1e-5,
    ) -> None:
        needs("training", "torch")
        self.net, self.plan, self.delta = net, plan, delta
        self._given_source, self._seed = source, seed
        self.micro_batch = positive_integer("micro_batch", micro_batch)
        self.micro_tokens = positive_integer("micro_tokens", micro_tokens)
        self.rate, self.rate_schedule, self.warmup = rate, rate_schedule, warmup
        rate_factor(rate_schedule, 0, plan.steps, warmup)  # refuses an unknown name before anything is charged
        self.parameters = [p for p in net.parameters() if p.requires_grad]
        if not self.parameters:
            raise BadInput("the net has no parameter that learns")
        if any(p.device.type != "cpu" for p in self.parameters):
            raise BadInput("the engine draws its noise on the processor", possible="net.cpu()")
        check_precision(net)
        self._has_run = False
        self.optimiser = make_optimiser(optimiser, self.parameters, rate, momentum=momentum, decay=decay)
        self.average = Average(self.parameters, average) if average is not None else None
        self._flat = torch.zeros(sum(p.numel() for p in self.parameters), dtype=self.parameters[0].dtype)
        pieces = torch.split(self._flat, [p.numel() for p in self.parameters])
        self.sums = {p: piece.view_as(p) for p, piece in zip(self.parameters, pieces, strict=True)}

    @cached_property
    def source(self) -> Source:
        """Where all draws come from: made when the first one is needed, so that a trainer can be built to check a plan."""
        return unrecorded(self._seed) if self._given_source is None else self._given_source

    @cached_property
    def _dropout_seeds(self) -> Source:
        return self.source.spawn(1)[0]

    def fit(
        self,
        examples: Sequence[Any],
        *,
        progress: Callable[[Progress], None] | None = None,
        checkpoint: Path | None = None,
        journal: Journal | None = None,
        save_every: int = 100,
        charge_repeated: Callable[[Event], None] | None = None,
    ) -> History:
        """Run the plan on the examples, once. The plan itself is charged by the caller, before; `charge_repeated` is called
        with the event of steps that a stopped run had begun and lost, before they are done again. `journal` counts the steps
        that are begun; without one the checkpoint has its own."""
        if self._has_run:
            raise BadInput(
                "this trainer has run its plan: running it again would cost the price of both together",
                possible="a new trainer for a new net, or a plan with more steps",
            )
        self._has_run = True
        sampler = Sampler(self.plan, len(examples), self.source)
        if checkpoint is None:
            return self._run(examples, sampler, None, progress, save_every, charge_repeated)
        with closing(Checkpoint(checkpoint, self.plan, examples, journal)) as saved:
            return self._run(examples, sampler, saved, progress, save_every, charge_repeated)

    def _run(
        self,
        examples: Sequence[Any],
        sampler: Sampler,
        saved: Checkpoint | None,
        progress: Callable[[Progress], None] | None,
        save_every: int,
        charge_repeated: Callable[[Event], None] | None,
    ) -> History:
        if saved is None or not saved.step:
            self._verify(examples)
        spent = Spent(self.plan, self.delta, self._resume(saved, charge_repeated))
        resting = marks(self.net)
        self.net.train()
        recorder = Recorder(self.net)
        try:
            with torch.random.fork_rng(devices=[]), Interrupts() as interrupts:
                for step in range(saved.step if saved else 0, self.plan.steps):
                    self._step(step, sampler, recorder, examples, spent, saved)
                    stopped = interrupts.asked
                    if saved and (stopped or (step + 1) % save_every == 0 or step + 1 == self.plan.steps):
                        self._save(saved, step + 1)
                    if stopped:
                        raise KeyboardInterrupt
                    if progress:
                        progress(Progress(step + 1, self.plan.steps, spent.so_far(), self.delta))
        finally:
            recorder.close()
            self.optimiser.zero_grad(set_to_none=True)
        check_unchanged(resting, marks(self.net))
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
        torch.manual_seed(int(self._dropout_seeds.words(1)[0] >> 1))
        self.accumulate(recorder, [self._drawn(examples[i]) for i in sampler.draw(phase)])
        self.update(step, phase)

    def _drawn(self, example: Any) -> Any:
        """An example (or a user's list) with whatever the net draws for it."""
        draw = getattr(self.net, "draw", None)
        if draw is None:
            return example
        if self.plan.unit is Unit.USER:
            return [draw(own, self.source) for own in example]
        return draw(example, self.source)

    def accumulate(self, recorder: Recorder, sample: list[Any]) -> None:
        """The clipped sum of a sample, into the (empty) buffer, one micro-batch at a time."""
        self._flat.zero_()
        if self.plan.unit is Unit.USER:
            add_clipped_units(self.net, self.parameters, sample, self.plan.clip, self.sums, self.micro_batch)
            return
        for some in self.micro_batches(sample):
            self._add(recorder, some)

    def _add(self, recorder: Recorder, some: list[Any]) -> None:
        """Add the clipped gradients of these examples; one whose gradient is not finite is found by halving and left out."""
        norms = recorder.add_clipped(self.net.collate(some), len(some), self.plan.clip, self.sums)
        if len(some) > 1 and not bool(torch.isfinite(norms).all()):
            self._add(recorder, some[: len(some) // 2])
            self._add(recorder, some[len(some) // 2 :])

    def update(self, step: int, phase: Phase) -> None:
        """Noise once, the public batch, and the optimiser. Weights that overflow stop the run: they are released values."""
        add_gaussian(self._flat, self.plan.multiplier(phase) * self.plan.clip, self.source)
        self._flat.div_(phase.batch)
        for p in self.parameters:
            p.grad = self.sums[p]
        for group in self.optimiser.param_groups:
            group["lr"] = self.rate * rate_factor(self.rate_schedule, step, self.plan.steps, self.warmup)
        self.optimiser.step()
        if not all(bool(torch.isfinite(p.detach().sum())) for p in self.parameters):
            raise NotFinite(
                f"the weights are not finite after step {step + 1} of {self.plan.steps}: the run stopped, "
                "and what it was charged stays charged",
                possible="a smaller rate or clip",
            )
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
        """Try the net on the first examples that have finite gradients (none of them may stop the run by themselves)."""
        if self.plan.unit is Unit.USER:
            if first := next((unit for unit in examples if len(unit)), None):
                verify_user(self.net, list(first[: self.micro_batch]))
            return
        for start in range(0, min(len(examples), _TRIED), 3):
            try:
                return verify(self.net, list(examples[start : start + 3]))
            except NotFinite:
                if start + 3 >= min(len(examples), _TRIED):
                    raise

    def _resume(self, saved: Checkpoint | None, pay_again: Callable[[Event], None] | None) -> list[int]:
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
        if any(lost) and pay_again is not None:
            pay_again(self.plan.event(begun=lost))
        self._save(saved, saved.step)  # from here on the lost steps count as charged
        return saved.begun()

    def _save(self, saved: Checkpoint, step: int) -> None:
        average = self.average.state() if self.average else None
        saved.save(step, net=self.net.state_dict(), optimiser=self.optimiser.state_dict(), average=average)
