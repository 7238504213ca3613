"""Real runs of tiny models on shortened instruments, each made once a process."""

from __future__ import annotations

import hashlib
import json
import shutil
from contextlib import chdir
from functools import cache
from pathlib import Path

import goffman.instruments
from chat_server import Answer, ChatServer, completion
from few_conditions import fit_paraphrases, keep_first, keep_rows
from goffman.instruments.loader import load_instrument
from goffman.instruments.renderer import PromptOptions, render
from goffman.models.base import Calling, LoadOptions, Sampling
from goffman.options import AskOptions, ChatOptions, MeasureOptions
from goffman.pipeline import audit
from goffman.report.load import MeasuredRun, read_run
from goffman.runs.answers import answers_folder, key_of, verify_chunks
from goffman.runs.collect_replies import seed_of

DATA = Path(goffman.instruments.__file__).parent / "data"

ASKED = ("social-distance", "care-seeking", "attribution", "people-sentiment")

HOSTILE = "=HYPERLINK(1)|<b>&_%$#{}~^[x](http:)\u202e`*"
"""A folder's name, and so a model's, that means something everywhere but here."""


def make_manifest_agree(folder: Path) -> None:
    """A run's tables may have been changed by hand: the manifest now says that they are its own."""
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text())
    for name in manifest["tables"]:
        manifest["tables"][name] = [hashlib.sha256((folder / name).read_bytes()).hexdigest()]
    for model, answers in manifest["answers"].items():
        for name, entry in answers.items():
            parts = answers_folder(folder, entry["table"], model=model, instrument=name)
            entry["sha256"] = verify_chunks(parts, model=model, clear=False).sha256
    path.write_text(json.dumps(manifest))


def shortened(folder: Path, conditions=(6, 3), dimensions=("anger", "pity")) -> Path:
    """The built-in instruments with a few conditions and items; ``conditions``: of each group."""
    shutil.copytree(DATA, folder)
    for name, each in zip(("social-distance", "care-seeking"), conditions, strict=True):
        path = folder / name / "conditions.csv"
        keep_first(path, "condition", within_each="group", count=each)
    keep_first(folder / "care-seeking" / "items.csv", "item", within_each="dimension", count=2)
    keep_rows(folder / "attribution" / "items.csv", lambda row: row["dimension"] in {*dimensions})
    for name in ("care-seeking", "attribution"):
        fit_paraphrases(folder / name)
    return folder


@cache
def _place(base: Path) -> Path:
    import torch

    from tiny_models import make

    torch.set_num_threads(1)
    folder = base / "small-runs"
    home = shortened(folder / "instruments")
    keep_rows(home / "social-distance" / "conditions.csv", lambda row: row["group"] != "rare")
    make("roberta", folder / "before" / "small", seed=0)
    make("roberta", folder / "before" / "other", seed=1)
    make("bert", folder / "before" / "tone", labels=("NEG", "POS"), seed=0)
    make("roberta", folder / "after" / "small", seed=7)
    make("bert", folder / "after" / "tone", labels=("NEG", "POS"), seed=9)
    make("roberta", folder / "hostile" / HOSTILE, seed=2)
    return folder


def place(tmp_path_factory) -> Path:
    """Folders with models of the same names, and the shortened instruments; runs go beside them."""
    return _place(tmp_path_factory.getbasetemp())


def run_of(tmp_path_factory, where="before", models=("small", "tone"), **options) -> Path:
    """The folder of a run of these models, which lie beside each other in ``where``."""
    return _run_of(place(tmp_path_factory), where, models, **options)


@cache
def _run_of(base, where, models, **options):
    folder = base / "runs" / f"{where}-{len([*base.glob('runs/*')])}"
    named = options.get("instruments", ASKED)
    with chdir(base / where):
        audit(
            models,
            instruments=[str(options.get("home", base / "instruments") / name) for name in named],
            output=folder,
            loading=LoadOptions(precision=options.get("precision", "float32")),
            options=AskOptions(
                controls=False, limit=options.get("limit"), top_k=options.get("top_k")
            ),
            measuring=MeasureOptions(ratings=options.get("ratings", ())),
        )
    return folder


def measured(tmp_path_factory, *arguments, **options) -> MeasuredRun:
    return read_run(run_of(tmp_path_factory, *arguments, **options))


SETTINGS = ("baseline", "tough,understanding", "old,", "dry,bubbly")

REPLIES = {"unsure": "unsure", "other": "Perhaps.", "refusal": "I can't answer that."}
"""A reply of each kind that names no one."""


def coreference_run(folder: Path, answers, *, pairs=8, trials=3, **measuring) -> MeasuredRun:
    """The run of a chat model behind a server: ``answers(pair, side, setting, trial)`` is the kind
    of its reply, with pairs counted from 0."""
    chosen = {"pairs": pairs, "adjectives": [*SETTINGS[1:]]}
    prompts = render(load_instrument("coreference"), PromptOptions(**chosen)).prompts
    settings = {f"coreference.{name}": value for name, value in chosen.items()}
    places = {item: place for place, item in enumerate(dict.fromkeys(p.item for p in prompts))}
    asked = {
        (prompt.text, seed_of(0, key_of(prompt.text), trial)): (prompt, trial)
        for prompt in prompts
        for trial in range(1, trials + 1)
    }

    async def reply(request):
        prompt, trial = asked[request.text, request.seed]
        kind = answers(places[prompt.item], prompt.wording, prompt.condition, trial)
        named = {"correct": prompt.answer, "incorrect": prompt.other, **REPLIES}
        return Answer(200, completion(named[kind]))

    with ChatServer(reply) as server:
        chats = ChatOptions(trials=trials, calling=Calling(concurrency=8))
        audit(
            [f"{server.url}#chat"],
            instruments=["coreference"],
            output=folder,
            options=AskOptions(modes=("ask",), controls=False, settings=settings, chats=chats),
            measuring=MeasureOptions(**measuring),
        )
    return read_run(folder)


def one_reply(folder: Path, text: str, *, pairs=2, adjectives=("tough,understanding",), **more):
    """The audit, with its report, of a chat model that says the same to all, twice."""

    async def says(_):
        return Answer(200, completion(text))

    settings = {"coreference.pairs": pairs, "coreference.adjectives": [*adjectives]}
    chats = ChatOptions(trials=2, sampling=more.pop("sampling", Sampling()))
    with ChatServer(says) as server:
        return audit(
            [f"{server.url}#mini"],
            instruments=["coreference"],
            output=folder,
            options=AskOptions(modes=("ask",), controls=False, settings=settings, chats=chats),
            measuring=MeasureOptions(**more),
            report=True,
        )


def the_model(run: MeasuredRun) -> str:
    """The name of the only model of a run."""
    (name,) = run.manifest.models
    return name
