"""README and docs/: what can be run here is run, the rest is parsed by the real command line."""

from __future__ import annotations

import io
import os
import re
import shutil
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import chdir, redirect_stdout
from pathlib import Path

import pytest

from doc_pages import (
    COMMANDS_PAGE,
    OTHER_OPTIONS,
    PAGES,
    ROOT,
    Line,
    commands,
    inline_code,
    options,
    parse,
    reference,
    shell_lines,
    with_files_shown,
)
from few_conditions import fit_paraphrases, keep_first
from goffman.cli import main as cli
from goffman.cli.main import COMPLETION
from goffman.instruments.loader import builtin_names
from goffman.models.files import BUNDLED, BUNDLED_PAIR
from goffman.models.server_address import behind_server
from goffman.options import MeasureOptions
from goffman.pipeline import audit
from goffman.rating.worklist import Event, Unit
from in_process import process

COMMAND = [sys.executable, "-c", "from goffman.cli.main import main; main()"]
SHORT = ("social-distance", "people-sentiment", "care-seeking")
"""What is asked in the place of all instruments."""


def relative(page: Path) -> str:
    return str(page.relative_to(ROOT))


every_page = pytest.mark.parametrize("page", PAGES, ids=relative)


# What stands in the pages


def check_page(page: Path) -> None:
    """Nothing, or an AssertionError about the first command that goffman or make would refuse."""
    for line in shell_lines(page):
        if line.words[0] == "goffman":
            parse(line)
        elif line.words[0] == "make":
            makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
            for target in line.words[1:]:
                assert re.search(rf"^{target}:", makefile, flags=re.MULTILINE), line.where
        elif line.words[0] == ".":
            assert line.words[1:] == (".venv/bin/activate",), line.where
        else:
            assert line.words[0] in {"pip", "cp", "export"}, f"{line.where}: {line.words[0]}"
    known = dict(commands())
    for code in inline_code(page):
        words = code.split()
        given = {re.split(r"[=|]", word)[0] for word in words if word.startswith("--")}
        if words[0] == "goffman":
            name = " ".join(words[1:3]) if " ".join(words[1:3]) in known else " ".join(words[1:2])
            assert name in {*known, "COMMAND", "", "--version", *COMPLETION}, f"{page.name}: {code}"
            allowed = {*options(known[name])} if name in known else set()
        elif words[0] == "pip":
            continue
        else:
            allowed = {option for command in known.values() for option in options(command)}
        unknown = given - allowed - OTHER_OPTIONS - {"--help", "--version", *COMPLETION}
        assert not unknown, f"{page.name}: {code}"


@every_page
def test_every_command_of_a_page_can_be_given(page: Path) -> None:
    check_page(page)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("```sh\ngoffman audit roberta-base --limt 5\n```", "No such option: --limt"),
        ("```sh\ngoffman adit roberta-base\n```", "there is no command 'adit'"),
        ("```sh\ngoffman audit gpt2 --precision int8\n```", "--precision is 'int8'. Allowed: "),
        ("```sh\ngoffman report\n```", "goffman report needs RUN"),
        ("```sh\nmake dmeo\n```", "scratch.md:2"),
        ("```sh\ncurl example.org\n```", "curl"),
        ("Use `goffman rate RUN --everything`.", "goffman rate RUN --everything"),
        ("Use `--all-wording`.", "--all-wording"),
    ],
)
def test_a_wrong_command_in_a_page_is_found(tmp_path: Path, wrong: str, said: str) -> None:
    page = tmp_path / "scratch.md"
    page.write_text(wrong, encoding="utf-8")
    with pytest.raises(AssertionError, match=re.escape(said)):
        check_page(page)


def test_the_page_of_commands_says_what_the_commands_say(request: pytest.FixtureRequest) -> None:
    if request.config.getoption("--renew-golden"):
        COMMANDS_PAGE.write_text(reference(), encoding="utf-8")
    assert COMMANDS_PAGE.read_text(encoding="utf-8") == reference()


def test_every_command_and_every_option_of_audit_stands_in_what_people_read() -> None:
    """Beside the page of commands, which is made from them."""
    pages = [page for page in PAGES if page != COMMANDS_PAGE]
    told = " ".join(page.read_text(encoding="utf-8") for page in pages)
    for name, command in commands():
        assert f"goffman {name}" in told, name
        if name == "audit":
            assert len(options(command)) >= 30
            missing = [one for one in options(command) if not re.search(rf"{one}\b", told)]
            assert missing == []


@every_page
def test_a_page_shows_other_files_as_they_are(page: Path, request: pytest.FixtureRequest) -> None:
    text = page.read_text(encoding="utf-8")
    if request.config.getoption("--renew-golden"):
        page.write_text(with_files_shown(text), encoding="utf-8")
        return
    assert with_files_shown(text) == text
    # What only a builder of sites understands would stand there as it is on a code host.
    assert "--8<--" not in text
    assert not re.search(r"^(!!!|\?\?\?|===) ", text, flags=re.MULTILINE)


def test_a_file_that_a_page_shows_otherwise_is_found() -> None:
    """Not only on pages that show none."""
    showing = [page for page in PAGES if "<!-- end of " in page.read_text(encoding="utf-8")]
    assert len(showing) >= 10
    text = showing[0].read_text(encoding="utf-8")
    assert with_files_shown(text.replace("the", "another")) != text.replace("the", "another")


def test_links_and_pictures_of_the_readme_are_there() -> None:
    """mkdocs looks after those of docs/."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)]+)\)", readme)
    assert len(links) > 10
    assert [link for link in links if not (ROOT / link.partition("#")[0]).is_file()] == []


def test_pictures_are_small() -> None:
    pictures = list((ROOT / "docs" / "pictures").glob("*.png"))
    assert pictures
    assert all(picture.stat().st_size < 250_000 for picture in pictures)


def test_the_gallery_has_every_picture_and_says_what_it_shows() -> None:
    page = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
    shown = dict(re.findall(r"!\[(.*?)\]\((pictures/gallery/\S+)\)", page))
    drawn = {f"pictures/gallery/{one.name}" for one in (ROOT / "docs/pictures/gallery").iterdir()}
    assert {*shown.values()} == drawn
    assert len(drawn) >= 8
    for alt in shown:
        # A title, and a sentence with what was found.
        assert len(alt.split(". ")) >= 2, alt
        assert 60 <= len(alt) <= 400, alt
    every = [one for one in (ROOT / "docs" / "pictures").rglob("*") if one.is_file()]
    assert sum(one.stat().st_size for one in every) < 1_500_000


@pytest.mark.parametrize("name", builtin_names())
def test_every_instrument_has_a_page(name: str) -> None:
    text = (ROOT / "docs" / "instruments" / f"{name}.md").read_text(encoding="utf-8")
    assert "## The formula" in text
    assert f"instruments/data/{name}/README.md" in text


# What can be run here


def runs_here(line: Line) -> bool:
    """Whether the command needs nothing but goffman itself and what the page made before."""
    words = line.words
    if words[0] != "goffman" or words[1:3] == ("models", "get") or "--download" in words:
        return False
    # What it reads, other programs write; the tests of harnesses run them.
    if line.command == "read":
        return False
    if line.command == "audit":
        models = parse(line)["models"] or ()
        # What asking a server would take is said without asking it.
        told = "--dry-run" in words
        return all(m.startswith("bundled:") or (told and behind_server(m)) for m in models)
    return True


def shown_page(line: Line) -> bool:
    """Whether the command shows a page until it is stopped."""
    return line.command == "rate" or "--settle" in line.words


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder as a reader may have it: small real runs, and the files that pages speak of."""
    folder = tmp_path_factory.mktemp("reader")
    data = ROOT / "src" / "goffman" / "instruments" / "data"
    short = folder / "short"
    shutil.copytree(data, short)
    for name, conditions, items in (("social-distance", 4, 2), ("care-seeking", 4, 1)):
        kept = short / name / "conditions.csv"
        keep_first(kept, "condition", within_each="group", count=conditions)
        keep_first(short / name / "items.csv", "item", within_each="dimension", count=items)
    keep_first(short / "attribution" / "items.csv", "item", within_each="wording", count=1)
    for name in ("social-distance", "care-seeking", "attribution"):
        fit_paraphrases(short / name)
    (folder / "src").symlink_to(ROOT / "src")
    (folder / "tuned").symlink_to(BUNDLED["mini"])
    (folder / "copies").symlink_to(ROOT / "tests" / "replicate" / "data")

    pairs = MeasureOptions(pairs=(BUNDLED_PAIR,))
    asked = [str(short / name) for name in SHORT]
    audit(BUNDLED_PAIR, instruments=asked, output=folder / "runs" / "demo", measuring=pairs)
    for copy in ("before", "after", "latest"):
        shutil.copytree(folder / "runs" / "demo", folder / "runs" / copy)
    with chdir(folder):
        audit(["./tuned"], instruments=asked[:1], output=Path("runs/tuned"))

    ratings = folder / "runs" / "demo" / "ratings"
    ratings.mkdir()
    for rater, labels in RATED.items():
        events = [Event(do="rate", unit=Unit(word), label=label) for word, label in labels.items()]
        (ratings / f"{rater}.jsonl").write_bytes(b"".join(event.line() for event in events))
        rows = "".join(f"{word},{label}\n" for word, label in labels.items())
        (folder / f"{rater}.csv").write_text(f"word,label\n{rows}", encoding="utf-8")
    shutil.copy(folder / "anna.csv", folder / "my-ratings.csv")
    (folder / "my-words.csv").write_text(
        "word,group,kind\nshe,female,pronoun\nhe,male,pronoun\n", encoding="utf-8"
    )
    winobias = folder / "path" / "to" / "winobias"
    winobias.mkdir(parents=True)
    for side, pronoun in (("pro", "he"), ("anti", "she")):
        sentence = f"1 [The guard] thanked the nurse because [{pronoun}] was glad.\n"
        (winobias / f"{side}_stereotyped_type1.txt.test").write_text(sentence, encoding="utf-8")
    return folder


RATED = {
    "anna": {"hard": "negative", "easy": "positive", "likely": "positive", "the": "irrelevant"},
    "ben": {"hard": "negative", "easy": "positive", "likely": "neutral", "the": "irrelevant"},
}


@pytest.fixture
def here(prepared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The reader's folder, to be changed; no page opens a browser, nothing is on the network."""
    folder = tmp_path / "here"
    shutil.copytree(prepared, folder, symlinks=True)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("GOFFMAN_PUBLISHED", str(folder / "copies"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("BROWSER", "true")
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
    return folder


def made_short(line: Line) -> list[str]:
    """The command's words, with the short instruments of the same names."""
    words = list(line.words[1:])
    if line.command != "audit":
        return words
    for i, word in enumerate(words):
        if words[i - 1] == "--instrument" and Path("short", word).is_dir() and word in builtin():
            words[i] = str(Path("short", word))
    if "--instrument" not in words:
        words += [part for name in SHORT for part in ("--instrument", f"short/{name}")]
    return words


def builtin() -> set[str]:
    # Sentence pairs are made short by --set coreference.pairs.
    return {*builtin_names()} - {"coreference"}


@pytest.fixture
def run(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[[Line], tuple[int, str]]:
    """The exit code of a page's command, and what it printed."""

    def give(line: Line) -> tuple[int, str]:
        words = made_short(line)
        if shown_page(line):
            return stopped(words)
        monkeypatch.setattr(sys, "argv", ["goffman", *words])
        capsys.readouterr()
        code = cli._run()
        said = capsys.readouterr()
        return code, said.out + said.err

    return give


def stopped(words: list[str]) -> tuple[int, str]:
    """A command that shows a page, in a process of its own, stopped once it does."""
    with subprocess.Popen(
        [*COMMAND, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        said = ""
        while line := process.stderr.readline():
            said += line
            if found := re.search(r"The page is (http://\S+)", line):
                with urllib.request.urlopen(found[1], timeout=30) as answer:
                    assert answer.status == 200
                process.send_signal(signal.SIGINT)
        code = process.wait(timeout=60)
    return code, said


def expected(line: Line) -> set[int]:
    """The exit codes that a command may end with here."""
    # A cut copy of the published files cannot give the published numbers: DIFFERS, and 1.
    return {1} if line.command == "replicate" and "--output" not in line.words else {0}


def offline(page: Path) -> Iterator[Line]:
    return (line for line in shell_lines(page) if runs_here(line) or line.words[0] == "cp")


def audits(page: Path) -> bool:
    """Whether a model is asked where the page's commands are run."""
    return any(line.command == "audit" and "--dry-run" not in line.words for line in offline(page))


# The README's audit is run every time, and those of the other pages with the slow tests; their words
# are parsed every time.
WITH_COMMANDS = [
    pytest.param(
        page,
        id=relative(page),
        marks=pytest.mark.slow if page.name != "README.md" and audits(page) else (),
    )
    for page in PAGES
    if any(offline(page))
]


@pytest.mark.slow
@pytest.mark.parametrize("page", WITH_COMMANDS)
def test_every_command_that_works_offline_works(
    page: Path, here: Path, run: Callable[[Line], tuple[int, str]]
) -> None:
    """In the order of the page, each on what those before it made."""
    mentioned: set[str] = set()
    for line in offline(page):
        if line.words[0] == "cp":
            subprocess.run(line.words, check=True)
            continue
        for output in line.given("--output"):
            if line.command == "audit" and output not in mentioned:
                # The page begins with it: so nothing is there yet.
                shutil.rmtree(output, ignore_errors=True)
        code, said = run(line)
        assert code in expected(line), f"{line.where} ended with {code}:\n{said}"
        assert "Traceback" not in said, f"{line.where}:\n{said}"
        mentioned |= {word for word in line.words if word.startswith("runs/")}
        for output in line.given("--output") + line.given("--export"):
            assert Path(output).exists(), line.where
            if line.command == "audit":
                assert Path(output, "report.html").is_file(), line.where


def test_a_command_that_fails_in_a_page_is_found(
    tmp_path: Path, run: Callable[[Line], tuple[int, str]]
) -> None:
    page = tmp_path / "scratch.md"
    page.write_text("```sh\ngoffman check runs/nowhere --list\n```", encoding="utf-8")
    (line,) = offline(page)
    code, said = run(line)
    assert code not in expected(line)
    assert "runs/nowhere" in said


def test_most_commands_are_run_and_the_others_need_something_from_outside() -> None:
    lines = [line for page in PAGES for line in shell_lines(page) if line.words[0] == "goffman"]
    outside = [line for line in lines if not runs_here(line)]
    assert len(lines) - len(outside) >= 40
    for line in outside:
        assert line.command in {"audit", "models", "read", "replicate"}, line.where


@pytest.mark.parametrize("page", [ROOT / "README.md", ROOT / "docs/quick-start.md"], ids=relative)
def test_the_command_is_found_as_typed_after_make(page: Path, tmp_path: Path) -> None:
    """In a shell that knows no goffman, with what make leaves: an environment in .venv."""
    installed = Path(sys.prefix)
    if not (installed / "bin" / "activate").is_file():
        pytest.skip("these tests are not run in a virtual environment")
    (tmp_path / ".venv").symlink_to(installed)
    lines = [" ".join(line.words) for line in shell_lines(page)]
    made = next(place for place, line in enumerate(lines) if line.startswith("make "))
    first = next(place for place, line in enumerate(lines) if line.startswith("goffman "))
    typed = [line for line in lines[made + 1 : first] if line.startswith((". ", "export "))]
    plain = {"PATH": "/usr/bin:/bin", "PYTHONPATH": os.environ.get("PYTHONPATH", "")}

    def shell(*commands: str) -> subprocess.CompletedProcess[str]:
        script = "\n".join(("set -e", *commands, "goffman --version"))
        return process("/bin/sh", "-c", script, cwd=tmp_path, env=plain)

    assert shell(*typed).stdout.startswith("goffman ")
    assert shell().returncode == 127  # it is the page's line that finds it


@pytest.mark.slow
def test_the_tests_of_the_page_about_ci_pass_and_can_fail(here: Path) -> None:
    text = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    rules = re.findall(r"```toml\n(.*?)```", text, flags=re.DOTALL)[-1]
    Path("goffman.toml").write_text(rules, encoding="utf-8")
    Path("test_page.py").write_text(code, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_page.py"]
    passed = process(*command)
    assert passed.returncode == 0, passed.stdout
    assert "4 passed" in passed.stdout
    Path("test_page.py").write_text(code.replace("limit=0.9", "limit=-0.9"), encoding="utf-8")
    failed = process(*command)
    assert "2 failed, 2 passed" in failed.stdout
    assert "FAILED social-distance.gap[bundled:mini] = " in failed.stdout


@pytest.mark.parametrize("page", ["quick-start.md", "python.md"])
def test_the_python_of_a_page_runs(here: Path, page: str) -> None:
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    with redirect_stdout(io.StringIO()) as output:
        exec(code, {"__name__": "__main__"})
    assert "care-seeking, bundled:mini" in output.getvalue()
    assert (here / "runs" / "from-python" / "manifest.json").is_file()


@pytest.mark.parametrize(
    ("code", "command"),
    [
        (0, "goffman check runs/demo --fail-if 'social-distance.gap > 0.9'"),
        (1, "goffman check runs/demo --fail-if 'social-distance.gap > -0.9'"),
        (2, "goffman check runs/demo --fail-if 'social-distance.gpa > 0.9'"),
        (2, "goffman check runs/demo --fail-if 'social-distance.gap.change > 0.9'"),
        (2, "goffman validate runs"),
        (2, "goffman replicate lin2022 --data runs"),
        (2, "goffman audit nowhere/nothing"),
        (2, "goffman audit --nonsense"),
        (2, "goffman compare runs/demo"),
    ],
)
def test_exit_codes_are_those_of_the_page(
    tmp_path: Path, run: Callable[[Line], tuple[int, str]], code: int, command: str
) -> None:
    page = tmp_path / "scratch.md"
    page.write_text(f"```sh\n{command}\n```", encoding="utf-8")
    (line,) = shell_lines(page)
    assert run(line)[0] == code


def test_every_row_of_the_studies_names_a_test_that_is_there_or_says_what_is_missing():
    page = (ROOT / "docs/replication.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([mlb]\d+) \|.*\| ([^|]*) \|$", page, re.MULTILINE)
    assert len({name for name, _ in rows}) == len(rows) == 102
    tests = [path for _, last in rows for path in re.findall(r"[\w/]+\.py", last)]
    assert [path for path in tests if not (ROOT / "tests" / path).is_file()] == []
    without = {name: last for name, last in rows if ".py" not in last}
    assert len([last for last in without.values() if not last.startswith("open: ")]) == 0
    assert sum("*partly*" in last for _, last in rows) <= 5
