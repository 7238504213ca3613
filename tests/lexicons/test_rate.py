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
def page(answered, tmp_path_factory):
    """A page that many tests ask; its run is a copy."""
    run = shutil.copytree(answered, tmp_path_factory.mktemp("page") / answered.name)
    with showing("rate", run, "--rater", "anna") as shown:
        yield shown


def told(page, **changes):
    """A post that would be saved."""
    state = page.state()
    word = state["entry"]["word"]
    return {"run": state["run"], "do": "rate", "word": word, "label": "neutral"} | changes


def lines(page):
    return (page.run / "ratings" / "anna.jsonl").read_bytes()


def test_the_page_is_strict_about_what_it_loads(page):
    status, html, headers = page.request()
    assert status == 200
    assert headers["Content-Security-Policy"] == (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
        "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    assert headers["Referrer-Policy"] == "no-referrer"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Cache-Control"] == "no-store"
    assert "Access-Control-Allow-Origin" not in headers
    assert "http:" not in html
    assert "https:" not in html


def test_nobody_but_this_machine_is_listened_to(page):
    host, port = page.host.split(":")
    assert host == "127.0.0.1"
    others = {info[4][0] for info in socket.getaddrinfo(socket.gethostname(), None)} - {"127.0.0.1"}
    for address in others:
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        with socket.socket(family) as outside:
            outside.settimeout(2)
            assert outside.connect_ex((address, int(port))) != 0


def test_localhost_is_this_machine_too(page):
    port = page.host.split(":")[1]
    assert page.request(Host=f"localhost:{port}")[0] == 200


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "127.0.0.1:1", "localhost", ""])
def test_a_foreign_host_is_refused(page, host):
    """DNS rebinding: another site's name that leads to 127.0.0.1."""
    status, answer, _ = page.request(Host=host)
    assert status == 403 if host else status in (400, 403)
    if host:
        assert answer == {
            "error": f"The Host '{host}' is not this server. Use the address in the terminal."
        }


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "https://127.0.0.1", None])
def test_a_foreign_origin_is_refused(page, origin):
    before = lines(page)
    status, answer = page.post(told(page), Origin=origin)
    shown = f"the Origin '{origin}'" if origin else "no Origin"
    assert (status, answer) == (
        403,
        {"error": f"A request with {shown} does not come from this page."},
    )
    assert lines(page) == before
    if origin:
        assert page.request(path=f"{page.path}state", Origin=origin)[0] == 403


def test_a_request_that_another_site_makes_is_refused(page):
    for site in ("cross-site", "same-site"):
        status, answer, _ = page.request(Sec_Fetch_Site=site)
        assert (status, answer) == (
            403,
            {"error": "A request that another site makes is refused. Open the address by hand."},
        )


@pytest.mark.parametrize("path", ["/", "", "//", "/x/", "/x/state", "/favicon.ico", "/%00/", "/é/"])
def test_a_foreign_token_is_refused(page, path):
    sent = path.encode().decode("latin-1").replace("\xc3\xa9", "%C3%A9") or "/"
    status, answer, headers = page.request(path=sent)
    assert (status, answer) == (
        403,
        {
            "error": "The token in the address is not this server's. Use the address in the terminal."
        },
    )
    assert "Content-Security-Policy" in headers


def test_a_post_with_a_foreign_token_is_refused(page):
    before = lines(page)
    status, _, _ = page.request(
        "POST",
        f"/{'x' * 32}/rate",
        body=json.dumps(told(page)),
        Origin=f"http://{page.host}",
        Content_Type="application/json",
    )
    assert status == 403
    assert lines(page) == before


@pytest.mark.parametrize(
    ("body", "status", "message"),
    [
        (b"", 400, "The post is not JSON. Nothing was saved."),
        (b"{", 400, "The post is not JSON. Nothing was saved."),
        (b"\xff\xfe", 400, "The post is not JSON. Nothing was saved."),
        (b"[" * 60_000, 400, "The post is not JSON. Nothing was saved."),
        (b"[]", 400, "The post is not a JSON object. Nothing was saved."),
        (b"{}", 409, None),
        (b" " * (LARGEST + 1), 413, "The post has more than 64 kB. Nothing was saved."),
        (b"x" * 5_000_000, 413, "The post has more than 64 kB. Nothing was saved."),
    ],
)
def test_a_malformed_or_huge_post_is_refused(page, body, status, message):
    before = lines(page)
    try:
        found, answer = page.post(body)
    except (BrokenPipeError, ConnectionResetError):
        # The server has answered and hung up while we were still sending.
        assert len(body) > 1_000_000
    else:
        assert found == status
        assert message is None or answer == {"error": message}
    assert lines(page) == before
    assert page.state()


def test_a_post_of_another_kind_is_refused(page):
    """A form on another site can send text/plain without asking first."""
    assert page.post(told(page), Content_Type="text/plain") == (
        415,
        {"error": "The post is 'text/plain'; it must be application/json."},
    )


def test_a_post_for_another_run_is_refused(page):
    before = lines(page)
    assert page.post(told(page, run="0" * 16)) == (
        409,
        {
            "error": (
                "This rating belongs to another run, not to tiny-run. Nothing was saved. Close the "
                "tab and use the address in the terminal."
            )
        },
    )
    assert lines(page) == before


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"label": "bad"}, 'label is "bad". Allowed: positive, negative, neutral, irrelevant.'),
        ({"label": None}, "label is null. Allowed: positive, negative, neutral, irrelevant."),
        ({"label": ["x"]}, 'label is ["x"]. Allowed: positive, negative, neutral, irrelevant.'),
        ({"do": "delete"}, 'do is "delete". Allowed: rate, skip, undo, note.'),
        ({"word": ""}, "word is missing or empty."),
        ({"word": 7}, "word is 7; it must be text."),
        (
            {"do": "note", "note": "x" * 3000},
            "note has 3,000 characters. Allowed: up to 2,000.",
        ),
    ],
)
def test_a_post_that_says_something_strange_is_refused(page, changes, message):
    before = lines(page)
    assert page.post(told(page, **changes)) == (
        422,
        {"error": f"This rating cannot be used: {message} Nothing was saved."},
    )
    assert lines(page) == before


FIELDS = ("run", "do", "word", "item", "wording", "label", "note")
STRANGE = (None, True, 7, -1e308, "\0", "x" * 5_000, "\u202e", [], {}, [[]] * 500)


def with_field(page, field, value):
    return told(page) | {"do": "note" if field == "note" else "rate"} | {field: value}


@pytest.mark.parametrize("field", FIELDS)
def test_whatever_stands_in_a_field_the_page_answers_and_saves_nothing(page, field):
    before = lines(page)
    for value in STRANGE:
        if field == "note" and value in ("\0", "\u202e"):
            continue
        status, answer = page.post(with_field(page, field, value))
        assert status == (409 if field == "run" else 422), value
        assert "Nothing was saved." in answer["error"]
        assert len(answer["error"]) < 300
    assert lines(page) == before


@pytest.mark.parametrize("number", ["NaN", "Infinity", "1e999", "9" * 5_000])
def test_numbers_that_are_none_are_refused(page, number):
    before = lines(page)
    for field in FIELDS:
        body = json.dumps(with_field(page, field, "HERE")).replace('"HERE"', number)
        status, answer = page.post(body.encode())
        assert status in (400, 409, 422)
        assert len(answer["error"]) < 300
    assert lines(page) == before


@pytest.mark.parametrize("half", ['"\\ud800"', '"\\udfff x"', '{"\\ud800": 1}'])
def test_half_of_a_character_is_refused_wherever_it_stands(page, half):
    before = lines(page)
    for field in (*FIELDS, "rater"):
        body = json.dumps(with_field(page, field, "HERE")).replace('"HERE"', half)
        status, answer = page.post(body.encode())
        assert (status, answer) == (
            400,
            {"error": "The post holds half of a character (a lone surrogate). Nothing was saved."},
        )
    assert lines(page) == before


def test_a_word_that_is_not_in_the_run_is_refused(page):
    assert page.post(told(page, word="<img src=x>")) == (
        422,
        {"error": "'<img src=x>' is not among the words of this page. Nothing was saved."},
    )


def test_there_may_be_nothing_to_undo(page):
    assert page.post(told(page, do="undo")) == (422, {"error": "There is nothing to undo."})


def test_other_methods_are_refused(page):
    origin = f"http://{page.host}"
    assert page.request("PUT", f"{page.path}rate", Origin=origin)[0] == 405
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


def test_all_and_unrated_exclude_each_other(run):
    done = goffman("rate", run, "--all", "--unrated")
    assert (done.returncode, done.stderr) == (
        2,
        "--all and --unrated cannot be used together. Give one, or neither.\n",
    )


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


def test_a_strange_rater_is_refused(run):
    done = goffman("rate", run, "--rater", "../x")
    assert done.returncode == 2
    assert done.stderr.startswith("--rater is '../x'. Allowed: up to 40 letters")
