"""Show how a base model's association comes through in the classifier that is made from it.

python training/propagation.py train CORPUS WORK    # on a GPU: a minute and a half
python training/propagation.py measure WORK         # on a CPU: five minutes

The classifier is fine-tuned from the bundled masked model as the bundled classifier was; WORK keeps
the trained tensors of some steps. Then goffman asks the masked model about social distance and each
step's classifier about people, and correlates the two, condition by condition.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer

from sentiment import classifier, fine_tune, predictions, reviews, sst2

BASE = Path(__file__).parents[1] / "src/goffman/models/bundled/mini"
LAYERS, RATE = 2, 2e-4
STEPS = (0, 25, 50, 100, 200, 390, 1000)
"""After which the trained tensors are kept, besides the last."""


def train(corpus: Path, work: Path) -> None:
    """Fine-tune on film reviews, then on SST-2, as sentiment.py does; keep what is trained."""
    torch.manual_seed(0)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    tokenizer = Tokenizer.from_file(str(BASE / "tokenizer.json"))
    model = classifier(BASE, layers=LAYERS).to(device)
    done = -1

    def keep(*, last: bool = False) -> None:
        nonlocal done
        done += not last
        if last or done in STEPS:
            trained = {
                name: parameter.detach().half().cpu()
                for name, parameter in model.named_parameters()
                if parameter.requires_grad
            }
            save_file(trained, work / f"step-{done:04}.safetensors")

    keep()
    long = reviews(corpus / "imdb-labelled.tsv.xz", tokenizer)
    short = sst2(corpus / "sst2-train.tsv.xz", tokenizer)
    for data, epochs in ((long, 2), (short, 3)):
        fine_tune(model, data, epochs=epochs, rate=RATE, device=device, after_step=keep)
    keep(last=True)
    dev = sst2(corpus / "sst2-dev.tsv.xz", tokenizer)
    labels = torch.tensor([label for _, label in dev])
    right = (predictions(model, dev, device).argmax(1) == labels).float().mean().item()
    print(f"{done} steps; SST-2 dev accuracy {right:.4f}")


def measure(work: Path) -> None:
    """Audit the base model and the classifier of every step; print gaps and correlations."""
    from transformers import AutoTokenizer

    import goffman

    steps = {}
    for file in sorted(work.glob("step-*.safetensors")):
        model = classifier(BASE, layers=LAYERS)
        model.load_state_dict(load_file(file), strict=False)
        model.save_pretrained(work / file.stem)
        AutoTokenizer.from_pretrained(BASE).save_pretrained(work / file.stem)
        steps[str(work / file.stem)] = int(file.stem.removeprefix("step-"))
    run = goffman.audit(
        ["bundled:mini", *steps],
        instruments=["social-distance", "people-sentiment"],
        correlate=[("bundled:mini", folder) for folder in steps],
        output=work / "run",
    )
    draw(run, work, steps)


def draw(run: Any, work: Path, steps: Mapping[str, int]) -> None:
    """Print the gap of each step and its correlation with the base model, and draw both."""
    from goffman.api.results import Figure
    from goffman.training.history import course_spec

    looks: dict[str, list[tuple[int, dict[str, Any]]]] = {"gap": [], "r": []}
    for row in run.estimates.iter_rows(named=True):
        if row["model"] in steps and row["family"] == "primary":
            looks["gap"].append((steps[row["model"]], row))
        folder = (row["second"] or "").rpartition(" of ")[2]
        if row["kind"] == "measures" and folder in steps:
            ends = {"difference": "effect", "low": "effect_low", "high": "effect_high"}
            of_r = {name: row[column] for name, column in ends.items()}
            looks["r"].append((steps[folder], {**row, **of_r, "margin": None, "verdict": None}))
    titles = {"gap": "Sentiment gap of the classifier", "r": "Correlation with the base model"}
    for name, of_steps in looks.items():
        of_steps.sort(key=lambda look: look[0])
        for step, row in of_steps:
            ends = ", ".join(f"{row[end]:.3f}" for end in ("difference", "low", "high"))
            print(f"{name} at step {step:,}: {ends}")
        description, spec = course_spec(titles[name], of_steps, axis=titles[name])
        figure = Figure(name=name, title=titles[name], description=description, spec=spec)
        figure.save(work / f"propagation-{name}.png")


if __name__ == "__main__":
    {"train": train, "measure": measure}[sys.argv[1]](*map(Path, sys.argv[2:]))
