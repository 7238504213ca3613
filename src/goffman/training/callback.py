"""TrainerCallback: goffman in the Trainer of the transformers library."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import transformers

from goffman.config import Several
from goffman.errors import InputError
from goffman.training.history import History
from goffman.training.monitor import Monitor

if find_spec("accelerate") is None:
    # Raised before anyone makes a trainer, which needs it.
    raise InputError(
        "TrainerCallback needs the package accelerate, as the Trainer of transformers does. "
        "Install it: pip install 'goffman[train]'"
    )


class TrainerCallback(transformers.TrainerCallback):  # type: ignore[misc]
    """A callback that measures the model of a Trainer before, during and after training.

    ``trainer.add_callback(TrainerCallback(trainer, "social-distance", every=500))``. The values go
    through ``trainer.log``, and so to whatever the trainer reports to.
    """

    def __init__(
        self, trainer: Any, instruments: Several, *, tokenizer: Any = None, **settings: Any
    ) -> None:
        """Take the trainer. ``tokenizer``: by default its own; ``settings``: see Monitor."""
        if not isinstance(trainer, transformers.Trainer):
            raise InputError(
                "The first argument is the trainer: "
                "trainer.add_callback(TrainerCallback(trainer, 'social-distance'))"
            )
        self._trainer = trainer
        tokenizer = tokenizer or trainer.processing_class
        if tokenizer is None:
            raise InputError(
                "The trainer has no tokenizer. Give it one (processing_class=tokenizer), or give "
                "it here (tokenizer=tokenizer)."
            )
        state = trainer.accelerator.state
        deepspeed = state.deepspeed_plugin if trainer.is_deepspeed_enabled else None
        if trainer.is_fsdp_enabled or (deepspeed is not None and deepspeed.zero_stage == 3):
            raise InputError(
                "This trainer splits the weights of the model over several GPUs (FSDP or DeepSpeed "
                "ZeRO-3), so no process can ask it. Audit its checkpoints instead."
            )
        settings.setdefault("log", self._logged)
        self.watch = Monitor(trainer.model, tokenizer, instruments, **settings)

    @property
    def course(self) -> History:
        """Return everything that was measured."""
        return self.watch.course

    @property
    def notes(self) -> list[str]:
        """Return what the user should know."""
        return self.watch.notes

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Measure the model before the training."""
        del args, control, kwargs
        if state.is_world_process_zero:
            self.watch.steps = state.max_steps
            self.watch.start(state.global_step)

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Measure the model if a measurement is due."""
        del args, control, kwargs
        if state.is_world_process_zero:
            self.watch.step(state.global_step)

    def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Measure the model a last time, and note how long all measurements took."""
        del args, control, kwargs
        if state.is_world_process_zero:
            self.watch.end()

    def _logged(self, values: dict[str, float], step: int) -> None:
        """Log the values through the trainer's own log, which must still log its loss when due."""
        del step  # the trainer has its own
        due = self._trainer.control.should_log
        self._trainer.log(dict(values))
        self._trainer.control.should_log = due
