"""Private training in the shape of Hugging Face's `Trainer`: the same call, two more arguments.

    trainer = Trainer(model=model, args=args, train_dataset=rows, data_collator=collator, epsilon=3.0, delta=1e-5)
    trainer.train(); trainer.save_model("out"); trainer.guarantee_

`args` is a `transformers.TrainingArguments` or anything with some of its names: num_train_epochs, learning_rate,
per_device_train_batch_size x gradient_accumulation_steps (together the expected batch), max_grad_norm (the clip),
lr_scheduler_type, output_dir. `train_dataset` holds mappings with `labels`; the model's logits are scored against them
here, since the model's own loss averages over the whole batch, which would tie every example to the others. Embeddings
rest (see nets/encoder.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Unpack

from textveil.core import BadInput
from textveil.core.params import needs

from .private_model import PrivateModel, SettingNames, Settings

_SCHEDULES = {"linear": "linear", "cosine": "cosine", "constant": "constant"}


class Trainer(PrivateModel):
    """`train()`, `save_model(folder)`, `predict_logits(rows)`; `guarantee_`, `plan_` and `history_` after training.

    Parameters
    ----------
    model
        A Hugging Face model, which is public as it comes in; it is trained in place.
    args
        `transformers.TrainingArguments`, or anything with some of its names. Settings given by name go before them.
    train_dataset
        The private rows: mappings with `labels`.
    data_collator
        Makes a batch of rows; None pads them with `processing_class`.
    processing_class
        The tokenizer, which is saved with the model.
    """

    name = "training.trainer"
    defaults = Settings(epochs=3, batch=256, clip=1.0, rate=5e-4, average=None)

    def __init__(
        self,
        model: Any = None,
        args: Any = None,
        train_dataset: Sequence[Any] | None = None,
        data_collator: Callable[[list[Any]], Any] | None = None,
        processing_class: Any = None,
        **settings: Unpack[SettingNames],
    ):
        self.model, self.args, self.train_dataset = model, args, train_dataset
        self.data_collator, self.processing_class = data_collator, processing_class
        self._take({**told(args), **settings})

    def __repr__(self) -> str:
        """Without the data set, whose rows are private."""
        return f"Trainer({type(self.model).__name__}, epsilon={self.epsilon}, delta={self.delta})"

    def train(self, **engine: Any) -> Any:
        """Run the plan, once (`plan=`, `noise=`, `progress=`, `checkpoint=` as in `Tagger.fit`); returns the history of
        the run, in public facts."""
        needs("training", "torch", "transformers")
        if self.__sklearn_is_fitted__():
            raise BadInput(
                "this trainer has trained its model: training it further would cost the price of both runs together",
                possible="a new Trainer with a fresh model, or more epochs",
            )
        if self.epsilon is None:
            raise BadInput("epsilon is missing", possible="Trainer(..., epsilon=3.0, delta=1e-5)")
        if self.model is None or not self.train_dataset:
            raise BadInput("a model and a train_dataset are needed")
        from .hf_net import PerExample

        rows = [dict(self.train_dataset[i]) for i in range(len(self.train_dataset))]
        self.net_ = PerExample(self.model, self._collator())
        self.plan_ = engine.pop("plan", None) or self.plan(self.declared(len(rows)))
        self._check_delta(self.plan_.examples)
        self.history_ = self.trainer(self.plan_, engine.pop("noise", None)).fit(rows, **engine)
        self.guarantee_ = self.promise(self.plan_, self.history_)
        return self.history_

    def public_params(self) -> dict[str, Any]:
        """Without the data set, whose rows are private, and what only reads it."""
        hidden = ("train_dataset", "data_collator", "processing_class", "args")
        return {name: value for name, value in super().public_params().items() if name not in hidden}

    def save_model(self, output_dir: str | Path | None = None) -> Path:
        """A folder that `from_pretrained` loads."""
        folder = Path(output_dir or getattr(self.args, "output_dir", None) or "")
        if folder == Path():
            raise BadInput("a folder to save to is needed", possible="save_model('out')")
        self.model.save_pretrained(folder)
        if self.processing_class is not None:
            self.processing_class.save_pretrained(folder)
        return folder

    def predict_logits(self, rows: Sequence[Any], batch_size: int = 32) -> Any:
        """The model's logits, row by row."""
        found: list[Any] = []
        for start in range(0, len(rows), batch_size):
            found += list(self._fitted().logits([dict(row) for row in rows[start : start + batch_size]]))
        return found

    def _public(self) -> tuple[str, ...]:
        return ("the model it starts from is public",)

    def _collator(self) -> Callable[[list[Any]], Any]:
        if self.data_collator is not None:
            if getattr(self.data_collator, "seed", None) is not None:
                raise BadInput("a collator with a seed draws what others can repeat", possible="seed=None")
            return self.data_collator
        import transformers

        if self.processing_class is not None:
            return transformers.DataCollatorWithPadding(self.processing_class)
        return transformers.default_data_collator


def told(args: Any) -> dict[str, Any]:
    """Settings from training arguments; names that are not there keep their defaults.

    >>> from types import SimpleNamespace
    >>> told(SimpleNamespace(num_train_epochs=2, per_device_train_batch_size=8, gradient_accumulation_steps=4))
    {'epochs': 2, 'batch': 32}
    """
    names = {"num_train_epochs": "epochs", "learning_rate": "rate", "max_grad_norm": "clip", "seed_for_draft": "seed"}
    found = {ours: getattr(args, theirs) for theirs, ours in names.items() if getattr(args, theirs, None) is not None}
    if getattr(args, "per_device_train_batch_size", None):
        times = getattr(args, "gradient_accumulation_steps", None) or 1
        found["batch"] = args.per_device_train_batch_size * times
    if (kind := str(getattr(args, "lr_scheduler_type", "") or "").rsplit(".", 1)[-1].lower()) in _SCHEDULES:
        found["rate_schedule"] = _SCHEDULES[kind]
    return found
