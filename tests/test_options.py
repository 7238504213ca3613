"""Every option of every command, given what no option can mean: one sentence, and nothing is done.

The options are the application's own, so that a new one is tried without being named here.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from typer.main import get_command

from goffman.cli.main import app, main

pytestmark = pytest.mark.slow
"""Whole runs: minutes of computing."""

AROUND = {
    "audit": (["bundled:mini"], ["--dry-run", "--instrument", "attribution"]),
    "rate": (["no-run"], ["--no-browser"]),
    "agree": (["no-file.csv"], ["--no-browser"]),
    "anchors": (["bls-occupations"], []),
    "replicate": ([], ["--data", "nowhere"]),
    "report": (["no-run"], []),
    "show": (["no-run"], []),
    "stress": (["no-run"], []),
    "compare": (["no-run", "no-other"], []),
    "check": (["no-run"], ["--list"]),
    "export": (["no-run"], ["--to", "lm-eval"]),
    "read": (["no-log"], []),
    "validate": (["care-seeking"], []),
    "prompts": (["coreference"], ["--set", "coreference.pairs=2", "--limit", "1"]),
    "models get": (["no-model"], []),
}
"""Arguments and options with which a command asks, fetches, shows and writes nothing."""

HOSTILE = {
    "300 signs": "x" * 300,
    "thirty digits": "9" * 30,
    "infinite": "inf",
    "no number": "nan",
    "empty": "",
    "NUL": "a\0b",
    "not UTF-8": "a\udcffb",
    "5,000 signs": "x" * 5_000,
}

NEVER = ("empty", "NUL", "not UTF-8", "5,000 signs")
"""What is refused whatever the option; numbers may be names."""

Said = tuple[int, str]


def options_of(command: object, path: str = "") -> Iterator[tuple[str, str | None]]:
    """Every command with each of its options that take a value; None: its arguments."""
    for name, sub in getattr(command, "commands", {}).items():
        yield from options_of(sub, f"{path} {name}".strip())
    if not hasattr(command, "commands"):
        for param in command.params:  # type: ignore[attr-defined]
            if param.param_type_name == "argument":
                yield path, None
            elif not param.is_flag:
                yield path, param.opts[0]


COMMANDS = get_command(app)
OPTIONS = list(options_of(COMMANDS))


@pytest.fixture
def run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Said]:
    """The command line in this process, in an empty folder: the exit code, and what it says."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    # Built once: each call would build it anew.
    monkeypatch.setattr("goffman.cli.main.app", COMMANDS)
    # The hub may well have a model of any name.
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)

    def run(*arguments: str) -> Said:
        monkeypatch.setattr(sys, "argv", ["goffman", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        return ended.value.code, capsys.readouterr().err  # type: ignore[return-value]

    return run


def test_every_command_that_takes_a_value_is_tried() -> None:
    assert {command for command, _ in OPTIONS} == set(AROUND)
    assert ("audit", "--temperature") in OPTIONS
    assert len(OPTIONS) > 60


@pytest.mark.parametrize(("command", "option"), OPTIONS, ids=lambda part: str(part or "argument"))
def test_what_no_option_can_be_is_said_and_nothing_is_done(
    command: str, option: str | None, run: Callable[..., Said], tmp_path: Path
) -> None:
    arguments, others = AROUND[command]
    never = set(NEVER)
    for name, value in HOSTILE.items():
        given = [*arguments, *others, option, value] if option else [value, *arguments[1:], *others]
        code, said = run(*command.split(), *given)
        about = f"{name}: {said[-2000:]}"
        if "Allowed: " in said:
            # A choice or a number.
            never |= {"infinite", "no number"}
        if "Allowed: a whole number" in said:
            never.add("thirty digits")
        assert code == 2 or (code == 0 and name not in never), about
        assert "Traceback" not in said, about
        assert len(said) < 1500, about
        assert said.count("\n") <= 12, about
        for path in tmp_path.iterdir():
            assert code == 0, about
            path.unlink()


DIGITS = "9" * 30
AUDIT = ("audit", "bundled:mini", "--dry-run", "--instrument", "attribution")
SERVED = ("audit", "http://127.0.0.1:9/v1#m", "--dry-run", "--set", "coreference.pairs=1")


EMPTY = "is empty. Give a value"
NO_TEXT = "with a NUL character or bytes that are not UTF-8 in it. Rename the file or folder."
TOO_LONG = "is too long. Each part between slashes can have up to 255 bytes, but one has"
OF_AUDIT = {
    "--labels a=negative": "--labels is only for classifiers, and you gave none (bundled:mini). Add a "
    "classifier, or leave out --labels.",
    "--labels 'a=negative, a =positive'": "--labels gives 'a' two meanings, negative and positive. "
    "Give it one.",
    "--correlate bundled:mini=bundled:mini": "--correlate is bundled:mini=bundled:mini, but "
    "'bundled:mini' is a masked model. Write BASE=CLASSIFIER: a masked model, and a classifier that "
    "was fine-tuned from it.",
    **{
        f"{option} inf": f"{option} is inf. It must be a finite number."
        for option in ("--temperature", "--timeout", "--price-in", "--price-out")
    },
    "--limit 0": "--limit is 0. Allowed: a whole number, 1 or more.",
    "--limit 1.5": "--limit is 1.5. Allowed: a whole number, 1 or more.",
    "--limit nan": "--limit is 'nan'. Allowed: a whole number, 1 or more.",
    "--temperature nan": "--temperature is 'nan'. Allowed: a number, 0 or more.",
    "--timeout soon": "--timeout is 'soon'. Allowed: a number, 1 or more.",
    "--top-p 2": "--top-p is 2. Allowed: a number from 0 to 1.",
    "--price-in -1": "--price-in is -1. Allowed: a number, 0 or more.",
    "--precision int8": "--precision is 'int8'. Allowed: float32, bf16, fp16.",
    f"--batch-size {DIGITS}": f"--batch-size is {DIGITS}. Allowed: a whole number from 1 to "
    "1,000,000.",
    "--trials 10001": "--trials is 10001. Allowed: a whole number from 1 to 10,000.",
    **{
        f"{option} {DIGITS}": f"{option} is {DIGITS}. Allowed: up to 9,223,372,036,854,775,807."
        for option in ("--trials", "--seed", "--top-k", "--limit")
    },
    **{
        f"{option} ''": f"{option} {EMPTY}, or leave the option out."
        for option in ("--parser", "--output", "--device", "--key-env", "--ratings")
    },
    "--output ' '": f"--output {EMPTY}, or leave the option out.",
    "''": f"MODEL {EMPTY}.",
    "--output 'a\0b'": f"--output is 'a\\x00b', {NO_TEXT}",
    f"--targets {'x' * 5_000}": "--targets has 5,000 characters. Allowed: up to 4,096.",
}
OF_OTHERS = {
    "replicate mei2022": "STUDY is 'mei2022'. Allowed: mei2023, lin2022, briegel2023, moore2025, "
    "gueorguieva2025. Did you mean 'mei2023'?",
    "compare '' ''": f"RUN {EMPTY}.",
    "agree a.csv ''": f"RUN|FILE {EMPTY}.",
    "validate ''": f"INSTRUMENT|ANCHOR {EMPTY}.",
    "check no-run --fail-if 'gap > 1e999'": "--fail-if 'gap > 1e999' cannot be used: 1e999 is too "
    "large a number. Write a rule like 'social-distance.gap is relevant' or 'social-distance.gap > "
    "0.2'.",
    "report 'caf\udce9'": f"RUN is 'caf\\udce9', {NO_TEXT}",
    f"audit {'x' * 5_000}": "MODEL has 5,000 characters. Allowed: up to 4,096.",
    f"audit org/{'é' * 200}": f"The model's name 'org/{'é' * 56}…' {TOO_LONG} 400.",
    f"audit 'http://127.0.0.1:9/v1#{'x' * 300}' --dry-run": "The model's name "
    f"'http://127.0.0.1:9/v1#{'x' * 38}…' {TOO_LONG} 303.",
    f"report {'x' * 300}": f"The name '{'x' * 60}…' is too long: it has 314 characters, more than "
    "this system allows. Give a shorter name.",
}


@pytest.mark.parametrize(
    ("command", "message"),
    [
        *((f"{shlex.join(AUDIT)} {given}", message) for given, message in OF_AUDIT.items()),
        *OF_OTHERS.items(),
    ],
    ids=lambda part: str(part)[-40:],
)
def test_options_that_do_not_fit_are_told_in_one_sentence(
    command: str, message: str, run: Callable[..., Said], tmp_path: Path
) -> None:
    assert run(*shlex.split(command)) == (2, f"{message}\n")
    assert list(tmp_path.iterdir()) == []


def test_an_option_that_no_model_can_heed_is_told(run: Callable[..., Said]) -> None:
    given = ("--temperature", "0", "--top-p", "0.5", "--max-tokens", "9", "--trials", "2")
    code, said = run(*AUDIT, *given)
    assert code == 0
    assert said.splitlines()[:-1] == [
        f"{option} has no effect, because this audit has no model that replies in text."
        for option in ("--trials", "--temperature", "--top-p", "--max-tokens")
    ]
    code, said = run(*SERVED, "--top-k", "5", *given)
    assert code == 0
    assert [line for line in said.splitlines() if "no effect" in line] == [
        "--top-k has no effect, because this audit has no model that fills in words."
    ]


@pytest.mark.parametrize(
    ("given", "nobody"),
    [
        ("--system Kindly.", "chat or causal model"),
        ("--persona therapist", "chat or causal model"),
        ("--timeout 9", "model on a server"),
        ("--price-in 1 --price-out 2", "model on a server"),
    ],
)
def test_further_options_that_no_model_can_heed_are_told(
    given: str, nobody: str, run: Callable[..., Said]
) -> None:
    option, *values = given.split()
    code, said = run(*AUDIT, option, *values)
    assert code == 0
    message = f"{option} has no effect, because this audit has no {nobody}."
    assert [line for line in said.splitlines() if "no effect" in line] == [message]


def test_a_server_heeds_no_option_about_this_machine(run: Callable[..., Said]) -> None:
    code, said = run(*SERVED, "--device", "cpu")
    assert code == 0
    message = "--device has no effect, because this audit has no model on this machine."
    assert message in said.splitlines()


def test_what_no_model_heeds_does_not_bind_the_run(run: Callable[..., Said]) -> None:
    """--trials of a masked model: the same command without it resumes the run."""
    asked = ("audit", "bundled:mini", "--instrument", "care-seeking", "--limit", "2", "--no-report")
    code, _ = run(*asked, "--output", "mine", "--trials", "3", "--system", "Be kind.")
    assert code == 0
    code, said = run(*asked, "--output", "mine")
    assert code == 0, said


def test_words_that_no_rating_counts_are_not_offered_for_rating(run: Callable[..., Said]) -> None:
    asked = ("--instrument", "care-seeking")
    code, _ = run(
        "audit", "bundled:mini", *asked, "--limit", "1", "--no-report", "--output", "mine"
    )
    assert code == 0
    code, said = run("rate", "mine", *asked, "--no-browser")
    assert code == 2
    assert said.strip() == (
        "care-seeking does not use ratings of words, so there is nothing to rate."
    )
    code, said = run("rate", "mine", "--no-browser")
    assert code == 2
    assert said.strip() == "mine has no words to rate: no instrument in it uses ratings of words."


def test_a_system_prompt_that_is_no_file_is_not_sent_as_one(run: Callable[..., Said]) -> None:
    code, said = run(*AUDIT, "--system", "nofile.txt")
    assert code == 2
    assert said.strip() == (
        "--system is 'nofile.txt', which looks like a file, but there is no such file. Correct "
        "the name, or give the system prompt itself."
    )
