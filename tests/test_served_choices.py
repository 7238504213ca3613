"""A server that gives log-probabilities fills the choices table, with no more requests."""

import hashlib
import json
import shutil

import polars as pl
import pytest

from chat_server import Answer, ChatServer, completion, with_probabilities
from few_conditions import with_few_conditions
from goffman.models.api_response import reply_of
from goffman.models.base import Calling
from goffman.options import AskOptions, ChatOptions, Listener
from goffman.pipeline import audit
from goffman.runs.run import read_answers, read_controls, read_prompts
from in_process import goffman

pytestmark = pytest.mark.slow
"""Whole runs: minutes of computing."""

DISTANCE = "social-distance"
TOKENS = ("A", " A", "B", "\nB", "C", "D", "E", "a", "The", "(A", "Sorry", "1")
"""What a model may say first: labels in their spellings, and other things."""


@pytest.fixture(scope="module")
def few(tmp_path_factory):
    return str(with_few_conditions(DISTANCE, tmp_path_factory.mktemp("few") / DISTANCE, each=3))


def weights(text):
    """The probability of each token, another one for every question."""
    drawn = hashlib.sha256(text.encode()).digest()
    numbers = [drawn[place] + 1 for place in range(len(TOKENS))]
    return {token: one / sum(numbers) for token, one in zip(TOKENS, numbers, strict=True)}


def said_to(text):
    """The most probable token, spelled as an answer."""
    of = weights(text)
    return max(of, key=of.get)


def server(*, gives=True, most=7, asks=None):
    """One that names at most so many tokens; ``asks``: what it refuses, as an Answer or None."""

    async def behave(request):
        if asks is not None and (refused := asks(request.body)) is not None:
            return refused
        text = request.body["messages"][0]["content"]
        said = said_to(text)
        body = completion(said)
        if gives and request.body.get("logprobs"):
            top = min(request.body["top_logprobs"], most)
            body = with_probabilities(body, [(said, weights(text)), (".", {".": 1.0})], top=top)
        return Answer(body=body)

    return ChatServer(behave)


def asked(server, few, folder, **options):
    notes = []
    done = audit(
        [f"{server.url}#mini"],
        instruments=[few],
        output=folder,
        options=AskOptions(
            modes=("reply", "choice"),
            chats=ChatOptions(calling=Calling(concurrency=8)),
            **options,
        ),
        listener=Listener(note=notes.append),
        report=True,
    )
    return done, notes


def naive(row, *, most):
    """CHOICES of a prompt by a plain loop: label, code, probability, elsewhere, unseen."""
    of = weights(row["text"])
    named = sorted(of, key=lambda token: -of[token])[:most]
    found, on_options = [], 0.0
    for label, _, code in json.loads(row["options"]):
        probability = 0.0
        for token in named:
            if token.strip() == label:
                probability += of[token]
        on_options += probability
        found.append((label, code, probability))
    unseen = 1 - sum(of[token] for token in named)
    return [(*one, 1 - on_options, unseen) for one in found]


def test_one_request_gives_text_and_probabilities_and_both_stand_on_the_page(few, tmp_path):
    with server(most=7) as one:
        # A model that knows nothing would fail its control items, and little be said of it.
        done, _ = asked(one, few, tmp_path, controls=False)
        requests = len(one.asked)
        assert all(request.body["top_logprobs"] == 20 for request in one.asked)
        assert all(request.body["max_tokens"] == 64 for request in one.asked)
    assert [asked.instrument for asked in done.asked] == [f"{DISTANCE}/reply", f"{DISTANCE}/choice"]
    replies, choices = read_answers(tmp_path, "replies"), read_answers(tmp_path, "choices")
    assert replies.height == requests
    prompts = pl.concat([read_prompts(tmp_path), read_controls(tmp_path)])
    said, every = (prompts.filter(pl.col("mode") == form) for form in ("reply", "choice"))
    # In text it is asked each question in one order: of the others there is nothing.
    rows = every.join(said, on="text", how="semi")
    assert every.height == 2 * rows.height
    assert rows.height == requests == choices["prompt_id"].n_unique()
    of_prompt = choices.partition_by("prompt_id", as_dict=True)
    for row in rows.iter_rows(named=True):
        found = of_prompt[row["prompt_id"],]
        expected = naive(row, most=7)
        got = found.select("option", "code", "probability", "elsewhere", "unseen").rows()
        assert [one[:2] for one in got] == [one[:2] for one in expected]
        for mine, other in zip(got, expected, strict=True):
            assert mine[2:] == pytest.approx(other[2:], abs=1e-6)
    assert choices["unseen"].min() > 0.05
    codes = pl.read_parquet(tmp_path / "scores.parquet").filter(
        pl.col("mode") == "choice",
        pl.col("quantity") == "code",
        pl.col("level").is_in(["presentation", "condition"]),
    )
    assert codes.height > rows.height
    assert codes["value"].null_count() == 0
    scores = pl.read_parquet(tmp_path / "scores.parquet")
    agreement = scores.filter(pl.col("quantity") == "agreement")
    assert {*agreement["mode"]} == {"reply", "choice"}
    unseen = scores.filter(pl.col("quantity") == "unseen", pl.col("level") == "model")
    by_prompt = choices.unique("prompt_id").join(read_prompts(tmp_path), on="prompt_id")
    assert unseen["value"].to_list() == pytest.approx([by_prompt["unseen"].mean()], rel=1e-5)
    for text in ("\n".join(done.summary), done.report.read_text()):
        assert "Text and probabilities: " in text
    # What else there is to say is left off the page.
    shown = " ".join(goffman("show", tmp_path).stdout.split())
    assert "The server reports only its most probable tokens. The others have 0." in shown


def test_a_run_goes_on_and_what_is_lost_is_made_again_without_a_request(few, tmp_path):
    with server() as one:
        asked(one, few, tmp_path, limit=40)
        before = read_answers(tmp_path, "choices")
        count = len(one.asked)
        done, _ = asked(one, few, tmp_path, limit=40)
        assert [asked.asked_now for asked in done.asked] == [0, 0]
        shutil.rmtree(tmp_path / "answers" / "choices")
        asked(one, few, tmp_path, limit=40)
        assert len(one.asked) == count
    assert read_answers(tmp_path, "choices").equals(before)


def test_a_server_that_gives_none_is_asked_as_often_and_read_by_its_text(few, tmp_path):
    with server(gives=False) as one:
        done, _ = asked(one, few, tmp_path, limit=40)
        assert len(one.asked) == read_answers(tmp_path, "replies").height
    assert [asked.instrument for asked in done.asked] == [f"{DISTANCE}/reply"]
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    assert [*manifest["instruments"]] == [f"{DISTANCE}/reply"]


def refuses(status, message, *, above=0):
    """What refuses probabilities of more than so many tokens, in these words."""

    def asks(body):
        if body.get("top_logprobs", 0) > above:
            return Answer(status=status, body={"error": {"message": message}})
        return None

    return asks


@pytest.mark.parametrize(
    ("asks", "named"),
    [
        (refuses(400, "logprobs is not supported"), 0),
        (refuses(422, "bad request"), 0),
        (refuses(500, "logprobs is not supported for models created with logits_all=False"), 0),
        (refuses(400, "top_logprobs must be less than or equal to 5", above=5), 5),
    ],
)
def test_a_server_that_refuses_probabilities_is_asked_for_fewer_or_none(few, tmp_path, asks, named):
    with server(asks=asks) as one:
        done, notes = asked(one, few, tmp_path, limit=20, controls=False)
        bodies = [request.body for request in one.asked]
    replies = read_answers(tmp_path, "replies")
    assert replies.height == 20
    # Those under way at first, and once more for each smaller number.
    assert len(bodies) <= 20 + 2 * 8
    assert bodies[-1].get("top_logprobs", 0) == named
    assert any("read by their text alone" in note for note in notes) is (named == 0)
    assert len(done.asked) == 1 + bool(named)


def told(tokens, text, **message):
    body = completion(text)
    body["choices"][0]["message"] |= message
    rivals = {"B": 0.6, "A": 0.3}
    with_probabilities(
        body, [(token, {token: 1.0} if token != "B" else rivals) for token in tokens], top=2
    )
    return reply_of(json.dumps(body), lambda text: text, options=True)


@pytest.mark.parametrize(
    ("tokens", "text", "message"),
    [
        (["B", "."], "B.", {}),
        (["\n", " ", "B"], "\n B", {}),
        (
            ["<think>", "A", " or", " B", "?", "</think>", "\n\n", "B"],
            "<think>A or B?</think>\n\nB",
            {},
        ),
        (["Is it A", "</", "think", ">", "B"], "Is it A</think>B", {}),
        (["A", "?", "</think>", "B"], "B", {"reasoning_content": "A?"}),
        (["B"], "B", {"reasoning_content": "A?"}),
    ],
)
def test_only_the_token_is_kept_with_which_the_answer_begins(tokens, text, message):
    reply = told(tokens, text, **message)
    ((token, rivals),) = json.loads(reply.next_words)
    assert token == "B"
    assert [one for one, _ in rivals] == ["B", "A"]


def test_tokens_of_reasoning_alone_say_nothing_of_the_answer():
    reply = told(["Hm", ",", " A"], "B", reasoning_content="Hm, A is ...")
    assert reply.next_words is None
    silent = told(["Hm", ",", " A"], "", reasoning_content="Hm, A")
    assert silent.next_words is None


def test_a_server_that_names_the_said_token_alone_gives_no_probabilities(few, tmp_path):
    with ChatServer(
        Answer(body=with_probabilities(completion("A"), [("A", {"A": 0.9})], top=0))
    ) as one:
        done, _ = asked(one, few, tmp_path, limit=10, controls=False)
    assert [asked.instrument for asked in done.asked] == [f"{DISTANCE}/reply"]
