"""Private training beside plain training and Opacus: `python bench/training.py [--quick]`.

One step each, in one process, interleaved, medians of paired ratios. The tagger is paper 08's: frozen 300-d vectors,
BiLSTM of 100 per direction, softmax, SGD; sentence lengths by the quantiles of CoNLL-2003 (mean 14.5, largest 113).
Plain is torch's fused LSTM on packed or on padded sentences, whichever is quicker; Opacus its DPLSTM with per-sample
gradients and DPOptimizer (stock). The encoder has MiniLM's shape (6 layers of 384, 30,522 words), random weights,
AdamW, all 22.7 M parameters learning. A DP step holds everything: norms, clipping, the secure noise, the optimiser.
Everybody has one thread (--threads N: more; on a busy machine two threads mostly wait for each other). Memory is the
largest resident size of a process of its own that does the same steps (torch itself included).
"""

# ruff: noqa: E402 (the hub is switched off before transformers can be imported)
from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

os.environ.setdefault("HF_HUB_OFFLINE", "1")
warnings.filterwarnings("ignore")

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence

from textveil.nets.lstm import LSTM
from textveil.training.clipping_tape import Recorder
from textveil.training.engine import PrivateTrainer
from textveil.training.plan import TrainingPlan

WORDS, VECTOR, HIDDEN, TAGS = 20_000, 300, 100, 9
PAPER_BATCH, BATCHES = 32, (32, 128, 256)
SHARES = (0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 0.999, 1)
LENGTHS = (1, 2, 3, 5, 7, 8, 10, 13, 19, 26, 32, 37, 46, 56, 113)  # quantiles of CoNLL-2003's sentences
TEXTS, LENGTH = 32, 64  # of the encoder


def sentences(count: int, seed: int = 0) -> list[tuple[Tensor, Tensor]]:
    rng = np.random.default_rng(seed)
    lengths = np.interp(rng.random(count), SHARES, LENGTHS).round().astype(int)
    total = int(lengths.sum())
    words = torch.from_numpy(rng.integers(2, WORDS, total, dtype=np.int32)).split(lengths.tolist())
    tags = torch.from_numpy(rng.integers(0, TAGS, total, dtype=np.int32)).split(lengths.tolist())
    return list(zip(words, tags, strict=True))


class Tagger(nn.Module):
    """`kind`: ours, packed or padded (torch's fused LSTM) or opacus (DPLSTM)."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        torch.manual_seed(1)
        self.kind = kind
        self.vectors = nn.Embedding(WORDS, VECTOR).requires_grad_(False)
        if kind == "ours":
            self.lstm: nn.Module = LSTM(VECTOR, HIDDEN, bidirectional=True)
        elif kind in ("packed", "padded"):
            self.lstm = nn.LSTM(VECTOR, HIDDEN, batch_first=True, bidirectional=True)
        else:
            from opacus.layers import DPLSTM

            self.lstm = DPLSTM(VECTOR, HIDDEN, batch_first=True, bidirectional=True)
        self.out = nn.Linear(2 * HIDDEN, TAGS)

    def collate(self, examples: list[tuple[Tensor, Tensor]]) -> dict[str, Tensor]:
        words = pad_sequence([w.long() for w, _ in examples], batch_first=True)
        tags = pad_sequence([t.long() for _, t in examples], batch_first=True, padding_value=-100)
        return {"words": words, "tags": tags, "lengths": torch.tensor([len(w) for w, _ in examples])}

    def length(self, example: tuple[Tensor, Tensor]) -> int:
        return len(example[0])

    def forward(self, batch: dict[str, Tensor]) -> Tensor:
        x = self.vectors(batch["words"])
        if self.kind == "ours":
            return self.out(self.lstm(x, batch["lengths"]))
        if self.kind == "padded":
            return self.out(self.lstm(x)[0])
        packed = pack_padded_sequence(x, batch["lengths"], batch_first=True, enforce_sorted=False)
        return self.out(pad_packed_sequence(self.lstm(packed)[0], batch_first=True)[0])

    def losses(self, batch: dict[str, Tensor]) -> Tensor:
        scores, tags = self(batch), batch["tags"]
        each = nn.functional.cross_entropy(scores.flatten(0, 1), tags.flatten(), reduction="none", ignore_index=-100)
        return each.view(tags.shape).sum(1) / batch["lengths"]


class Encoder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        from transformers import BertConfig, BertModel

        torch.manual_seed(1)
        shape = {"hidden_size": 384, "num_hidden_layers": 6, "num_attention_heads": 12, "intermediate_size": 1536}
        self.bert = BertModel(BertConfig(vocab_size=30522, **shape), add_pooling_layer=False)
        self.out = nn.Linear(384, 2)

    def collate(self, examples: list[Tensor]) -> dict[str, Tensor]:
        return {"words": torch.stack(examples)}

    def losses(self, batch: dict[str, Tensor]) -> Tensor:
        scores = self.out(self.bert(input_ids=batch["words"]).last_hidden_state[:, 0])
        return nn.functional.cross_entropy(scores, torch.zeros(len(scores), dtype=torch.long), reduction="none")


def texts(count: int = TEXTS) -> list[Tensor]:
    return list(torch.randint(0, 30522, (count, LENGTH), generator=torch.Generator().manual_seed(2)))


def plain_step(net: Any, batch: Any, optimiser: torch.optim.Optimizer) -> Callable[[], None]:
    def step() -> None:
        optimiser.zero_grad(set_to_none=True)
        net.losses(batch).mean().backward()
        optimiser.step()

    return step


def sgd(net: nn.Module) -> torch.optim.Optimizer:
    return torch.optim.SGD([p for p in net.parameters() if p.requires_grad], 0.15)


def dp_step(net: Any, batch: Any, count: int, **optimiser: Any) -> Callable[[], None]:
    plan = TrainingPlan(noise=1.0, batch=count, examples=100 * count, steps=1000, clip=1.5)
    trainer, recorder = PrivateTrainer(net, plan, **optimiser), Recorder(net)

    def step() -> None:
        trainer._flat.zero_()
        recorder.add_clipped(batch, count, plan.clip, trainer.sums)
        trainer.update(0, plan.phases[0])

    return step


def opacus_step(batch: Any, count: int) -> Callable[[], None]:
    from opacus.grad_sample import GradSampleModule
    from opacus.optimizers import DPOptimizer

    net = Tagger("opacus")
    wrapped = GradSampleModule(net)
    optimiser = DPOptimizer(
        torch.optim.SGD([p for p in net.parameters() if p.requires_grad], 0.15),
        noise_multiplier=1.0,
        max_grad_norm=1.5,
        expected_batch_size=count,
    )

    def step() -> None:
        optimiser.zero_grad(set_to_none=True)
        tags = batch["tags"]
        scores = wrapped(batch)
        each = nn.functional.cross_entropy(scores.flatten(0, 1), tags.flatten(), reduction="none", ignore_index=-100)
        (each.view(tags.shape).sum(1) / batch["lengths"]).mean().backward()
        optimiser.step()

    return step


def race(steps: dict[str, Callable[[], None]], rounds: int, repeat: dict[str, int]) -> dict[str, list[float]]:
    """Seconds per step, all runners taking turns, so that a busy machine slows them alike."""
    for step in steps.values():
        step()
    times: dict[str, list[float]] = {name: [] for name in steps}
    for _ in range(rounds):
        for name, step in steps.items():
            start = time.perf_counter()
            for _ in range(repeat.get(name, 1)):
                step()
            times[name].append((time.perf_counter() - start) / repeat.get(name, 1))
    return times


def ratio(times: dict[str, list[float]], slow: str, quick: str) -> float:
    """Median of the ratios of steps that were run one after the other."""
    return statistics.median(a / b for a, b in zip(times[slow], times[quick], strict=True))


def show(title: str, times: dict[str, list[float]]) -> None:
    shown = "   ".join(f"{name} {1e3 * statistics.median(t):8.1f} ms" for name, t in times.items())
    print(f"{title:44} {shown}", flush=True)


def race_taggers(quick: bool) -> dict[str, float]:
    ratios: dict[str, float] = {}
    for count in BATCHES:
        batch = Tagger("ours").collate(sentences(count, seed=count))
        steps = {
            **{kind: plain_step(net := Tagger(kind), batch, sgd(net)) for kind in ("packed", "padded")},
            "ours": dp_step(Tagger("ours"), batch, count, optimiser="sgd", rate=0.15),
            "opacus": opacus_step(batch, count),
        }
        rounds = (9 if count == PAPER_BATCH else 3) if quick else (25 if count == PAPER_BATCH else 9)
        times = race(steps, rounds, dict.fromkeys(("packed", "padded", "ours"), 5 if count == PAPER_BATCH else 2))
        show(f"BiLSTM tagger, batch {count}", times)
        plain = min(("packed", "padded"), key=lambda kind: statistics.median(times[kind]))
        over_plain, over_opacus = ratio(times, "ours", plain), ratio(times, "opacus", "ours")
        stock = ratio(times, "opacus", plain)
        shown = f"DP / plain {over_plain:.2f}   Opacus / DP {over_opacus:.1f}   Opacus / plain {stock:.1f}"
        print(f"{'':44} {shown}")
        if count == PAPER_BATCH:
            ratios = {"bilstm_dp_over_plain": over_plain, "bilstm_over_opacus": over_opacus}
    return ratios


def race_encoders(quick: bool) -> dict[str, float]:
    found = 0.0
    for frozen in (False,) if quick else (True, False):
        nets = Encoder(), Encoder()
        for net in nets:
            net.bert.embeddings.requires_grad_(not frozen)
        batch = nets[0].collate(texts())
        learning = [p for p in nets[0].parameters() if p.requires_grad]
        optimiser = torch.optim.AdamW(learning, 1e-4, fused=True)
        steps = {"plain": plain_step(nets[0], batch, optimiser), "ours": dp_step(nets[1], batch, TEXTS, rate=1e-4)}
        times = race(steps, 3 if quick else 9, {})
        found = ratio(times, "ours", "plain")
        size = sum(p.numel() for p in learning) / 1e6
        show(f"encoder, {TEXTS} x {LENGTH}, {size:.1f} M learning", times)
        print(f"{'':44} DP / plain {found:.2f}")
    return {"transformer_dp_over_plain": found}


def measure(what: str) -> None:
    """Do the steps of one case in this process and print its largest resident size in MB."""
    kind, _, size = what.partition(":")
    if kind in ("encoder-plain", "encoder-dp"):
        net = Encoder()
        batch = net.collate(texts(int(size)))
        if kind == "encoder-plain":
            step = plain_step(net, batch, torch.optim.AdamW(net.parameters(), 1e-4, fused=True))
        else:
            step = dp_step(net, batch, int(size), rate=1e-4)
        for _ in range(3):
            step()
    elif kind in ("tagger-plain", "tagger-dp"):
        tagger = Tagger("packed" if kind == "tagger-plain" else "ours")
        batch = tagger.collate(sentences(int(size)))
        if kind == "tagger-plain":
            step = plain_step(tagger, batch, sgd(tagger))
        else:
            step = dp_step(tagger, batch, int(size), optimiser="sgd", rate=0.15)
        for _ in range(5):
            step()
    else:  # one virtual batch: every run holds the same data, and takes part of it
        data = sentences(65_536)
        tagger, plan = Tagger("ours"), TrainingPlan(noise=1.0, batch=int(size), examples=65_536, steps=1)
        trainer, recorder = PrivateTrainer(tagger, plan, optimiser="sgd", rate=0.1), Recorder(tagger)
        trainer.accumulate(recorder, data[: int(size)])
        trainer.update(0, plan.phases[0])
    print(largest_resident())


def largest_resident() -> float:
    """In MB. The system's own record: getrusage would count the parent, from before this program was loaded."""
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM:")) / 2**10


def memory(what: str) -> float:
    done = subprocess.run([sys.executable, __file__, "--measure", what], capture_output=True, text=True, check=True)
    megabytes = float(done.stdout.split()[-1])
    print(f"largest memory, {what:28} {megabytes:8.0f} MB", flush=True)
    return megabytes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer rounds; the encoder with all parameters only")
    parser.add_argument("--threads", type=int, default=1, help="of torch, for everybody")
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    parser.add_argument("--only", choices=("tagger", "encoder", "memory"), help="one part")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    if options.measure:
        measure(options.measure)
        return
    ratios: dict[str, float] = {}
    if options.only in (None, "tagger"):
        ratios |= race_taggers(options.quick)
    if options.only in (None, "encoder"):
        ratios |= race_encoders(options.quick)
    if options.only in (None, "memory"):
        memory_of = {w: memory(w) for w in (f"encoder-plain:{TEXTS}", f"encoder-dp:{TEXTS}")}
        if not options.quick:
            memory("tagger-plain:256"), memory("tagger-dp:256")
        ratios["memory_dp_over_plain"] = memory_of[f"encoder-dp:{TEXTS}"] / memory_of[f"encoder-plain:{TEXTS}"]
        ratios["memory_64k_over_64"] = memory("virtual:65536") / memory("virtual:64")
    print(json.dumps({"room": "training", "ratios": {name: round(value, 3) for name, value in ratios.items()}}))


if __name__ == "__main__":
    main()
