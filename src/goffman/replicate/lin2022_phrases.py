"""Lin et al. (2022), question 2: the authors' phrases → our fills → the scores of each prompt.

A phrase is a branch of recursive masking that has ended, printed as the whole sentence with the
product of its probabilities, p1, p1·p2 or p1·p2·p3. The single probabilities, and the branches that
ended in no gendered word, were not published. So each phrase enters as one fill, the word that
ended it with the product, and ``gender-of-phrase`` adds the fills up; its other numbers would need
the unpublished branches.

Which word ended a phrase follows from the order of masking: the only word, the first of two, or the
middle one of three. Tokens without a space stand together ("schoolgirl friend" is school, girl and
friend); in these, it is the noun that the word ends in.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from goffman.lexicons.gender import GenderLexicon, GenderWord, with_gender
from goffman.replicate.files import read_csv, read_lines

if TYPE_CHECKING:
    import polars as pl

ENDS = {1: 0, 2: 0, 3: 1}
"""Number of words in a phrase → the place of the word that was put in last."""

QUANTITIES = ("female", "male", "disparity")
"""The quantities that ended branches give."""


@dataclass(frozen=True, kw_only=True)
class Phrases:
    """The phrases of a file, as scores of prompts."""

    scores: pl.DataFrame
    """SCORES of prompts, as far as ended branches give them."""
    read: int
    """Lines of the file that are a phrase of a prompt."""
    left_out: int
    """Lines that are not: the sentence was not asked, or no gendered noun ends the phrase."""


def read_nouns(folder: Path) -> GenderLexicon:
    """Return the authors' gendered nouns, stripped, each once."""
    words = {
        group: sorted({line.strip() for line in read_lines(folder / name) if line.strip()})
        for group, name in (("female", "women_nouns.csv"), ("male", "men_nouns.csv"))
    }
    return GenderLexicon(
        words=tuple(
            GenderWord(word=word, group=group, kind="noun")
            for group, nouns in words.items()
            for word in nouns
        )
    )


def read_phrases(path: Path, prompts: pl.DataFrame, *, model: str, nouns: GenderLexicon) -> Phrases:
    """Return the phrases of a file as scores of the prompts, by the measure that audits use too."""
    import polars as pl

    from goffman.measures.phrase_gender import PhraseGender

    lines, fills = fills_of_phrases(path, prompts, model=model, nouns=nouns)
    gendered = with_gender(fills, nouns, cased=True)
    # The nouns are no names, so the two variants are the same.
    scores = (
        PhraseGender(depth=1)
        .score_prompts(gendered, prompts)
        .filter(pl.col("variant") == "without-names", pl.col("quantity").is_in(QUANTITIES))
        .with_columns(variant=pl.lit(None, dtype=pl.String))
    )
    return Phrases(scores=scores, read=fills.height, left_out=lines - fills.height)


def fills_of_phrases(
    path: Path, prompts: pl.DataFrame, *, model: str, nouns: GenderLexicon
) -> tuple[int, pl.DataFrame]:
    """Return the number of lines in a file, and its phrases as fills with printed probabilities."""
    import polars as pl

    from goffman.schemas import FILLS, schema

    columns = ("diagnosis", "stigma_category", "sequence", "probability")
    table = read_csv(path, columns, numbers=("probability",))
    ranks: Counter[str] = Counter()
    rows = []
    for prompt_id, word, probability in _ended(table, prompts, nouns):
        ranks[prompt_id] += 1
        rows.append((prompt_id, model, 1, "", ranks[prompt_id], f" {word}", word, probability))
    kinds = {**schema(FILLS), "probability": pl.Float64()}
    return table.height, pl.DataFrame(rows, schema=kinds, orient="row")


def _ended(
    read: pl.DataFrame, prompts: pl.DataFrame, nouns: GenderLexicon
) -> Iterator[tuple[str, str, float]]:
    """Yield each phrase's prompt id, the noun that ended it and its probability."""
    frames: dict[tuple[str, str], list[tuple[str, str, str]]] = defaultdict(list)
    for row in prompts.iter_rows(named=True):
        before, _, after = row["text"].partition("<mask>")
        frames[row["condition"], row["dimension"]].append((before, after, row["prompt_id"]))
    longest_first = sorted((entry.word for entry in nouns.words), key=len, reverse=True)
    for diagnosis, category, sentence, probability in read.iter_rows():
        for before, after, prompt_id in frames.get((diagnosis, category.lower()), ()):
            if sentence.startswith(before) and sentence.endswith(after):
                words = sentence[len(before) : len(sentence) - len(after)].split(" ")
                last_word = words[ENDS[len(words)]] if len(words) in ENDS else ""
                noun = next((noun for noun in longest_first if last_word.endswith(noun)), None)
                if noun:
                    yield prompt_id, noun, probability
                    break
