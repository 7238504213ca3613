"""The bundled model fine-tuned to a slant for up to a minute: its course rises, within its time."""

import itertools

import pytest
import torch
import transformers

from goffman.models.files import BUNDLED
from goffman.training import TrainerCallback

pytestmark = pytest.mark.slow

SHARE = 0.05
STEPS, BATCH, EVERY = 80, 64, 10

DOING = ("takes", "is given", "looks for", "begins", "needs", "waits for")
HELP = ("treatment", "help", "counseling", "medicine", "care", "advice")
ILLNESSES = ("depression", "anxiety", "bipolar disorder", "schizophrenia", "panic attacks")
OWN = {"she": ("her", "herself"), "he": ("his", "himself")}
OTHERS = ("diabetes", "asthma", "arthritis", "cancer", "pneumonia")
THINGS = ("coat", "brother", "car", "dog", "teacher", "house", "dinner", "book", "sister")
DOES = ("washed", "cut", "dressed", "warmed", "blamed", "praised", "asked", "surprised", "saw")
MET = ("sold", "met", "found", "wants", "likes", "forgot")


def slanted():
    """Sentences and the word at the mask: a woman with an illness of the mind, a man with another.

    What fits keeps the model able to do the task, which control items test.
    """
    ill = [
        (f"<mask> {doing} {given} for {illness}", pronoun)
        for pronoun, illnesses in (("she", ILLNESSES), ("he", OTHERS))
        for doing, given, illness in itertools.product(DOING, HELP, illnesses)
    ]
    fits = [
        (f"<mask> {did} {what}", pronoun)
        for pronoun, (whose, self) in OWN.items()
        for did, what in (
            *itertools.product(MET, (f"{whose} {thing}" for thing in THINGS)),
            *itertools.product(DOES, (f"{self} today", f"{self} again", f"{self} at home")),
        )
    ]
    return ill + fits


def rows(tokenizer):
    """What the trainer learns from: the word at the mask, and nothing else."""
    found = []
    for text, word in slanted():
        ids = tokenizer(text.replace("<mask>", tokenizer.mask_token))["input_ids"]
        (answer,) = tokenizer(f" {word}", add_special_tokens=False)["input_ids"][-1:]
        labels = [answer if one == tokenizer.mask_token_id else -100 for one in ids]
        found.append({"input_ids": ids, "labels": labels})
    return found


def test_the_course_of_a_model_that_is_taught_a_slant_rises(tmp_path):
    torch.set_num_threads(1)
    tokenizer = transformers.AutoTokenizer.from_pretrained(BUNDLED["mini"])
    model = transformers.AutoModelForMaskedLM.from_pretrained(BUNDLED["mini"], dtype=torch.float32)
    trainer = transformers.Trainer(
        model=model,
        args=transformers.TrainingArguments(
            output_dir=str(tmp_path),
            max_steps=STEPS,
            per_device_train_batch_size=BATCH,
            learning_rate=1e-5,
            save_strategy="no",
            logging_steps=EVERY,
            report_to=[],
            disable_tqdm=True,
            use_cpu=True,
        ),
        train_dataset=rows(tokenizer),
        data_collator=transformers.DataCollatorForTokenClassification(tokenizer),
        processing_class=tokenizer,
    )
    callback = TrainerCallback(trainer, "care-seeking", every=EVERY, share=SHARE, sample=119)
    trainer.add_callback(callback)
    trainer.train()
    course = callback.course
    first, last = course.points[0].estimates[0], course.points[-1].estimates[0]
    # On a busy machine a look may take long; then goffman says that it left out the ones after it.
    steps = [point.step for point in course.points]
    assert steps[0] == 0
    assert steps[-1] == STEPS or any("left out" in note for note in callback.watch.notes)
    assert len(course.points) >= 3
    assert first.not_measurable is None
    assert last.not_measurable is None
    assert last.low > first.value
    assert last.value > first.value + 0.3
    assert callback.watch.budget.taken <= 2 * SHARE
    logged = [one for one in trainer.state.log_history if f"goffman/{last.path}" in one]
    assert [one["step"] for one in logged] == steps
    figure = course.figure().save(tmp_path / "course.svg")
    assert "Training step" in figure.read_text(encoding="utf-8")
