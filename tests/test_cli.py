"""The commands as a user runs them, at a terminal or in a pipe.

In a process of their own where that is the point: what is imported, where the output goes.
"""

import csv
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import in_process
from goffman.config import INSTRUMENT_SETTINGS, audit_options, flag_of
from goffman.instruments.loader import builtin_names
from goffman.schemas import ANSWER_KEY, PROMPTS
from in_process import GOFFMAN, process, python

DATA = Path(__file__).parents[1] / "src" / "goffman" / "instruments" / "data"
MINI = DATA.parents[1] / "models" / "bundled" / "mini"
COLUMNS = [column.name for column in PROMPTS]


def output(*arguments: str | Path) -> str:
    done = in_process.goffman(*arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


def refusal(*arguments: str | Path) -> str:
    """What a command that must fail says; never a traceback."""
    done = in_process.goffman(*arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    return done.stderr


def cpu_seconds(*command: str) -> float:
    before = os.times()
    subprocess.run(command, capture_output=True, check=True)
    after = os.times()
    used = after.children_user + after.children_system
    return used - before.children_user - before.children_system


def test_help_is_quick() -> None:
    """The aim is 0.3 s; the bound is on CPU time and generous, since machines differ."""
    assert min(cpu_seconds(GOFFMAN, "--help") for _ in range(3)) < 1.0


@pytest.mark.parametrize("command", ["--help", "ls", "prompts care-seeking --limit 1"])
def test_no_heavy_import_where_none_is_needed(command: str) -> None:
    script = f"""
import sys
sys.argv = ["goffman", *{command.split()!r}]
from goffman.cli.main import main
try:
    main()
except SystemExit:
    pass
heavy = {{"torch", "transformers", "polars", "numpy", "scipy"}} & set(sys.modules)
assert not heavy, heavy
"""
    done = python(script)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_rendering_all_instruments_takes_two_seconds() -> None:
    script = """
import time
from goffman.instruments.loader import builtin_names, load_instrument
from goffman.instruments.renderer import render
start = time.process_time()
count = sum(len(render(load_instrument(name)).prompts) for name in builtin_names())
assert count == 6342 + 1208 + 391 + 621 + 12640 + 7920 + 21744 + 14400
print(time.process_time() - start)
"""
    assert min(float(python(script).stdout) for _ in range(2)) < 2.5


def test_every_command_is_in_the_readme() -> None:
    readme = (DATA.parents[3] / "README.md").read_text(encoding="utf-8")
    listed = output("--help").split("Ask:")[1].split("Exit codes:")[0]
    commands = re.findall(r"^  (\w+) ", listed, flags=re.MULTILINE)
    assert len(commands) >= 15
    for command in commands:
        assert f"goffman {command}" in readme, command


@pytest.mark.parametrize(
    "command",
    [
        *("", "ls", "validate", "prompts", "anchors", "audit", "rate", "agree", "replicate"),
        *("report", "compare", "check", "export", "read", "models", "models get"),
    ],
)
def test_help_fits_eighty_columns_and_speaks_no_python(
    command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    said = output(*command.split(), "--help")
    assert max(map(len, said.splitlines())) <= 80
    told = said.partition("\n")[2]
    assert not re.search(r"<(int|str|float|path|list)|\[x>|\]\.\.\.|\.\.\.$", told, re.MULTILINE)


def test_every_form_is_explained_where_it_is_listed() -> None:
    listed = {form for row in json.loads(output("ls", "--json")) for form in row["modes"]}
    explained = output("ls").split("Modes (")[1]
    assert {
        form for form in listed if not re.search(rf"^  {form} +\w", explained, re.MULTILINE)
    } == set()


def test_version() -> None:
    done = process(GOFFMAN, "--version")
    assert (done.returncode, done.stderr) == (0, "")
    assert re.fullmatch(r"goffman \d+\.\d+\.\d+\n", done.stdout)


def test_ls_lists_every_instrument() -> None:
    listed = json.loads(output("ls", "--json"))
    assert [row["instrument"] for row in listed] == list(builtin_names())
    counts = {row["instrument"]: row["prompts"] for row in listed}
    assert counts["social-distance"] == 6342
    assert {row["instrument"]: row["controls"] for row in listed}["social-distance"] == 28 * 6
    assert all(
        row["kind"] in {"fill", "classify", "ask", "choose"} and row["citation"] for row in listed
    )
    assert "12,640" in output("ls")


OPTIONS = ["order", "labels", "no_answer", "options"]
OWN = {
    "coreference": [column.name for column in ANSWER_KEY],
    "vignettes": ["keyed", "gender", "person", *OPTIONS, "family"],
    "decisions": ["keyed", *OPTIONS, "phrase"],
    "two-people": ["keyed", *OPTIONS, "phrase", "family"],
    "social-distance": ["phrase", "family", "source"],
    "people-sentiment": ["phrase", "source"],
    "care-seeking": ["phrase"],
    "attribution": ["phrase", "family", "source"],
}
"""The columns that instruments have beside those of all."""


@pytest.mark.slow
@pytest.mark.parametrize("name", builtin_names())
def test_prompts_in_every_format_are_the_same_rows(name: str, tmp_path: Path) -> None:
    rows = json.loads(output("prompts", name, "--json", "--limit", "20"))
    assert len(rows) == 20
    own = OWN[name]
    # The baseline comes first, and has no phrase.
    named = any(row["condition"] != "baseline" for row in rows)
    assert list(rows[0]) == COLUMNS + [one for one in own if named or one != "phrase"]
    lines = output("prompts", name, "--format", "jsonl", "--limit", "20").splitlines()
    assert [json.loads(line) for line in lines] == rows
    written = tmp_path / "prompts.csv"
    output("prompts", name, "--limit", "20", "--output", written)
    with written.open(encoding="utf-8", newline="") as file:
        as_csv = [{k: v or None for k, v in row.items()} for row in csv.DictReader(file)]
    # A CSV file has no type for yes and no.
    as_text = {True: "True", False: "False"}
    assert as_csv == [{k: as_text.get(v, v) for k, v in row.items()} for row in rows]
    every = csv.DictReader(io.StringIO(output("prompts", name, "--format", "csv")))
    # Controls come last, and have a right answer.
    assert {*every.fieldnames} == {*COLUMNS, *own, *OWN["coreference"]}
    assert all(row["answer"] for row in every if row["condition"] == "control")
    without = output("prompts", name, "--format", "csv", "--no-controls")
    rows = [*csv.DictReader(io.StringIO(without))]
    assert list(rows[0]) == COLUMNS + own
    assert not [row for row in rows if row["condition"] == "control"]


def test_the_table_fits_the_terminal() -> None:
    done = process(
        GOFFMAN, "prompts", "social-distance", "--limit", "3", env=os.environ | {"COLUMNS": "70"}
    )
    assert all(len(line) <= 70 for line in done.stdout.splitlines())
    assert "to rent a room" in " ".join(done.stdout.split())


def test_a_pipe_that_closes_early_is_no_error() -> None:
    done = process("sh", "-c", f"{GOFFMAN} prompts social-distance --format csv | head -n 1")
    assert done.stdout.startswith("prompt_id,")
    assert done.stderr == ""


def test_coreference_options(tmp_path: Path) -> None:
    pro = "[The guard] thanked a nurse because [he] was glad.\n"
    (tmp_path / "pro_stereotyped_type1.txt.dev").write_text(pro * 20)
    anti = pro.replace("[he]", "[she]") * 19 + pro
    (tmp_path / "anti_stereotyped_type1.txt.dev").write_text(anti)
    arguments = ["prompts", "coreference", "--json", "--no-controls"]
    arguments += ["--set", f"coreference.winobias={tmp_path}"]
    for setting in ("adjectives=old,odd", "adjectives=kind,", "placement=by-position"):
        arguments += ["--set", f"coreference.{setting}"]
    done = in_process.goffman(*arguments)
    rows = json.loads(done.stdout)
    assert len(rows) == 20 * 2 * 3
    assert rows[2]["text"].startswith("The old guard thanked an odd nurse because he was glad.")
    assert done.stderr == (
        "kept, but please check: pro_stereotyped_type1.txt.dev, line 20: pro and anti do not "
        "differ.\n"
    )
    dropped = in_process.goffman(
        *arguments,
        *("--set", "coreference.drop-faulty=yes", "--set", "coreference.pairs=7", "--seed", "3"),
    )
    assert len(json.loads(dropped.stdout)) == 7 * 2 * 3
    assert dropped.stderr.startswith("left out: pro_stereotyped_type1.txt.dev, line 20")


def test_seeds_give_other_pairs_and_the_same_seed_the_same() -> None:
    drawn = ("prompts", "coreference", "--set", "coreference.pairs=9", "--format", "csv")
    one, again, other = (output(*drawn, "--seed", seed) for seed in ("1", "1", "2"))
    assert one == again != other


def test_the_second_wording_is_there_on_request() -> None:
    rows = json.loads(output("prompts", "attribution", "--wording", "second", "--json"))
    assert len(rows) == 621 + 28
    assert {row["wording"] for row in rows} == {"second"}


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A user's own instrument: a copy of ours with another id."""
    folder = tmp_path / "mine"
    shutil.copytree(DATA / "care-seeking", folder)
    text = (folder / "instrument.toml").read_text().replace('"care-seeking"', '"mine"')
    (folder / "instrument.toml").write_text(text)
    return folder


def test_an_instrument_of_ones_own_is_validated_and_rendered(own: Path) -> None:
    assert output("validate", own) == (
        f"{own} is valid: 391 prompts and 28 control prompts.\nMode completion: 391 prompts.\n"
        "Mode write: 391 prompts.\n"
    )
    assert json.loads(output("validate", own, "--json")) == {
        "instrument": str(own),
        "prompts": 391,
        "controls": 28,
        "modes": {"completion": 391, "write": 391},
        "faults": [],
    }
    rows = json.loads(output("prompts", own, "--json"))
    assert {row["instrument"] for row in rows} == {"mine"}


def test_a_broken_instrument_is_refused_with_every_fault(own: Path) -> None:
    items = own / "items.csv"
    items.write_text(items.read_text().replace("has,diagnosis,", "Has,diagnosis,"))
    sentence = (
        f"{own} cannot be used: 1 fault.\n"
        "  items.csv, line 2: item is 'Has'. Allowed: up to 64 lower-case letters, digits and single hyphens, "
        "such as 'social-distance'.\n"
    )
    assert refusal("validate", own) == sentence
    assert refusal("prompts", own) == sentence
    done = in_process.goffman("validate", own, "--json")
    assert done.returncode == 2
    assert json.loads(done.stdout)["faults"] == [
        {
            "file": "items.csv",
            "row": 2,
            "message": "item is 'Has'. Allowed: up to 64 lower-case letters, digits and single hyphens, "
            "such as 'social-distance'.",
        }
    ]


def test_many_faults_fit_a_screen_but_validate_says_all(own: Path) -> None:
    items = own / "items.csv"
    items.write_text(items.read_text().replace("{diagnosis}", "{illness}"))
    on_screen = refusal("prompts", own)
    assert on_screen.endswith(f"  … and 2 more: goffman validate {own}\n")
    assert "17 faults" in on_screen
    assert refusal("validate", own).count("items.csv, line") == 17


NO_INSTRUMENT = "There is no instrument or anchor '"
PAIRS = "coreference --set coreference."
SETTINGS = (
    "coreference.pairs, coreference.adjectives, coreference.placement, coreference.neutral-pairs, "
    "coreference.they, coreference.winobias, coreference.drop-faulty."
)


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("prompts atribution", "Did you mean 'attribution'?"),
        ("prompts attribution --wording frst", "Did you mean 'first'?"),
        ("prompts attribution --seed 1", "--seed cannot be used with attribution"),
        ("prompts coreference --limit 0", "--limit"),
        ("prompts coreference --format xml", "xml"),
        ("prompts care-seeking --json --format csv", "Give --json or --format csv, not both.\n"),
        (f"prompts {PAIRS}winobias=/nowhere", "winobias: /nowhere was not found."),
        (f"prompts {PAIRS}pairs=0", "coreference.pairs is 0. Allowed: a whole number, 1 or more."),
        (f"prompts {PAIRS}pairs=two", "coreference.pairs is 'two'. Allowed: a whole number, 1 "),
        (f"prompts {PAIRS}pairs=", "coreference.pairs is empty. Give a value."),
        (f"prompts {PAIRS}pairs", "--set is 'coreference.pairs'. Write INSTRUMENT.NAME=VALUE, "),
        (
            f"prompts {PAIRS}pairs=2 --set coreference.pairs=3",
            "coreference.pairs has 2 values. Give ",
        ),
        (
            f"prompts {PAIRS}pair=5",
            "There is no setting 'coreference.pair'. Did you mean 'coreference.pairs'? Allowed "
            f"here: {SETTINGS}",
        ),
        (
            f"prompts {PAIRS}placement=by-positon",
            "coreference.placement is 'by-positon'. Allowed: by-stereotype, by-position, both. "
            "Did you mean 'by-position'?",
        ),
        (
            f"prompts {PAIRS}drop-faulty=true",
            "coreference.drop-faulty is 'true'. Allowed: yes, no.",
        ),
        (
            "prompts care-seeking --set care-seeking.pairs=2",
            "There is no setting 'care-seeking.pairs'. Allowed here: none, because these "
            "instruments have no settings.\n",
        ),
        ("validate /nowhere", f"{NO_INSTRUMENT}/nowhere'"),
        (f"validate {'a' * 3_000}", f"{NO_INSTRUMENT}{'a' * 200}'. Give a folder, or "),
        ("validate a\\0b", f"{NO_INSTRUMENT}a\\0b'"),
        ("validate pachankis2081", f"{NO_INSTRUMENT}pachankis2081'. Give a folder, or "),
        ("validate pachankis2081", "Did you mean 'pachankis2018'?\n"),
        (
            "export runs/demo --format paper",
            "--format is not an option here. Did you mean --to?\n",
        ),
        ("promts", "promts"),
    ],
)
def test_wrong_use_is_said(command: str, says: str) -> None:
    assert says in refusal(*command.split())


def test_a_file_that_cannot_be_written_is_said_and_nothing_is_lost(tmp_path: Path) -> None:
    target = tmp_path / "kept.csv"
    target.mkdir()
    assert refusal("prompts", "care-seeking", "--output", target) == (
        f"{target} cannot be written: Is a directory.\n"
    )
    assert refusal("prompts", "care-seeking", "--output", tmp_path / "no" / "x.csv") == (
        f"{tmp_path / 'no' / 'x.csv'} cannot be written: No such file or directory.\n"
    )
    assert [path.name for path in tmp_path.iterdir()] == ["kept.csv"]


def test_hostile_text_shows_as_text(own: Path) -> None:
    conditions = own / "conditions.csv"
    hostile = "[red]=1+1[/red]"
    before = "other,Cancer,cancer"
    conditions.write_text(conditions.read_text().replace(before, f"other,Cancer,{hostile}"))
    assert hostile in re.sub(r"\s+", "", output("prompts", own))


def test_a_fault_cannot_play_tricks_on_the_terminal(own: Path) -> None:
    items = own / "items.csv"
    items.write_text(
        items.read_text().replace("has,diagnosis,", "z\x1b]0;pwn\x07\u202e,diagnosis,")
    )
    said = refusal("validate", own)
    assert "z\\x1b]0;pwn\\x07\\u202e" in said
    assert not {"\x1b", "\x07", "\u202e"} & set(said)


# ── Where the output goes ──────────────────────────────────────────────────────────────────────


def test_a_link_is_followed_and_rights_are_kept(tmp_path: Path) -> None:
    real, link = tmp_path / "real.csv", tmp_path / "link.csv"
    real.write_text("old")
    real.chmod(0o600)
    link.symlink_to(real)
    output("prompts", "care-seeking", "--limit", "1", "--output", link)
    assert link.is_symlink()
    assert real.read_text().startswith("prompt_id,")
    assert real.stat().st_mode & 0o777 == 0o600


def test_a_pipe_and_a_device_are_written_to_and_stay(tmp_path: Path) -> None:
    output("prompts", "care-seeking", "--output", "/dev/null")
    assert Path("/dev/null").is_char_device()
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    with subprocess.Popen(["cat", str(fifo)], stdout=subprocess.PIPE, text=True) as reader:
        output("prompts", "care-seeking", "--limit", "1", "--output", fifo)
        assert reader.stdout.read().startswith("prompt_id,")
    assert fifo.is_fifo()


@pytest.mark.parametrize("target", [".", "/", "x" * 300])
def test_impossible_names_of_files_are_said(target: str, tmp_path: Path) -> None:
    done = in_process.goffman("prompts", "care-seeking", "--output", target, cwd=tmp_path)
    assert done.returncode == 2
    assert "cannot be written" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("ending", "first"),
    [("csv", "prompt_id,"), ("txt", "prompt_id,"), ("jsonl", '{"'), ("JSON", "[")],
)
def test_a_file_has_the_format_of_its_name(tmp_path: Path, ending: str, first: str) -> None:
    path = tmp_path / f"prompts.{ending}"
    output("prompts", "care-seeking", "--limit", "2", "--output", path)
    assert path.read_text().startswith(first)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "code", "says"),
    [
        ("ls | true", 0, ""),
        ("ls >&-", 0, ""),
        ("ls > /dev/full", 1, "The output cannot be written: No space left on device.\n"),
    ],
)
def test_an_output_that_cannot_be_written(command: str, code: int, says: str) -> None:
    done = process("bash", "-c", f"set -o pipefail; {GOFFMAN} {command}")
    assert (done.returncode, done.stderr) == (code, says)


def test_a_terminal_without_our_signs_gets_their_numbers() -> None:
    done = process(GOFFMAN, "ls", "--cite", env=os.environ | {"PYTHONIOENCODING": "ascii"})
    assert done.returncode == 0
    assert "\\u2026" in done.stdout


def test_validate_takes_the_name_of_an_anchor_as_of_an_instrument() -> None:
    for name, counted in (("pachankis2018", "values"), ("social-distance", "prompts")):
        done = in_process.goffman("validate", name)
        assert done.returncode == 0, done.stderr
        assert re.match(rf"{name} is valid: [\d,]+ {counted} ", done.stdout)
    found = json.loads(in_process.goffman("validate", "gss-vignettes", "--json").stdout)
    assert (found["anchor"], found["faults"]) == ("gss-vignettes", [])
    assert found["values"] > 0


def test_validate_gives_json_for_what_is_no_instrument() -> None:
    done = in_process.goffman("validate", "/nowhere", "--json")
    assert done.returncode == 2
    assert json.loads(done.stdout)["faults"][0]["file"] == "/nowhere"


@contextmanager
def at_most(seconds: int) -> Iterator[None]:
    """What waits for longer, such as for the other end of a pipe, fails."""
    before = signal.signal(signal.SIGALRM, lambda *_: pytest.fail(f"waits for {seconds} s"))
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


AWAY = "Move it away and run the same command again."


def test_a_pipe_in_the_place_of_a_run_s_manifest_does_not_keep_anyone_waiting(
    tmp_path: Path,
) -> None:
    runs = tmp_path / "one", tmp_path / "other"
    for run in runs:
        run.mkdir()
        os.mkfifo(run / "manifest.json")
    for command in (["report", runs[0]], ["compare", *runs], ["rate", runs[0]]):
        with at_most(60):
            done = in_process.goffman(*command)
        assert done.returncode == 2
        assert done.stderr == f"manifest.json in {runs[0]} is a named pipe, not a file. {AWAY}\n"


def test_a_link_that_leads_nowhere_is_told_as_that(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").symlink_to(tmp_path / "gone")
    done = in_process.goffman("report", tmp_path)
    assert done.returncode == 2
    assert done.stderr == (
        f"manifest.json in {tmp_path} is a link that leads nowhere. Correct or remove it.\n"
    )


@pytest.mark.slow
def test_what_there_is_no_right_to_read_is_told_as_that(
    tmp_path: Path, without_rights: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    (tmp_path / "manifest.json").write_text("{}")
    (tmp_path / "manifest.json").chmod(0)
    script = "from goffman.cli.main import main; main()"
    done = without_rights(sys.executable, "-c", script, "report", tmp_path)
    assert done.returncode == 2
    assert done.stderr == f"manifest.json in {tmp_path} cannot be read: Permission denied.\n"


@pytest.mark.parametrize("command", ["agree", "report"])
def test_a_name_that_is_too_long_is_told_as_that(tmp_path: Path, command: str) -> None:
    done = in_process.goffman(command, "x" * 3000, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith(f"The name '{'x' * 60}…' is too long: it has 3,0")
    assert done.stderr.endswith(" characters, more than this system allows. Give a shorter name.\n")


# ── What the system refuses ────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def fewer_rights() -> list[str]:
    """What stands before a command that may do no more than its files' rights say, even for root."""
    if os.geteuid() != 0:
        return []
    if not shutil.which("setpriv"):
        pytest.skip("root, and no setpriv to have fewer rights")
    return ["setpriv", "--bounding-set", "-dac_override,-dac_read_search"]


@pytest.fixture(scope="module")
def locked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with a folder that cannot be entered, a file that cannot be read, one not written."""
    tmp_path = tmp_path_factory.mktemp("locked")
    (tmp_path / "shut").mkdir()
    (tmp_path / "shut" / "file.csv").write_text("x")
    (tmp_path / "unreadable.csv").write_text("x")
    (tmp_path / "fixed").mkdir()
    (tmp_path / "fixed" / "file.csv").write_text("x")
    shutil.copytree(MINI, tmp_path / "model")
    changed = {"shut": 0o000, "unreadable.csv": 0o000, "fixed/file.csv": 0o444, "fixed": 0o555}
    changed["model/config.json"] = 0o000
    for name, rights in changed.items():
        (tmp_path / name).chmod(rights)
    yield tmp_path
    for name in changed:
        (tmp_path / name).chmod(0o755)


WITHOUT_RIGHTS = [
    ("audit ./model --dry-run", "config.json"),
    ("audit shut/model --dry-run", "shut/model"),
    (
        "prompts coreference --set coreference.winobias=shut",
        "shut cannot be read: Permission denied.",
    ),
    (
        "prompts coreference --set coreference.winobias=shut/x",
        "shut/x cannot be opened: Permission denied.",
    ),
    ("replicate mei2023 --data shut", "path 'shut' is not readable."),
    ("replicate mei2023 --data shut/x", "cannot be opened: Permission denied."),
    ("agree unreadable.csv", "path 'unreadable.csv' is not readable."),
    ("agree shut/file.csv", "shut/file.csv cannot be opened: Permission denied."),
    (
        "audit --dry-run --instrument attribution --ratings unreadable.csv",
        "path 'unreadable.csv' is not readable.",
    ),
    (
        "audit bundled:mini --dry-run --instrument attribution --ratings shut/file.csv",
        "file.csv: the file cannot be read: Permission denied.",
    ),
    ("prompts care-seeking --output fixed/new.csv", "fixed/new.csv cannot be written: "),
    ("check shut/run --list", "manifest.json in shut/run cannot be read: Permission denied."),
    ("report shut/run", "manifest.json in shut/run cannot be read: Permission denied."),
]


@pytest.fixture(scope="module")
def said_without_rights(locked: Path, fewer_rights: list[str]) -> dict[str, dict[str, str | int]]:
    """How each command ended: all in one process, since most of the time is that of its imports."""
    script = """
import json, sys
import in_process
for command in sys.argv[1:]:
    done = in_process.goffman(*command.split())
    print(json.dumps({"code": done.returncode, "errors": done.stderr}))
"""
    commands = [command for command, _ in WITHOUT_RIGHTS]
    env = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = (*fewer_rights, sys.executable, "-c", script, *commands)
    done = process(*command, cwd=locked, env=env)
    return dict(zip(commands, map(json.loads, done.stdout.splitlines()), strict=True))


@pytest.mark.slow
@pytest.mark.parametrize(("command", "says"), WITHOUT_RIGHTS)
def test_a_file_without_rights_is_named_and_so_is_what_was_to_be_done(
    command: str, says: str, said_without_rights: dict[str, dict[str, str | int]]
) -> None:
    done = said_without_rights[command]
    errors = str(done["errors"])
    assert done["code"] == 2
    assert says in errors
    assert "Permission denied" in errors or "is not readable" in errors
    assert "output cannot" not in errors
    assert "Traceback" not in errors


def test_whether_a_file_was_read_or_written_is_said_where_it_is_known(
    locked: Path, fewer_rights: list[str]
) -> None:
    script = """
import os
from pathlib import Path
from goffman.errors import system_error
def told(do, *arguments):
    try:
        do(*arguments)
    except OSError as error:
        print(type(system_error(error)).__name__, system_error(error))
told(open, "unreadable.csv")
told(open, "unreadable.csv", "w")
told(open, "fixed/file.csv", "w")
told(open, "fixed/new.csv", "w")
told(os.replace, "unreadable.csv", "fixed/file.csv")
told(open, "shut/file.csv")
told(open, b"nowhere/file.csv", "w")
told(open, "fixed")
told(open, "y" * 300)
told(open, "/dev/full/x")
print(system_error(OSError(30, "Read-only file system", "fixed/file.csv")))
told(os.write, os.open("/dev/full", os.O_WRONLY), b"x")
"""
    done = process(*fewer_rights, sys.executable, "-c", script, cwd=locked)
    assert done.stdout.splitlines() == [
        "InputError unreadable.csv cannot be read: Permission denied.",
        "InputError unreadable.csv cannot be read: Permission denied.",
        "InputError fixed/file.csv cannot be written: Permission denied.",
        "InputError fixed/new.csv cannot be written: Permission denied.",
        "InputError fixed/file.csv cannot be written: Permission denied.",
        "InputError shut/file.csv cannot be opened: Permission denied.",
        "InputError nowhere/file.csv cannot be opened: No such file or directory.",
        "InputError fixed cannot be opened: Is a directory.",
        f"InputError The name '{'y' * 60}…' is too long: it has 300 characters, more than this "
        "system allows. Give a shorter name.",
        "InputError /dev/full/x cannot be opened: Not a directory.",
        "fixed/file.csv cannot be written: Read-only file system.",
        "GoffmanError A file cannot be read or written: No space left on device.",
    ]


@pytest.mark.parametrize("name", ["gpt-4o-mini", "o3", "o4-mini", "chatgpt-4o-latest"])
def test_a_model_of_openai_is_looked_for_there(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    said = refusal("audit", name, "--dry-run")
    assert said.endswith(f"or give the folder of a model. Did you mean openai:{name}?\n")


def test_a_missing_run_is_answered_with_those_that_there_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    start = "goffman show needs RUN: goffman show RUN. "
    assert refusal("show") == (
        f"{start}There are no runs in the folder runs; goffman audit writes them.\n"
    )
    for time, name in enumerate(("first", "demo", "other")):
        (tmp_path / "runs" / name).mkdir(parents=True)
        if name != "other":
            manifest = tmp_path / "runs" / name / "manifest.json"
            manifest.write_text("{}")
            os.utime(manifest, (time, time))
    assert refusal("show") == f"{start}Runs here, newest first: runs/demo, runs/first.\n"


def test_each_instrument_is_a_line_that_says_who_can_be_asked() -> None:
    from goffman.models.registry import BUILT_IN
    from goffman.modes import modes_named

    lines = output("ls").splitlines()
    for name in builtin_names():
        (line,) = (one for one in lines if one.startswith(f"{name} "))
        kinds = [one.kind for one in modes_named(name)[1]]
        able = [row.name for row in BUILT_IN if any(map(row.table_for, kinds))]
        assert line.endswith(f"  {', '.join(able)}")
    cited = output("ls", "--cite")
    assert "Bias Against 93 Stigmatized Groups" in cited
    assert max(map(len, [*lines, *cited.splitlines()])) <= 80


def test_the_usual_options_of_an_audit_are_shown_first_and_all_on_request() -> None:
    short, every = output("audit", "--help"), output("audit", "--help-all")
    shown = set(re.findall(r"^  (--[a-z-]+)", short, flags=re.MULTILINE))
    assert 10 <= len(shown) <= 14
    for name, option in audit_options().items():
        assert (f"  {flag_of(name)} " in short) == option.first, name
        assert f"  {flag_of(name)} " in every, name
    for name in INSTRUMENT_SETTINGS:
        assert f".{name}=" in every
        assert f"{name}=" not in short.replace("coreference.pairs=50", "")


def test_the_options_of_an_audit_stand_under_headings() -> None:
    said = output("audit", "--help-all")
    headings = [line for line in said.splitlines() if line.endswith(":") and line[0] != " "]
    assert headings == [
        "Arguments:",
        "What to ask:",
        "Output:",
        "Models on this machine:",
        "Chat models:",
        "Servers:",
        "Measuring:",
        "Options:",
        "Settings of instruments (--set INSTRUMENT.NAME=VALUE):",
    ]
    # A first audit needs what one screen has.
    first = output("audit", "--help").splitlines()
    assert len(first) <= 64
    assert all(name in "\n".join(first) for name in ("MODEL", "--limit", "--output"))


def test_validate_knows_the_measures(tmp_path: Path) -> None:
    shutil.copytree(DATA / "care-seeking", tmp_path / "mine")
    toml = tmp_path / "mine" / "instrument.toml"
    toml.write_text(toml.read_text().replace("gender-of-subject", "gender-of-subjct"))
    assert "measure in [settings] is 'gender-of-subjct'" in refusal("validate", tmp_path / "mine")
