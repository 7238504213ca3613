"""Batches of sentences for a model: each distinct one once, with others of similar length."""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

from goffman.errors import ModelError
from goffman.instruments.types import MASK
from goffman.models.base import LoadOptions
from goffman.models.files import VOCABULARY_FILES, Files

T = TypeVar("T", bound=Hashable)
Made = TypeVar("Made")


def distinct(things: Sequence[T]) -> tuple[list[T], list[int]]:
    """Return the distinct things in order of appearance, and each given thing's index there."""
    index: dict[T, int] = {}
    positions = [index.setdefault(thing, len(index)) for thing in things]
    return list(index), positions


def ahead(things: Iterable[Made], count: int = 1) -> Iterator[Made]:
    """Yield the things; take ``count`` further ones from the iterator before each is yielded."""
    pending: deque[Made] = deque()
    for thing in things:
        pending.append(thing)
        if len(pending) > count:
            yield pending.popleft()
    yield from pending


def plan_batches(
    lengths: Sequence[int], *, max_tokens: int, max_size: int, enough: int | None = None
) -> list[list[int]]:
    """Return the indices of sentences, batch by batch, longest first.

    A batch holds at most ``max_size`` sentences and, padded to its longest, at most ``max_tokens``
    tokens (one sentence always fits). A batch that has ``enough`` tokens takes no sentence that is
    shorter than its longest by more than a tenth; None: it takes any. The plan depends on the
    lengths alone, so that a resumed run repeats the batches of the first. Longest first, so that
    what does not fit into memory fails at once.
    """
    shorter = [-length for length in lengths]
    order = sorted(range(len(lengths)), key=shorter.__getitem__)
    shorter.sort()
    batches: list[list[int]] = []
    begin = 0
    while begin < len(order):
        longest = max(1, -shorter[begin])
        end = begin + min(max_size, max(1, max_tokens // longest))
        if enough is not None:
            too_short = bisect_right(shorter, -0.9 * longest, lo=begin)
            end = min(end, max(too_short, begin + -(-enough // longest)))
        batches.append(order[begin:end])
        begin = end
    return batches


def batch_limits(device: str) -> tuple[int, int]:
    """Return max_tokens and max_size for ``plan_batches`` on a device as an Identity names it.

    Some hundred tokens keep a CPU busy. An H200 needs about 20,000 (512 sentences of 40 give 96% of
    what 2,048 give, 32 give a tenth in bf16), which take under 4 GB; a GPU with less memory halves
    its batches.
    """
    return (1_024, 32) if device == "cpu" else (32_768, 1_024)


ENOUGH = 12_288
"""``enough`` for ``plan_batches`` on a GPU. By the 96% above, a further batch costs a GPU about as
much as 1,200 tokens of padding do, but it costs the host a launch as well."""


def decided(limits: tuple[int, int], batch_size: int | None) -> tuple[int, int]:
    """Return the limits; a ``batch_size`` replaces them: so many texts, however long."""
    if batch_size is None:
        return limits
    # No model reads a text of so many tokens: the number of texts decides.
    return batch_size * 10_000, batch_size


SPACES = ("Ġ", "▁")
"""How byte-level BPE and SentencePiece write the space before a word."""

UNBOUNDED = 1_000_000
"""A tokenizer that knows no limit gives a number above this."""

REPAIRED = "The tokenizer put an extra space before the mask. This was repaired."

ALIKE = ("They are kind.", "They are cold.", "This one sees.")
"""Different sentences with equally many words and letters: the same without a vocabulary."""

SAVE = (
    "Save the tokenizer that the model was trained with into its folder: "
    "tokenizer.save_pretrained(FOLDER)"
)

PREFIX = "it is"
"""The text before a word that is looked up: any words will do, a space follows."""


def load_tokenizer(files: Files, options: LoadOptions) -> Any:
    """Load the tokenizer in a model's folder, and check that it tells sentences apart."""
    from transformers import AutoTokenizer

    from goffman.models.torch_common import quiet

    name, folder = files.name, files.folder
    has_vocabulary = any((folder / file).is_file() for file in VOCABULARY_FILES)
    absent = f"'{name}' has no tokenizer: no tokenizer.json and no vocabulary. {SAVE}"
    with quiet():
        try:
            tokenizer = AutoTokenizer.from_pretrained(
                folder, trust_remote_code=options.trust_remote_code
            )
            encoded = token_ids(tokenizer, ALIKE, specials=True)
        except Exception as error:  # transformers raises anything over odd files
            message = _why_not_loaded(files, error) if has_vocabulary else absent
            raise ModelError(message) from error
    if len(set(map(tuple, encoded))) < len(ALIKE):
        # transformers makes an empty tokenizer of a folder that holds none.
        raise ModelError(
            f"The tokenizer of '{name}' reads different sentences as the same. Its vocabulary is "
            f"missing or could not be read. {SAVE}"
            if has_vocabulary
            else absent
        )
    if type(tokenizer).__name__ != "BertweetTokenizer":
        return tokenizer
    if tokenizer.demojizer is None:
        raise ModelError(
            f"'{name}' has BERTweet's tokenizer, which needs the package emoji. Install it: "
            "pip install 'goffman[bertweet]'"
        )
    if any(len(merge) != 2 for merge in tokenizer.bpe_ranks):
        # transformers saves this file without the counts that it expects when it reads it.
        raise ModelError(
            f"The file bpe.codes of '{name}' has no third column, so words are split into single "
            "letters. Copy bpe.codes from the original model, such as vinai/bertweet-base."
        )
    return tokenizer


def _why_not_loaded(files: Files, error: Exception) -> str:
    from transformers.utils import is_protobuf_available

    if not is_protobuf_available() and any(files.folder.glob("*.model")):
        # transformers would demand tiktoken, which cannot read it either.
        return (
            f"The tokenizer of '{files.name}' is a SentencePiece file, which needs the package "
            "protobuf. Install it: pip install protobuf"
        )
    first = str(error).strip().split("\n", maxsplit=1)[0] or type(error).__name__
    return (
        f"The tokenizer of '{files.name}' cannot be loaded: {first.removesuffix('.')}. The folder "
        "needs a tokenizer.json or a vocabulary."
    )


class Tokens:
    """A masked model's tokenizer, found to be sound."""

    def __init__(self, name: str, tokenizer: Any, *, specials: bool, limit: int | None) -> None:
        """Check the tokenizer, and repair it if possible; ``specials``: add [CLS] and the like."""
        self.name = name
        self.specials = specials
        self.notes: tuple[str, ...] = ()
        self._tokenizer = tokenizer
        if tokenizer.mask_token_id is None:
            raise ModelError(
                f"The tokenizer of '{name}' has no mask token, so the model cannot fill in blanks."
            )
        self.mask_id: int = tokenizer.mask_token_id
        self.pad_id: int = tokenizer.pad_token_id or 0
        self.limit = text_limit(tokenizer, limit)
        self.special_ids = frozenset(tokenizer.all_special_ids)
        self._text = token_reader(tokenizer)
        if self._space_before_mask():
            from transformers import AddedToken

            mask_text = str(tokenizer.mask_token)
            token = AddedToken(mask_text, lstrip=True, normalized=False, special=True)
            tokenizer.add_special_tokens({"mask_token": token})
            if self._space_before_mask():
                raise ModelError(
                    f"The tokenizer of '{name}' puts an extra space before its mask token "
                    f"{tokenizer.mask_token}, which the model was not trained with. Set lstrip on "
                    "the mask token in tokenizer_config.json."
                )
            self.notes = (REPAIRED,)

    def _space_before_mask(self) -> bool:
        """Return whether a piece that is only a space stands before the mask."""
        ids = self.encode([f"It is {MASK} for me"])[0]
        position = ids.index(self.mask_id)
        before = self._tokenizer.convert_ids_to_tokens(ids[position - 1]) if position else ""
        return before in (*SPACES, " ")

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the token ids of each text, with the model's own mask for ``<mask>``.

        Raise ModelError if a text has not exactly one mask, or is too long.
        """
        own_mask = str(self._tokenizer.mask_token)
        # Texts are searched only if something is wrong: this is done for every sentence. If there
        # are as many masks as texts and one text has none, another has two, which is found below.
        if "\n".join(texts).count(MASK) != len(texts):
            for text in texts:
                if text.count(MASK) != 1:
                    raise ModelError(_not_one_mask(text, text.count(MASK)))
        replaced = texts if own_mask == MASK else [text.replace(MASK, own_mask) for text in texts]
        encoded = token_ids(self._tokenizer, replaced, specials=self.specials)
        masks = [ids.count(self.mask_id) for ids in encoded]
        too_long = self.limit is not None and max(map(len, encoded), default=0) > self.limit
        if masks.count(1) < len(masks) or too_long:
            for text, ids, count in zip(texts, encoded, masks, strict=True):
                if count != 1:
                    raise ModelError(_not_one_mask(text, count))
                check_length(self.name, text, length=len(ids), limit=self.limit)
        return encoded

    def encode_phrase(self, before: str, phrase: str, after: str) -> list[tuple[list[int], int]]:
        """Return for each token of the phrase the sentence with that token masked, and its id."""
        texts = [f"{before}{phrase}{after}", f"{before.rstrip()}{after}"]
        whole, without = token_ids(self._tokenizer, texts, specials=self.specials)
        begin = alike(whole, without)
        end = len(whole) - alike(whole[begin:][::-1], without[begin:][::-1])
        check_length(self.name, texts[0], length=len(whole), limit=self.limit)
        return [
            ([*whole[:position], self.mask_id, *whole[position + 1 :]], whole[position])
            for position in range(begin, end)
        ]

    def single_tokens(self, words: Sequence[str]) -> tuple[dict[str, int], list[str]]:
        """Return the token id of each word after a space, and the words that are not one token."""
        distinct = list(dict.fromkeys(words))
        texts = [PREFIX, *(f"{PREFIX} {word}" for word in distinct)]
        prefix, *encoded = token_ids(self._tokenizer, texts, specials=False)
        single: dict[str, int] = {}
        split_words: list[str] = []
        for word, ids in zip(distinct, encoded, strict=True):
            one_more = len(ids) == len(prefix) + 1 and ids[:-1] == prefix
            # A normalizer may put one token for something else: BERTweet writes @USER for a name.
            if (
                one_more
                and word
                and word == word.strip()
                and _letters(self._text(ids[-1])) == _letters(word)
            ):
                single[word] = ids[-1]
            else:
                split_words.append(word)
        return single, split_words

    def texts(self, size: int) -> tuple[str, ...]:
        """Return every token of a vocabulary of this size as text by id: see ``token_texts``."""
        return token_texts(self._tokenizer, size)

    def __len__(self) -> int:
        return len(self._tokenizer)


def token_texts(tokenizer: Any, size: int) -> tuple[str, ...]:
    """Return every token of a vocabulary of this size as text, by its id.

    Models like RoBERTa and SentencePiece write `` friend`` where a word begins and ``ing`` where it
    goes on (models like RoBERTa ``friend`` too, where the mask opens the text); WordPiece
    ``friend`` and ``##ing``; BERTweet ``frie@@`` where it is to be continued, and ``friend`` where
    it ends. Stripped of its space, only a token that is a whole word equals the word.
    """
    count, reader = len(tokenizer), token_reader(tokenizer)
    return tuple(
        reader(token_id) if token_id < count else f"[no token {token_id}]"
        for token_id in range(size)
    )


def token_reader(tokenizer: Any) -> Callable[[int], str]:
    """Return a function from a token's id to its text, with leading space and case kept."""
    specials = frozenset(tokenizer.all_special_ids)
    backend = getattr(tokenizer, "backend_tokenizer", None)
    # Byte-level: pieces are bytes written as letters, Ġ for the space.
    byte_level = type(getattr(backend, "decoder", None)).__name__ == "ByteLevel"

    def text(token_id: int) -> str:
        piece: str | None = tokenizer.convert_ids_to_tokens(token_id)
        if piece is None:
            return f"[no token {token_id}]"
        if token_id in specials:
            return piece
        if piece.startswith("▁"):
            return " " + piece.removeprefix("▁")
        if byte_level:
            return tokenizer.convert_tokens_to_string([piece])  # type: ignore[no-any-return]
        return piece

    return text


def alike(first: Sequence[int], second: Sequence[int]) -> int:
    """Return the number of equal tokens at the beginning of two texts."""
    pairs = enumerate(zip(first, second, strict=False))
    unlike = (position for position, (left, right) in pairs if left != right)
    return next(unlike, min(len(first), len(second)))


def _letters(text: str) -> str:
    """Return a text as an uncased model reads it: no space around, no case, no accents."""
    decomposed = unicodedata.normalize("NFKD", text.strip().casefold())
    return "".join(character for character in decomposed if not unicodedata.combining(character))


def token_ids(tokenizer: Any, texts: Sequence[str], *, specials: bool) -> list[list[int]]:
    """Return the token ids of each text, never cut short."""
    if not texts:
        return []
    if tokenizer.is_fast:
        # The tokenizer's own core: the way through transformers takes half as long again.
        core = tokenizer.backend_tokenizer
        core.no_truncation()
        core.no_padding()
        encodings = core.encode_batch_fast(list(texts), add_special_tokens=specials)
        return [encoding.ids for encoding in encodings]
    encoded = tokenizer(
        list(texts),
        add_special_tokens=specials,
        truncation=False,
        return_attention_mask=False,
        return_token_type_ids=False,
        # A text that is too long is refused by us, with its name.
        verbose=False,
    )
    return encoded["input_ids"]  # type: ignore[no-any-return]


def text_limit(tokenizer: Any, positions: int | None) -> int | None:
    """Return the number of tokens that a text may have; None: there is no limit.

    ``positions``: how many the model has; None: there is no limit.
    """
    limits = (positions, tokenizer.model_max_length)
    return min((limit for limit in limits if limit is not None and limit < UNBOUNDED), default=None)


def check_length(name: str, text: str, *, length: int, limit: int | None) -> None:
    """Raise ModelError if a text has more tokens than the model has positions."""
    if limit is not None and length > limit:
        raise ModelError(
            f"A text has {length} tokens, but '{name}' reads at most {limit}: \"{_short(text)}\". "
            "Shorten it."
        )


def _not_one_mask(text: str, count: int) -> str:
    number = "no mask" if count == 0 else f"{count} masks"
    return f'A text has {number} where exactly one {MASK} is allowed: "{_short(text)}".'


def _short(text: str) -> str:
    return text if len(text) <= 80 else f"{text[:77]}..."


def has_case(tokens: Sequence[str]) -> bool:
    """Return whether a model has case: whether any token is a word with a capital letter."""
    # Special tokens such as [MASK] are capital in models that have no case; they are no words.
    return any(
        token.strip().isalpha() and token.strip() != token.strip().lower() for token in tokens
    )
