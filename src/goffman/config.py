"""Every option of an audit, defined once: the command, Python, the checks and the docs derive it.

An option is a key of ``AuditOptions``, with its type in Python, its ``Option``, and its help.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Any, Literal, TypedDict, get_args, get_origin, get_type_hints

from goffman.errors import InputError, did_you_mean
from goffman.validation import check_number, check_text

Text = str | os.PathLike[str]
Several = Text | Sequence[Text]
"""One or several names, files or folders."""

Precision = Literal["float32", "bf16", "fp16"]
"""The format of the numbers that a model computes with."""

Sample = Literal["quick", "balanced", "all"]
"""How many of the prompts are asked; each sample contains the one before it."""

ASKED = "What to ask"
OUTPUT = "Output"
LOCAL = "Models on this machine"
CHATS = "Chat models"
SERVERS = "Servers"
MEASURING = "Measuring"

FILLS = "model that fills in words"
REPLIES = "model that replies in text"
GENERATES = "chat or causal model"
SERVED = "model on a server"
HERE = "model on this machine"
HEEDED_BY = (FILLS, REPLIES, GENERATES, SERVED, HERE)
"""What an option may apply to, in the order of the notes that an audit has none of it."""


@dataclass(frozen=True)
class Option:
    """The facts about an option beside its type in Python."""

    panel: str
    """The heading under which the command's help shows it."""
    help: str = ""
    _: KW_ONLY
    kind: Any = None
    """The type of its value, or of each value, on the command line; bool: a flag without a value.
    None: the number, truth value or choice that Python takes, otherwise a text."""
    default: Any = None
    """None: not given; for a truth value, False; for several values, none of them."""
    flag: str = ""
    """The command line's spelling; empty: Python's, with hyphens."""
    metavar: str | None = None
    """What the help shows in the place of the value."""
    several: bool = False
    """Whether the option may be repeated on the command line; Python takes a sequence."""
    minimum: float | None = None
    maximum: float | None = None
    heeded_by: str = ""
    """The kind of model that it applies to; empty: every audit."""
    first: bool = False
    """Whether --help shows it; --help-all shows every option."""


class AuditOptions(TypedDict, total=False):
    """The options of ``goffman audit`` and ``goffman.audit()``."""

    instruments: Annotated[
        Several,
        Option(ASKED, flag="--instrument", first=True),
        "Questions to ask: a name that goffman ls lists, or a folder. May be repeated. Default: "
        "all.",
    ]
    modes: Annotated[
        str | Sequence[str],
        Option(ASKED, flag="--mode", first=True),
        "Ask in this mode only (goffman ls explains the modes). May be repeated. Default: all "
        "that the model can answer.",
    ]
    sample: Annotated[
        Sample | None,
        Option(ASKED, first=True),
        "quick: a first look, with a few conditions of each group. balanced: each question once "
        "or twice, with wordings and orders of options in turn. all: every prompt. Default: "
        "everything, but only a balanced sample of written replies; on a server, a balanced "
        "sample (at most 6,500 prompts). A larger sample asks the rest.",
    ]
    limit: Annotated[
        int | None,
        Option(ASKED, minimum=1, first=True),
        "Ask only N prompts of each mode, and the control items.",
    ]
    paraphrases: Annotated[
        bool,
        Option(ASKED, first=True),
        "Also ask everything in two other wordings, as a check. This can triple the number of "
        "prompts.",
    ]
    cross: Annotated[
        Text | None,
        Option(ASKED, metavar="FACTOR|FILE"),
        "Also ask about people with a second identity: race, race-names, age, orientation, gender "
        "or a TOML file. Asks everything once more for each level.",
    ]
    settings: Annotated[
        Mapping[str, Any] | None,
        Option(ASKED, flag="--set", metavar="INSTRUMENT.NAME=VALUE", several=True, first=True),
        "Change a setting of one instrument, such as coreference.pairs=50. May be repeated. "
        "--help-all lists the settings.",
    ]
    controls: Annotated[
        bool,
        Option(ASKED, default=True),
        "Leave out the control items (easy questions, to see if a model can do the task).",
    ]
    dry_run: Annotated[
        bool,
        Option(ASKED, first=True),
        "Ask nothing; only print how many prompts there are.",
    ]
    output: Annotated[
        Text | None,
        Option(OUTPUT, kind=Path, metavar="FOLDER", first=True),
        "Folder for the results (the run). Default: runs/MODEL.",
    ]
    report: Annotated[
        bool,
        Option(OUTPUT, default=True),
        "Write the answers and the numbers, but no report.",
    ]
    verbose: Annotated[
        bool,
        Option(OUTPUT, first=True),
        "Also print notes about loading and licenses. The report always shows them.",
    ]
    device: Annotated[
        str,
        Option(LOCAL, first=True, default="auto", heeded_by=HERE),
        "Where the models run: auto, cpu, cuda, cuda:1 … Several GPUs share the work: "
        "cuda:0,cuda:1, or cuda:all. On CPUs one process is fastest: it uses all cores.",
    ]
    workers: Annotated[
        str | None,
        Option(LOCAL, metavar="ray://HOST:PORT", heeded_by=HERE),
        "Run the models on a Ray cluster (docs/scale.md). Needs goffman[ray].",
    ]
    allow_mixed_hardware: Annotated[
        bool,
        Option(LOCAL),
        "Allow GPUs or CPUs of different kinds in one run. The last digits of answers may then "
        "differ.",
    ]
    precision: Annotated[
        Precision,
        Option(LOCAL, default="float32", heeded_by=HERE),
        "Format of the numbers that the models compute with.",
    ]
    batch_size: Annotated[
        int | Literal["auto"],
        Option(LOCAL, default="auto", metavar="N", heeded_by=HERE),
        "How many prompts to process at once.",
    ]
    top_k: Annotated[
        int | None,
        Option(LOCAL, minimum=1, heeded_by=FILLS),
        "How many of the most probable words to keep for each blank (mask). Default: set by the "
        "instrument.",
    ]
    targets: Annotated[
        str | Sequence[str],
        Option(LOCAL, metavar="WORD,…", heeded_by=FILLS),
        "Words whose probability is always recorded, however low it is. May be repeated.",
    ]
    labels: Annotated[
        Mapping[str, str] | None,
        Option(LOCAL, metavar="LABEL=MEANING,…"),
        "What a classifier's labels mean, such as LABEL_0=negative,LABEL_1=positive.",
    ]
    trust_remote_code: Annotated[
        bool,
        Option(LOCAL, heeded_by=HERE),
        "Allow the Python code that comes with a model to run.",
    ]
    forced_choice: Annotated[
        bool,
        Option(CHATS, heeded_by=GENERATES),
        "In questions with options, leave out the last one, such as “I can't tell”.",
    ]
    system: Annotated[
        Text | None,
        Option(CHATS, first=True, metavar="TEXT|FILE", heeded_by=GENERATES),
        "System prompt, or a text file that contains it. Default: none.",
    ]
    persona: Annotated[
        Text | None,
        Option(CHATS, metavar="NAME|FILE", heeded_by=GENERATES),
        "Persona to use as the system prompt: therapist, landlord, teacher, or a TOML file "
        "(FILE:ID if it has several personas). Default: none.",
    ]
    trials: Annotated[
        int | None,
        Option(CHATS, first=True, minimum=1, heeded_by=REPLIES),
        "How many times to ask each prompt. Default: set by the instrument.",
    ]
    temperature: Annotated[
        float,
        Option(CHATS, default=1.0, minimum=0, heeded_by=REPLIES),
        "Sampling temperature. 0 always picks the most probable token.",
    ]
    top_p: Annotated[
        float | None,
        Option(CHATS, minimum=0, maximum=1, heeded_by=REPLIES),
        "Sample only the most probable tokens, up to this total probability. Default: all tokens.",
    ]
    max_tokens: Annotated[
        int,
        Option(CHATS, default=64, minimum=1, heeded_by=REPLIES),
        "Longest reply, in tokens.",
    ]
    concurrency: Annotated[
        int,
        Option(SERVERS, default=16, minimum=1, maximum=1000, heeded_by=SERVED),
        "How many requests to send at the same time.",
    ]
    max_requests_per_minute: Annotated[
        int | None,
        Option(SERVERS, minimum=1, heeded_by=SERVED),
        "How many requests to send per minute at most. Default: no limit.",
    ]
    timeout: Annotated[
        float,
        Option(SERVERS, default=120.0, minimum=1, metavar="SECONDS", heeded_by=SERVED),
        "How long to wait for a reply.",
    ]
    key_env: Annotated[
        str | None,
        Option(SERVERS, metavar="NAME"),
        "Environment variable that holds the server's key. openai:NAME always uses OPENAI_API_KEY.",
    ]
    price_in: Annotated[
        float | None,
        Option(SERVERS, minimum=0, metavar="PRICE", heeded_by=SERVED),
        "Price of a million tokens sent, to estimate the cost.",
    ]
    price_out: Annotated[
        float | None,
        Option(SERVERS, minimum=0, metavar="PRICE"),
        "Price of a million tokens received.",
    ]
    ratings: Annotated[
        Several,
        Option(MEASURING, kind=Path),
        "CSV file with your own ratings of words, or mei2023: people's alone. May be repeated.",
    ]
    gender_words: Annotated[
        Text | None,
        Option(MEASURING, kind=Path),
        "CSV file of gendered words to use instead of the built-in list.",
    ]
    parser: Annotated[
        str | None,
        Option(MEASURING),
        "Rules for reading replies: v2 (current), v1 (the first version) or as-published (those "
        "of the original study). Default: v2; when you resume a run, the rules used before.",
    ]
    correlate: Annotated[
        Sequence[str | tuple[str, str]],
        Option(MEASURING, metavar="BASE=CLASSIFIER"),
        "Correlate a base model's results with those of a classifier that was fine-tuned from it. "
        "May be repeated.",
    ]
    anchors: Annotated[
        Several,
        Option(MEASURING, flag="--anchor", kind=Path, metavar="FOLDER"),
        "Folder with your own data about people (an anchor), to compare with the results. May be "
        "repeated. goffman's own anchors are always used.",
    ]
    seed: Annotated[
        int,
        Option(MEASURING, default=0, minimum=0),
        "Seed for all random choices.",
    ]


COREFERENCE = "coreference"
YES_NO = {"yes": True, "no": False}

INSTRUMENT_SETTINGS: Mapping[str, Option] = {
    "pairs": Option(
        COREFERENCE,
        "How many sentence pairs to draw at random (--seed). Default: 200; balanced and quick "
        "samples of chat models, 20.",
        kind=int,
        metavar="N",
    ),
    "adjectives": Option(
        COREFERENCE,
        "Two adjectives to put before the two occupations of each sentence: the one associated "
        "with men, then the one associated with women. May be repeated. all: the 15 pairs of "
        "Briegel & Chen (2023). none: no adjectives. Default: all.",
        metavar="MALE,FEMALE",
        several=True,
    ),
    "placement": Option(
        COREFERENCE,
        "Put the first adjective before the occupation associated with men (by-stereotype) or "
        "before the occupation mentioned first (by-position). both: by stereotype, and swapped, "
        "which separates what adjectives do from what occupations do. Default: by-stereotype.",
        kind={name: name for name in ("by-stereotype", "by-position", "both")},
    ),
    "neutral-pairs": Option(
        COREFERENCE,
        "Also draw N pairs of occupations that are about half women's, and ask them with all "
        "adjectives, each before either occupation. Default: none.",
        kind=int,
        metavar="N",
    ),
    "they": Option(
        COREFERENCE,
        "Also ask the sentences without adjectives with singular “they”. Default: no.",
        kind=YES_NO,
    ),
    "winobias": Option(
        COREFERENCE,
        "Ask these WinoBias sentences instead of goffman's own.",
        kind=Path,
        metavar="FILE|FOLDER",
    ),
    "drop-faulty": Option(
        COREFERENCE, "Leave out WinoBias sentence pairs that have faults. Default: no.", kind=YES_NO
    ),
    "wordings": Option(
        "attribution",
        "Ask this wording, as-run for the sentences as Lin et al. (2022) ran them. May be "
        "repeated. Only for masked models. Default: first.",
        several=True,
        metavar="NAME",
    ),
    "file": Option(
        "vignettes, decisions",
        "Ask another study's questions instead of goffman's own. For vignettes: prompts.jsonl of "
        "Moore et al. (2025). For decisions: a CSV file of SocialStigmaQA.",
        kind=Path,
        metavar="FILE",
    ),
}
"""What --set INSTRUMENT.NAME=VALUE changes; the panel names goffman's own instruments that have it.

If a kind is a mapping, it has the allowed words and what they mean.
"""


def settings_by_instrument(
    values_by_name: Mapping[str, Any], having: Mapping[str, Sequence[str]]
) -> dict[str, dict[str, Any]]:
    """Return the values of settings by instrument and Python name.

    ``having``: the settings that each instrument has. Raise InputError for any other setting.
    """
    keys = [f"{instrument}.{name}" for instrument, names in having.items() for name in names]
    settings: dict[str, dict[str, Any]] = {}
    for full, value in values_by_name.items():
        if full not in keys:
            allowed = ", ".join(keys) or "none, because these instruments have no settings"
            raise InputError(
                f"There is no setting '{full}'.{did_you_mean(full, keys)} Allowed here: {allowed}."
            )
        instrument, _, name = full.rpartition(".")
        values = settings.setdefault(instrument, {})
        values[name.replace("-", "_")] = _setting_value(full, INSTRUMENT_SETTINGS[name], value)
    return settings


def _setting_value(name: str, setting: Option, value: Any) -> Any:
    """Return a setting's value in the setting's type; raise InputError if the value is wrong."""
    values = list(value) if isinstance(value, list | tuple) else [value]
    for item in values:
        if isinstance(item, str | os.PathLike):
            check_text(name, os.fspath(item))
    if setting.several:
        return values
    if len(values) != 1:
        raise InputError(f"{name} has {len(values)} values. Give one.")
    (item,), kind = values, setting.kind
    if kind is int:
        item = int(item) if isinstance(item, str) and item.isdecimal() else item
        check_number(name, item, (int, 1, None))
        return item
    if kind is Path:
        return Path(item)
    chosen = kind.get(item, item)
    if chosen not in kind.values():
        near = did_you_mean(str(item), kind)
        raise InputError(f"{name} is '{item}'. Allowed: {', '.join(kind)}.{near}")
    return chosen


@cache
def audit_options() -> Mapping[str, Option]:
    """Return every option by its name in Python, in the order of their definition."""
    options = {}
    for name, hint in get_type_hints(AuditOptions, include_extras=True).items():
        value, option, text = get_args(hint)
        kinds: tuple[Any, ...] = (bool, int, float, Sample, Precision)
        kind = next((kind for kind in kinds if value in (kind, kind | None)), str)
        several = option.several or any(
            get_origin(hint_type) is Sequence for hint_type in (value, *get_args(value))
        )
        unsaid = () if several else False if kind is bool else None
        default = unsaid if option.default is None else option.default
        options[name] = replace(
            option, help=text, kind=option.kind or kind, default=default, several=several
        )
    return options


def flag_of(name: str) -> str:
    """Return an option as the command line spells it: --no-report if it is on by default."""
    option = audit_options()[name]
    spelled = name.replace("_", "-")
    return option.flag or (f"--no-{spelled}" if option.default is True else f"--{spelled}")


def with_defaults(chosen: AuditOptions) -> SimpleNamespace:
    """Return the values of all options; raise InputError for an unknown name or wrong value."""
    options = audit_options()
    for name, value in chosen.items():
        if name not in options:
            raise InputError(f"There is no option '{name}'.{did_you_mean(name, options)}")
        option = options[name]
        if option.kind in (int, float):
            check_number(flag_of(name), value, (option.kind, option.minimum, option.maximum))
        if (allowed := get_args(option.kind)) and value not in (*allowed, option.default):
            raise InputError(
                f"{flag_of(name)} is '{value}'. Allowed: {', '.join(allowed)}."
                f"{did_you_mean(str(value), allowed)}"
            )
    return SimpleNamespace(
        **{name: option_of_name.default for name, option_of_name in options.items()} | dict(chosen)
    )


def changed(chosen: SimpleNamespace) -> tuple[str, ...]:
    """Return the names of the options whose value is not the default."""
    options = audit_options()
    return tuple(name for name, value in vars(chosen).items() if value != options[name].default)
