"""The page's server: who gets in, what a post may say, and that what it confirms is on the disk."""

from __future__ import annotations

import json
import math
import random
import re
import shutil
import socket
import threading
import time

import polars as pl
import pytest
from showing import showing

from goffman.lexicons.attitude import load_attitudes
from goffman.rating.server import LARGEST
from goffman.rating.worklist import read_journal, words_to_rate
from in_process import goffman


@pytest.fixture(scope="module")
def shown(answered, tmp_path_factory):
    """A page that many tests ask; its run is a copy."""
    run = shutil.copytree(answered, tmp_path_factory.mktemp("page") / answered.name)
    with showing("rate", run, "--rater", "anna") as page:
        yield page


@pytest.fixture
def page(shown):
    """The page, which has saved nothing when the test ends."""
    journal = shown.run / "ratings" / "anna.jsonl"
    before = journal.read_bytes()
    yield shown
    assert journal.read_bytes() == before


def told(page, **changes):
    """A post that would be saved."""
    state = page.state()
    word = state["entry"]["word"]
    return {"run": state["run"], "do": "rate", "word": word, "label": "neutral"} | changes


def test_the_page_is_strict_about_what_it_loads(page):
    status, html, headers = page.request()
    assert status == 200
    expected = {
        "Content-Security-Policy": (
            "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
            "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        ),
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
        "Cache-Control": "no-store",
        "Access-Control-Allow-Origin": None,
    }
    assert {name: headers[name] for name in expected} == expected
    assert not re.search("https?:", html)


def test_nobody_but_this_machine_is_listened_to(page):
    host, port = page.host.split(":")
    assert host == "127.0.0.1"
    others = {info[4][0] for info in socket.getaddrinfo(socket.gethostname(), None)} - {"127.0.0.1"}
    for address in others:
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        with socket.socket(family) as outside:
            outside.settimeout(2)
            assert outside.connect_ex((address, int(port))) != 0
    assert page.request(Host=f"localhost:{port}")[0] == 200
    assert page.request(Host="")[0] in (400, 403)


FOREIGN = [
    # DNS rebinding: another site's name that leads to 127.0.0.1.
    *(
        ({"Host": host}, f"The Host '{host}' is not this server. Use the address in the terminal.")
        for host in ("evil.example", "127.0.0.1", "127.0.0.1:1", "localhost")
    ),
    *(
        ({"Origin": site}, f"A request with the Origin '{site}' does not come from this page.")
        for site in ("http://evil.example", "null", "https://127.0.0.1")
    ),
    *(
        (
            {"Sec_Fetch_Site": site},
            "A request that another site makes is refused. Open the address by hand.",
        )
        for site in ("cross-site", "same-site")
    ),
    *(
        (
            {"path": path},
            "The token in the address is not this server's. Use the address in the terminal.",
        )
        for path in ("/", "//", "/x/", "/x/state", "/favicon.ico", "/%00/", "/%C3%A9/")
    ),
]


@pytest.mark.parametrize(("request_", "message"), FOREIGN)
def test_a_foreign_request_is_refused(page, request_, message):
    status, answer, headers = page.request(**{"path": f"{page.path}state"} | request_)
    assert (status, answer) == (403, {"error": message})
    assert "Content-Security-Policy" in headers


def test_a_post_with_a_foreign_token_is_refused(page):
    status, _, _ = page.request(
        "POST",
        f"/{'x' * 32}/rate",
        body=json.dumps(told(page)),
        Origin=f"http://{page.host}",
        Content_Type="application/json",
    )
    assert status == 403


@pytest.mark.parametrize(
    ("body", "status", "message"),
    [
        *(
            (body, 400, "The post is not JSON. Nothing was saved.")
            for body in (b"", b"{", b"\xff\xfe", b"[" * 60_000)
        ),
        (b"[]", 400, "The post is not a JSON object. Nothing was saved."),
        (b"{}", 409, None),
        (b" " * (LARGEST + 1), 413, "The post has more than 64 kB. Nothing was saved."),
        (b"x" * 5_000_000, 413, "The post has more than 64 kB. Nothing was saved."),
    ],
)
def test_a_malformed_or_huge_post_is_refused(page, body, status, message):
    try:
        answered, answer = page.post(body)
    except (BrokenPipeError, ConnectionResetError):
        # The server has answered and hung up while we were still sending.
        assert len(body) > 1_000_000
    else:
        assert answered == status
        assert message is None or answer == {"error": message}
    assert page.state()


REFUSED = [
    *(
        ({}, {"Origin": site}, 403, f"A request with {shown} does not come from this page.")
        for site, shown in (
            ("http://evil.example", "the Origin 'http://evil.example'"),
            ("null", "the Origin 'null'"),
            ("https://127.0.0.1", "the Origin 'https://127.0.0.1'"),
            (None, "no Origin"),
        )
    ),
    # A form on another site can send text/plain without asking first.
    (
        {},
        {"Content_Type": "text/plain"},
        415,
        "The post is 'text/plain'; it must be application/json.",
    ),
    (
        {"run": "0" * 16},
        {},
        409,
        "This rating belongs to another run, not to tiny-run. Nothing was saved. Close the tab and "
        "use the address in the terminal.",
    ),
    *(
        (changes, {}, 422, f"This rating cannot be used: {fault} Nothing was saved.")
        for changes, fault in (
            *(
                (
                    {"label": label},
                    f"label is {json.dumps(label)}. Allowed: positive, negative, neutral, irrelevant.",
                )
                for label in ("bad", None, ["x"])
            ),
            ({"do": "delete"}, 'do is "delete". Allowed: rate, skip, undo, note.'),
            ({"word": ""}, "word is missing or empty."),
            ({"word": 7}, "word is 7; it must be text."),
            (
                {"do": "note", "note": "x" * 3000},
                "note has 3,000 characters. Allowed: up to 2,000.",
            ),
        )
    ),
    (
        {"word": "<img src=x>"},
        {},
        422,
        "'<img src=x>' is not among the words of this page. Nothing was saved.",
    ),
    ({"do": "undo"}, {}, 422, "There is nothing to undo."),
]


@pytest.mark.parametrize(("changes", "headers", "status", "message"), REFUSED)
def test_a_post_that_cannot_be_saved_is_refused(page, changes, headers, status, message):
    assert page.post(told(page, **changes), **headers) == (status, {"error": message})


FIELDS = ("run", "do", "word", "item", "wording", "label", "note")
STRANGE = (None, True, 7, -1e308, "\0", "x" * 5_000, "\u202e", [], {}, [[]] * 500)


def with_field(page, field, value):
    return told(page) | {"do": "note" if field == "note" else "rate"} | {field: value}


@pytest.mark.parametrize("field", FIELDS)
def test_whatever_stands_in_a_field_the_page_answers_and_saves_nothing(page, field):
    for value in STRANGE:
        if field == "note" and value in ("\0", "\u202e"):
            continue
        status, answer = page.post(with_field(page, field, value))
        assert status == (409 if field == "run" else 422), value
        assert "Nothing was saved." in answer["error"]
        assert len(answer["error"]) < 300


@pytest.mark.parametrize(
    ("literal", "message"),
    [
        *((number, None) for number in ("NaN", "Infinity", "1e999", "9" * 5_000)),
        *(
            (half, "The post holds half of a character (a lone surrogate). Nothing was saved.")
            for half in ('"\\ud800"', '"\\udfff x"', '{"\\ud800": 1}')
        ),
    ],
)
def test_numbers_that_are_none_and_half_characters_are_refused(page, literal, message):
    for field in (*FIELDS, "rater") if message else FIELDS:
        body = json.dumps(with_field(page, field, "HERE")).replace('"HERE"', literal)
        status, answer = page.post(body.encode())
        assert status in ((400,) if message else (400, 409, 422))
        assert message is None or answer == {"error": message}
        assert len(answer["error"]) < 300


def test_other_methods_are_refused(page):
    assert page.request("PUT", f"{page.path}rate", Origin=f"http://{page.host}")[0] == 405
    assert page.request(path=f"{page.path}rate")[0] == 405
    assert page.request(path=f"{page.path}../secret")[0] in (403, 404)
    assert page.request(path=f"{page.path}page.html")[0] == 404


def test_rate_skip_undo_and_note(run):
    with showing("rate", run, "--rater", "ben") as page:
        first = page.state()["entry"]["word"]
        _, state = page.post(told(page, label="negative"))
        second = state["entry"]["word"]
        assert (state["undo"], state["left"]) == (first, state["total"] - 1)
        _, state = page.post(told(page, do="skip"))
        third = state["entry"]["word"]
        assert len({first, second, third}) == 3
        assert state["skipped"] == 1
        page.post(told(page, do="note", note="hm"))
        assert page.state()["entry"]["note"] == "hm"
        _, state = page.post(told(page, do="undo"))
        assert state["entry"]["word"] == second
        _, state = page.post(told(page, do="undo"))
        assert (state["entry"]["word"], state["undo"]) == (first, None)
        while (state := page.state())["entry"]:
            page.post(told(page, do="skip" if state["skipped"] == 0 else "rate"))
        assert state["left"] == 0
        assert state["mass"]["left"] == 0
        last = page.stop()
    path = run / "ratings" / "ben.jsonl"
    assert last == f"{state['total']} words rated by ben, 0 left. Saved in {path}.\n"
    assert len(read_journal(path).labels) == state["total"]


def test_what_is_confirmed_is_on_the_disk_when_the_server_is_killed(run):
    """A rater as fast as a machine, and SIGKILL at any moment; three times."""
    confirmed = {}
    moments = random.Random(4)

    def rate_until_killed(page):
        try:
            while (state := page.state())["entry"]:
                label = moments.choice(["positive", "negative"])
                post = {"run": state["run"], "do": "rate", "label": label}
                status, _ = page.post(post | {"word": state["entry"]["word"]})
                assert status == 200
                confirmed[state["entry"]["word"]] = label
        except (OSError, EOFError, ValueError):
            pass
        except Exception as error:
            if type(error).__module__ != "http.client":
                raise

    for kills in (1, 2, 3):
        with showing("rate", run, "--rater", "anna") as page:
            fast = threading.Thread(target=rate_until_killed, args=(page,))
            enough = len(confirmed) + moments.randint(2, 5)
            fast.start()
            # A fast machine may have rated every word before this thread looks again.
            while fast.is_alive() and len(confirmed) < enough:
                time.sleep(0.0005)
            page.kill()
            fast.join()
        labels = read_journal(run / "ratings" / "anna.jsonl").labels
        said = {unit.word: label for unit, label in labels.items()}
        assert {word: said.get(word) for word in confirmed} == confirmed
        assert len(said) <= len(confirmed) + kills


def test_a_port_in_use_is_refused(run):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = goffman("rate", run, "--rater", "a", "--port", port)
    assert done.returncode == 2
    assert done.stderr.split("\n", 1)[1] == (
        f"--port {port} cannot be used: Address already in use. Give another port, or leave out "
        "--port.\n"
    )


def test_where_nothing_is_unrated_no_page_is_opened(run, tmp_path):
    mine = tmp_path / "mine.csv"
    every = words_to_rate(run, load_attitudes(shipped=False), offer="all").entries
    words = [entry.unit.word for entry in every]
    mine.write_text("word,label\n" + "".join(f"{word},neutral\n" for word in words))
    done = goffman("rate", run, "--rater", "anna", "--unrated", "--ratings", mine)
    assert done.returncode == 0
    assert done.stderr == (
        f"Nothing to rate: all words of tiny-run are already rated. To rate all {len(words)} "
        f"words (about {math.ceil(len(words) / 10)} minutes), use --all.\n0 words rated by anna, "
        f"0 left. Saved in {run}/ratings/anna.jsonl.\n"
    )
    done = goffman("rate", run, "--rater", "anna", "--ratings", mine)
    assert done.stderr.startswith(
        "Nothing to rate: the words that make up 80% of the probability in tiny-run are "
        "already rated. To rate all "
    )


def test_how_many_words_and_minutes_are_said_before_the_page_opens(run):
    """Six seconds a word: ten a minute."""
    none = load_attitudes(shipped=False)
    most, every = (words_to_rate(run, none, offer=offer).entries for offer in ("most", "all"))
    assert len(most) < len(every)
    for options, offered in (((), most), (("--all",), every)):
        share = sum(entry.mass for entry in offered)
        more = (
            f" To rate all {len(every)} words (about {math.ceil(len(every) / 10)} "
            "minutes), use --all."
        )
        with showing("rate", run, "--rater", "anna", *options) as page:
            assert page.said.splitlines()[0] == (
                f"{len(offered)} words to rate, as rater 'anna'. They make up {share:.1%} of "
                "the probability of all words in tiny-run. This takes about "
                f"{math.ceil(len(offered) / 10)} minutes, at 6 seconds per "
                f"word.{'' if options else more}"
            )
            state = page.state()
            assert state["time"] == f"about {math.ceil(len(offered) / 10)} minutes"
            assert (state["total"], state["words"]) == (len(offered), len(every))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ("--all", "--unrated"),
            "--all and --unrated cannot be used together. Give one, or neither.\n",
        ),
        (("--rater", "../x"), "--rater is '../x'. Allowed: up to 40 letters"),
    ],
)
def test_options_that_cannot_be_are_refused(run, options, message):
    done = goffman("rate", run, *options)
    assert done.returncode == 2
    assert done.stderr.startswith(message)


def test_no_example_on_the_page_is_ever_asked(page):
    """What is asked is one word, and no word with an attitude stands in an example either."""
    html = page.request()[1]
    shown = re.findall("<em>(.*?)</em>", html)
    examples = [one.strip() for line in shown for one in line.split(",")]
    assert len(shown) == 4
    assert all(" " in one for one in examples)
    leaning = load_attitudes().table.filter(pl.col("label") != "irrelevant")["word"].to_list()
    assert "hard" in leaning
    assert not {word for one in examples for word in one.split()} & {*leaning}
    every = words_to_rate(page.run, load_attitudes(shipped=False), offer="all").entries
    assert not {*examples} & {entry.unit.word for entry in every}
