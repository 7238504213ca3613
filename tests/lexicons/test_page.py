"""The page in a real Chromium: rated by keyboard, killed, settled; and that it scores."""

from __future__ import annotations

import csv
import re

import polars as pl
import pytest
from showing import showing, showing_script

from contrasts import faint
from goffman.lexicons.attitude import ATTITUDES, load_attitudes
from goffman.rating.ratings import read_raters
from goffman.rating.worklist import Entry, Sentence, Unit, Worklist, read_journal, words_to_rate
from goffman.runs.run import read_answers, read_prompts
from in_process import goffman

KEYS = dict(zip(ATTITUDES, "1234", strict=True))


class Reader:
    """One person before the page, with a keyboard only."""

    def __init__(self, browser, page, **options):
        self.complaints = []
        self.context = browser.new_context(**options)
        self.tab = self.context.new_page()
        self.tab.set_default_timeout(15_000)
        self.tab.on("console", lambda message: self.complaints.append(message.text))
        self.tab.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.tab.on("request", self._look)
        self._own = f"http://{page.host}/"
        self.tab.goto(page.address)
        self.tab.wait_for_selector("#actions:not([hidden])")

    def _look(self, request):
        if not request.url.startswith((self._own, "data:")):
            self.complaints.append(f"a request to {request.url}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.context.close()

    def text(self, selector):
        return self.tab.inner_text(selector)

    def press(self, key):
        """Nothing; the page has said what came of it."""
        before = self.text("#progress") + self.text("#status")
        self.tab.keyboard.press(key)
        self.tab.wait_for_function(
            "before => document.getElementById('progress').innerText +"
            " document.getElementById('status').innerText !== before",
            arg=before,
        )


def rate_words(reader, judge, count):
    """What the reader said of so many words: word → label."""
    said = {}
    for _ in range(count):
        word = reader.text("#word")
        said[word] = judge(word)
        reader.press(KEYS[said[word]])
    return said


def negative_share(run, *files):
    """P(neg) over all prompts of a run, computed naively."""
    labelled = load_attitudes(files).label(read_answers(run, "fills"), read_prompts(run))
    masses = dict(labelled.group_by("label").agg(pl.col("probability").sum()).rows())
    clear = sum(masses.get(label, 0) for label in ("positive", "negative", "neutral"))
    return masses.get("negative", 0) / clear


def test_a_word_is_rated_by_keyboard_and_undone(browser, run):
    with showing("rate", run, "--rater", "anna") as page:
        with Reader(browser, page) as reader:
            tab = reader.tab
            first = reader.text("#word")
            assert first in reader.text("#sentences li:first-child mark")
            reader.press("2")
            assert reader.text("#status").startswith(f"{first} is negative: saved. Now: ")
            assert reader.text("#word") != first
            reader.press("u")
            assert reader.text("#word") == first
            tab.keyboard.press("n")
            tab.keyboard.type("12 us: no key, a note")
            tab.keyboard.press("Enter")
            reader.press("4")
            reader.press("s")
            assert "1 skipped" in reader.text("#progress")
            assert reader.complaints == []
        page.kill()
    record = read_journal(run / "ratings" / "anna.jsonl")
    assert record.labels == {Unit(first): "irrelevant"}
    assert record.notes == {Unit(first): "12 us: no key, a note"}


@pytest.mark.slow
def test_two_raters_forty_words_a_killed_server_and_a_settled_lexicon(browser, run, tiny):
    folder = run / "ratings"
    with (
        showing("rate", run, "--unrated", "--rater", "anna") as page,
        Reader(browser, page) as reader,
    ):
        anna = rate_words(reader, lambda word: "negative" if len(word) > 4 else "irrelevant", 17)
        page.kill()
        # What is pressed now is not saved, and the page says so and stays where it is.
        word = reader.text("#word")
        reader.tab.keyboard.press("1")
        reader.tab.wait_for_selector("#alert:not([hidden])")
        assert reader.text("#alert") == (
            "The last key press was not saved because the server does not answer. Start goffman "
            "again in the terminal and open the address it prints. Everything before that is saved."
        )
        assert reader.text("#word") == word
    assert {u.word: v for u, v in read_journal(folder / "anna.jsonl").labels.items()} == anna
    with (
        showing("rate", run, "--unrated", "--rater", "anna") as page,
        Reader(browser, page) as reader,
    ):
        assert reader.text("#word") == word
        more = rate_words(reader, lambda word: "negative" if len(word) > 4 else "neutral", 23)
        assert not anna.keys() & more.keys()
        anna |= more
        page.stop()
    with (
        showing("rate", run, "--unrated", "--rater", "ben") as page,
        Reader(browser, page) as reader,
    ):
        # Ben begins at the first word and sees nothing of Anna's.
        assert reader.text("#word") == next(iter(anna))
        assert "anna" not in reader.tab.content()
        ben = rate_words(
            reader, lambda word: "positive" if "e" in word and len(word) < 7 else anna[word], 40
        )
        assert reader.complaints == []
        page.stop()
    differing = [word for word in anna if anna[word] != ben[word]]
    assert len(anna) == len(ben) == 40
    assert 3 <= len(differing) <= 30

    said = goffman("agree", run)
    assert said.returncode == 0, said.stderr
    assert f"same label for {40 - len(differing)} of 40 words" in said.stdout
    settled = folder / "settled.csv"
    with showing("agree", run, "--settle") as page, Reader(browser, page) as reader:
        seen = {}
        while reader.tab.is_visible("#work"):
            word = reader.text("#word")
            given = reader.tab.locator(".was-given").evaluate_all(
                "all => all.map(b => b.dataset.label)"
            )
            assert set(given) == {anna[word], ben[word]}
            assert "anna" not in reader.tab.content()
            assert "ben" not in reader.text("header")
            seen[word] = anna[word] if len(seen) % 2 else ben[word]
            reader.press(KEYS[seen[word]])
        assert set(seen) == set(differing)
        assert reader.text("#done-title") == "Everything is settled."
        assert reader.complaints == []
        page.kill()
    with settled.open(encoding="utf-8", newline="") as opened:
        rows = {row["word"]: row["label"] for row in csv.DictReader(opened)}
    assert rows == {word: seen.get(word, anna[word]) for word in anna}

    before, after = negative_share(run), negative_share(run, settled)
    assert after != pytest.approx(before, rel=1e-3)
    overruled = run / "all-positive.csv"
    overruled.write_text("word,label\n" + "".join(f"{word},positive\n" for word in rows))
    assert negative_share(run, settled, overruled) < after
    assert negative_share(run, overruled, settled) == pytest.approx(after, rel=1e-6)
    assert read_raters([run]).names == ("anna", "ben")
    score = audited_score(run, tiny("bert"))
    changed = audited_score(run, tiny("bert"), "--ratings", settled)
    assert changed != pytest.approx(score, rel=1e-3)


def audited_score(run, model, *options):
    """What goffman audit makes of a finished run: the mean P(neg) of its prompts."""
    asked = ["--instrument", "social-distance", "--limit", "60", "--no-controls", "--output", run]
    done = goffman("audit", model, *asked, *options)
    assert done.returncode == 0, done.stderr
    scores = pl.read_parquet(run / "scores.parquet")
    prompt_quantity = (pl.col("level") == "prompt") & (pl.col("quantity") == "negative")
    return scores.filter(prompt_quantity)["value"].mean()


def test_a_list_of_most_words_says_its_minutes_and_how_to_get_the_others(browser, run):
    """By default the page asks for what carries 80% of the probability, and says so at its end."""
    none = load_attitudes(shipped=False)
    every = words_to_rate(run, none, offer="all").entries
    with showing("rate", run, "--rater", "anna") as page, Reader(browser, page) as reader:
        state = page.state()
        assert reader.text("#progress").startswith(f"{state['total']} words left, {state['time']} ")
        assert re.search(r" · 8\d\.\d% of the probability$", reader.text("#progress"))
        examples = reader.tab.locator(".choice em").all_inner_texts()
        asked = []
        while reader.tab.is_visible("#work"):
            asked.append(reader.text("#word").casefold())
            reader.press("2")
        assert len(asked) == state["total"] < len(every)
        assert not {one.strip() for line in examples for one in line.split(",")} & {*asked}
        assert reader.text("#done-title") == "Every word on this list is rated."
        assert reader.text("#done-text").endswith(
            f"To rate all {len(every)} words of the run, run goffman rate with --all."
        )
        assert reader.text("#progress") == "0 words left"
        assert reader.complaints == []


HOSTILE = '<img src=x onerror="document.title=1">&amp;"\'</script>'


def test_hostile_words_and_sentences_are_shown_as_text(browser, run):
    """A tokenizer's vocabulary and an instrument's sentences are others' text."""
    script = run / "serve.py"
    sentence = Sentence(before=f"It is {HOSTILE} ", word=HOSTILE, after=f" to {HOSTILE}.")
    entry = Entry(unit=Unit(HOSTILE, HOSTILE), shown=HOSTILE, mass=0.5, sentences=(sentence,))
    script.write_text(
        "import sys\nfrom pathlib import Path\n"
        "from goffman.rating.server import Desk\n"
        "from goffman.rating.worklist import Unit, open_journal\n"
        "from goffman.rating.server import serve\n"
        "from goffman.rating.worklist import Entry, Sentence, Worklist\n"
        f"work = {Worklist(title=HOSTILE, key='k', entries=(entry,))!r}\n"
        f"with open_journal(Path({str(run / 'j.jsonl')!r})) as journal:\n"
        "    desk = Desk(mode='rate', worklist=work, journal=journal, rater='x')\n"
        "    serve(desk, opened=lambda a: print(a, file=sys.stderr, flush=True))\n"
    )
    with showing_script(script) as page, Reader(browser, page) as reader:
        tab = reader.tab
        assert reader.text("#word") == HOSTILE
        assert reader.text("#sentences li") == f"It is {HOSTILE} {HOSTILE} to {HOSTILE}."
        assert tab.locator("img").count() == 0
        assert tab.title() == f"Rate · {HOSTILE} · goffman"
        reader.press("1")
        assert reader.text("#done-title") == "Every word is rated."
        assert reader.complaints == []


def test_the_page_works_without_a_mouse_and_says_what_it_does(browser, run):
    """Every control has a name and a visible place in the order of Tab; changes are announced."""
    with showing("rate", run, "--rater", "anna") as page, Reader(browser, page) as reader:
        tab = reader.tab
        for role, name in [
            *(("button", label) for label in ATTITUDES),
            ("textbox", "Note"),
            ("button", "Skip for now"),
        ]:
            assert tab.get_by_role(role, name=name).count() == 1
        assert tab.get_by_role("checkbox").count() == 1
        assert tab.locator("#status").get_attribute("aria-live") == "polite"
        assert tab.locator("#alert").get_attribute("role") == "alert"
        order = []
        for _ in range(8):
            tab.keyboard.press("Tab")
            order.append(
                tab.evaluate("document.activeElement.dataset.label || document.activeElement.id")
            )
        assert order == [*ATTITUDES, "note", "undo", "skip", "keys"]
        tab.keyboard.press("Space")
        first = reader.text("#word")
        tab.keyboard.press("1")
        tab.wait_for_timeout(150)
        assert reader.text("#word") == first, "the keys are off"
        tab.get_by_role("button", name="negative").focus()
        reader.press("Enter")
        assert reader.text("#status").startswith(f"{first} is negative: saved.")
        focused = tab.evaluate("document.activeElement.dataset.label")
        assert focused == "negative", "the focus stays for the next word"


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_it_fits_and_can_be_read(browser, run, scheme, width):
    options = {"color_scheme": scheme, "viewport": {"width": width, "height": 844}}
    with showing("rate", run, "--rater", "anna") as page:
        with Reader(browser, page, **options) as reader:
            tab = reader.tab
            assert tab.evaluate("document.documentElement.scrollWidth") <= width
            words = "h1, p, li, mark, button span, kbd, label, em"
            assert faint(tab, words, at_least=10) == {}
        page.kill()
