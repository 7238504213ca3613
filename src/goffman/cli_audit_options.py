"""The options of goffman audit, under the headings of its help."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from goffman.cli_options import ASKED

_MODELS = (
    "A Hugging Face model (ORG/NAME), a folder, openai:NAME or http://HOST/v1#NAME. Default: the "
    "bundled models."
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
        help="An instrument's name or folder; may be repeated. Default: all.",
        rich_help_panel=ASKED,
    ),
]
Limit = Annotated[
    int | None,
    typer.Option(
        min=1, help="Ask only the first N prompts of each instrument.", rich_help_panel=ASKED
    ),
]
NoControls = Annotated[
    bool,
    typer.Option(
        "--no-controls",
        help="Do not ask the control items, which show whether a model can do the task.",
        rich_help_panel=ASKED,
    ),
]
AllWordings = Annotated[
    bool,
    typer.Option(
        "--all-wordings",
        help="Also ask the wordings that are off by default.",
        rich_help_panel=ASKED,
    ),
]
DryRun = Annotated[
    bool,
    typer.Option(
        "--dry-run",
        help="Only print how many prompts would be asked.",
        rich_help_panel=ASKED,
    ),
]
OutputFolder = Annotated[
    Path | None,
    typer.Option(
        help="Folder for the results. Default: runs/MODEL.",
        rich_help_panel=_OUTPUT,
    ),
]
NoReport = Annotated[
    bool,
    typer.Option(
        "--no-report",
        help="Write answers, scores and estimates, but no report.",
        rich_help_panel=_OUTPUT,
    ),
]
PrintJson = Annotated[bool, typer.Option("--json", help="Print JSON.", rich_help_panel=_OUTPUT)]
Device = Annotated[
    str, typer.Option(help="auto, cpu, cuda, cuda:1 …", rich_help_panel=_MODELS_GROUP)
]
PrecisionOption = Annotated[
    Precision,
    typer.Option(help="Numeric precision of the model.", rich_help_panel=_MODELS_GROUP),
]
BatchSize = Annotated[
    str,
    typer.Option(
        help="How many sentences or chats to process at once.", rich_help_panel=_MODELS_GROUP
    ),
]
TopK = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="How many of the most probable words to keep at each mask. Default: set by the "
        "instrument.",
        rich_help_panel=_MODELS_GROUP,
    ),
]
TargetWords = Annotated[
    list[str] | None,
    typer.Option(
        metavar="WORD,…",
        help="Words whose probability is always recorded, however rare they are; may be repeated.",
        rich_help_panel=_MODELS_GROUP,
    ),
]
LabelMeanings = Annotated[
    str | None,
    typer.Option(
        metavar="OWN=MEANING,…",
        help="What the labels of a classifier mean, such as LABEL_0=negative,LABEL_1=positive.",
        rich_help_panel=_MODELS_GROUP,
    ),
]
TrustRemoteCode = Annotated[
    bool,
    typer.Option(
        "--trust-remote-code",
        help="Run Python code that comes with a model.",
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
        metavar="NAME",
        help="Ask in this form only: ask, completion, choice, said or written; may be repeated. "
        "Default: every form that the model can answer.",
        rich_help_panel=_CHATS,
    ),
]
Thorough = Annotated[
    bool,
    typer.Option(
        "--thorough",
        help="Ask every presentation of every question. Default: servers, and chat and causal "
        "models on a CPU, are asked a balanced part of at most 6,000 prompts.",
        rich_help_panel=_CHATS,
    ),
]
System = Annotated[
    str | None,
    typer.Option(
        metavar="TEXT|FILE",
        help="System prompt, or a text file that holds it. Default: none.",
        rich_help_panel=_CHATS,
    ),
]
PersonaName = Annotated[
    str | None,
    typer.Option(
        "--persona",
        metavar="NAME|FILE",
        help="A persona as system prompt: therapist, landlord, teacher, or a TOML file of "
        "personas (FILE:ID if it has several). Default: none.",
        rich_help_panel=_CHATS,
    ),
]
Temperature = Annotated[
    float,
    typer.Option(
        min=0,
        help="Sampling temperature. 0: the most probable token, always.",
        rich_help_panel=_CHATS,
    ),
]
TopP = Annotated[
    float | None,
    typer.Option(
        min=0,
        max=1,
        help="Sample only from the most probable tokens whose probabilities add up to this value.",
        rich_help_panel=_CHATS,
    ),
]
MaxTokens = Annotated[
    int, typer.Option(min=1, help="Token limit of a reply.", rich_help_panel=_CHATS)
]
Concurrency = Annotated[
    int,
    typer.Option(
        min=1, max=1000, help="Number of requests sent in parallel.", rich_help_panel=_SERVERS
    ),
]
MaxRequestsPerMinute = Annotated[
    int | None,
    typer.Option(min=1, help="At most this many requests per minute.", rich_help_panel=_SERVERS),
]
Timeout = Annotated[
    float,
    typer.Option(min=1, help="Seconds to wait for a reply.", rich_help_panel=_SERVERS),
]
KeyEnv = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Environment variable with the server's key. For openai: models, OPENAI_API_KEY is "
        "used.",
        rich_help_panel=_SERVERS,
    ),
]
PriceIn = Annotated[
    float | None,
    typer.Option(min=0, help="Price of a million tokens sent.", rich_help_panel=_SERVERS),
]
PriceOut = Annotated[
    float | None,
    typer.Option(min=0, help="Price of a million tokens received.", rich_help_panel=_SERVERS),
]
RatingFiles = Annotated[
    list[Path] | None,
    typer.Option(
        help="CSV file with your own ratings of words; may be repeated.",
        rich_help_panel=_MEASURING,
    ),
]
GenderWords = Annotated[
    Path | None,
    typer.Option(
        help="CSV file of gendered words to use instead of goffman's own.",
        rich_help_panel=_MEASURING,
    ),
]
ParserName = Annotated[
    str | None,
    typer.Option(
        help="How to read replies: v2 (goffman's own rules), v1 (its first ones) or as-published "
        "(the study's rules). Default: v2, or the rules that the run was read by.",
        rich_help_panel=_MEASURING,
    ),
]
Correlate = Annotated[
    list[str] | None,
    typer.Option(
        "--correlate",
        metavar="BASE=CLASSIFIER",
        help="Correlate the results of a model and of a classifier that was fine-tuned from it; "
        "may be repeated.",
        rich_help_panel=_MEASURING,
    ),
]
Seed = Annotated[
    int,
    typer.Option(min=0, help="Seed for all random draws.", rich_help_panel=_MEASURING),
]
