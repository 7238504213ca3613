"""The options of goffman audit, under the headings of its help."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from goffman.cli.options import ASKED

_MODELS = (
    "Models to ask: ORG/NAME on Hugging Face, a folder, openai:NAME or http://HOST/v1#NAME. "
    "Default: the models that come with goffman."
)

_MODELS_GROUP = "Models on this machine"
_CHATS = "Chat models"
_SERVERS = "Servers"
_MEASURING = "Measuring"
_OUTPUT = "Output"


class Precision(StrEnum):
    """In what numbers a model calculates."""

    FLOAT32 = "float32"
    BF16 = "bf16"
    FP16 = "fp16"


Models = Annotated[list[str] | None, typer.Argument(metavar="MODEL …", help=_MODELS)]
Instruments = Annotated[
    list[str] | None,
    typer.Option(
        help="Questions to ask: a name that goffman ls lists, or a folder. May be repeated. "
        "Default: all.",
        rich_help_panel=ASKED,
    ),
]
Limit = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="Ask only N prompts of each form, and the control items.",
        rich_help_panel=ASKED,
    ),
]
NoControls = Annotated[
    bool,
    typer.Option(
        "--no-controls",
        help="Leave out the control items (easy questions, to see if a model can do the task).",
        rich_help_panel=ASKED,
    ),
]
Paraphrases = Annotated[
    bool,
    typer.Option(
        "--paraphrases",
        help="Also ask everything in two other wordings, as a check. This can triple the number "
        "of prompts.",
        rich_help_panel=ASKED,
    ),
]
DryRun = Annotated[
    bool,
    typer.Option(
        "--dry-run",
        help="Ask nothing; only print how many prompts there are.",
        rich_help_panel=ASKED,
    ),
]
OutputFolder = Annotated[
    Path | None,
    typer.Option(
        metavar="FOLDER",
        help="Folder for the results (the run). Default: runs/MODEL.",
        rich_help_panel=_OUTPUT,
    ),
]
NoReport = Annotated[
    bool,
    typer.Option(
        "--no-report",
        help="Write the answers and the numbers, but no report.",
        rich_help_panel=_OUTPUT,
    ),
]
PrintJson = Annotated[
    bool, typer.Option("--json", help="Print JSON instead of text.", rich_help_panel=_OUTPUT)
]
Device = Annotated[
    str,
    typer.Option(
        help="Where the models run: auto, cpu, cuda, cuda:1 … Several GPUs share the work: "
        "cuda:0,cuda:1, or cuda:all. On CPUs one process is fastest: it uses all cores.",
        rich_help_panel=_MODELS_GROUP,
    ),
]
Workers = Annotated[
    str | None,
    typer.Option(
        metavar="ray://HOST:PORT",
        help="Run the models on a Ray cluster (docs/scale.md). Needs goffman[ray].",
        rich_help_panel=_MODELS_GROUP,
    ),
]
MixedHardware = Annotated[
    bool,
    typer.Option(
        "--allow-mixed-hardware",
        help="Allow GPUs or CPUs of different kinds in one run. The last digits of answers may "
        "then differ.",
        rich_help_panel=_MODELS_GROUP,
    ),
]
PrecisionOption = Annotated[
    Precision,
    typer.Option(
        help="Format of the numbers that the models compute with.", rich_help_panel=_MODELS_GROUP
    ),
]
BatchSize = Annotated[
    str,
    typer.Option(
        metavar="N", help="How many prompts to process at once.", rich_help_panel=_MODELS_GROUP
    ),
]
TopK = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="How many of the most probable words to keep for each blank (mask). Default: set by "
        "the instrument.",
        rich_help_panel=_MODELS_GROUP,
    ),
]
TargetWords = Annotated[
    list[str] | None,
    typer.Option(
        metavar="WORD,…",
        help="Words whose probability is always recorded, however low it is. May be repeated.",
        rich_help_panel=_MODELS_GROUP,
    ),
]
LabelMeanings = Annotated[
    str | None,
    typer.Option(
        metavar="LABEL=MEANING,…",
        help="What a classifier's labels mean, such as LABEL_0=negative,LABEL_1=positive.",
        rich_help_panel=_MODELS_GROUP,
    ),
]
TrustRemoteCode = Annotated[
    bool,
    typer.Option(
        "--trust-remote-code",
        help="Allow the Python code that comes with a model to run.",
        rich_help_panel=_MODELS_GROUP,
    ),
]
Trials = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="How many times to ask each prompt. Default: set by the instrument.",
        rich_help_panel=_CHATS,
    ),
]
Forms = Annotated[
    list[str] | None,
    typer.Option(
        "--form",
        help="Ask in this form only (goffman ls explains the forms). May be repeated. Default: "
        "all that the model can answer.",
        rich_help_panel=ASKED,
    ),
]
Thorough = Annotated[
    bool,
    typer.Option(
        "--thorough",
        help="Ask every prompt, with the answer options in every order. Default: a model on your "
        "machine gets every prompt that needs no written reply. Of all others, models get a "
        "balanced sample (on a server, at most 6,000 prompts in all).",
        rich_help_panel=_CHATS,
    ),
]
NoWayOut = Annotated[
    bool,
    typer.Option(
        "--no-way-out",
        help="In questions with options, leave out the last one, such as “I can't tell”.",
        rich_help_panel=_CHATS,
    ),
]
Balanced = Annotated[
    bool,
    typer.Option(
        "--balanced",
        help="Ask models on your machine only the balanced sample that models on a server get. "
        "Much faster on a CPU. Later, the same command without it asks the rest.",
        rich_help_panel=_CHATS,
    ),
]
System = Annotated[
    str | None,
    typer.Option(
        metavar="TEXT|FILE",
        help="System prompt, or a text file that contains it. Default: none.",
        rich_help_panel=_CHATS,
    ),
]
PersonaName = Annotated[
    str | None,
    typer.Option(
        "--persona",
        metavar="NAME|FILE",
        help="Persona to use as the system prompt: therapist, landlord, teacher, or a TOML file "
        "(FILE:ID if it has several personas). Default: none.",
        rich_help_panel=_CHATS,
    ),
]
Temperature = Annotated[
    float,
    typer.Option(
        min=0,
        help="Sampling temperature. 0 always picks the most probable token.",
        rich_help_panel=_CHATS,
    ),
]
TopP = Annotated[
    float | None,
    typer.Option(
        min=0,
        max=1,
        help="Sample only the most probable tokens, up to this total probability. Default: all "
        "tokens.",
        rich_help_panel=_CHATS,
    ),
]
MaxTokens = Annotated[
    int, typer.Option(min=1, help="Longest reply, in tokens.", rich_help_panel=_CHATS)
]
Concurrency = Annotated[
    int,
    typer.Option(
        min=1,
        max=1000,
        help="How many requests to send at the same time.",
        rich_help_panel=_SERVERS,
    ),
]
MaxRequestsPerMinute = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="How many requests to send per minute at most. Default: no limit.",
        rich_help_panel=_SERVERS,
    ),
]
Timeout = Annotated[
    float,
    typer.Option(
        metavar="SECONDS", min=1, help="How long to wait for a reply.", rich_help_panel=_SERVERS
    ),
]
KeyEnv = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Environment variable that holds the server's key. openai:NAME always uses "
        "OPENAI_API_KEY.",
        rich_help_panel=_SERVERS,
    ),
]
PriceIn = Annotated[
    float | None,
    typer.Option(
        metavar="PRICE",
        min=0,
        help="Price of a million tokens sent, to estimate the cost.",
        rich_help_panel=_SERVERS,
    ),
]
PriceOut = Annotated[
    float | None,
    typer.Option(
        metavar="PRICE",
        min=0,
        help="Price of a million tokens received.",
        rich_help_panel=_SERVERS,
    ),
]
RatingFiles = Annotated[
    list[Path] | None,
    typer.Option(
        help="CSV file with your own ratings of words. May be repeated.",
        rich_help_panel=_MEASURING,
    ),
]
GenderWords = Annotated[
    Path | None,
    typer.Option(
        help="CSV file of gendered words to use instead of the built-in list.",
        rich_help_panel=_MEASURING,
    ),
]
ParserName = Annotated[
    str | None,
    typer.Option(
        help="Rules for reading replies: v2 (current), v1 (the first version) or as-published "
        "(those of the original study). Default: v2; when you resume a run, the rules used before.",
        rich_help_panel=_MEASURING,
    ),
]
Correlate = Annotated[
    list[str] | None,
    typer.Option(
        "--correlate",
        metavar="BASE=CLASSIFIER",
        help="Correlate a base model's results with those of a classifier that was fine-tuned from "
        "it. May be repeated.",
        rich_help_panel=_MEASURING,
    ),
]
Seed = Annotated[
    int,
    typer.Option(min=0, help="Seed for all random choices.", rich_help_panel=_MEASURING),
]
