"""Tokenizers: one mask a text, no stray piece, texts of tokens, words that are one token."""

import io
import shutil
import sys

import pytest
import sentencepiece
import transformers
from transformers.utils import is_protobuf_available

from goffman.errors import ModelError
from goffman.models.base import LoadOptions
from goffman.models.resolve import check, describe, load
from goffman.models.tokenizer import has_case
from goffman.pipeline import audit
from refusals import message_of
from tiny_chat import CAUSAL, TEMPLATE, make_causal
from tiny_models import CLASSIFIERS, MASKED, altered, training_text


@pytest.fixture(scope="session")
def loaded(tiny):
    models = {}

    def model(family):
        return models.setdefault(family, load(str(tiny(family)), kind="masked"))

    return model


def encode_error(model, text):
    return message_of(ModelError, model.encode, ["The woman is <mask>.", text])


@pytest.mark.slow
@pytest.mark.parametrize("family", MASKED)
def test_a_text_is_encoded_as_its_own_tokenizer_does(family, tiny, loaded):
    tokenizer = transformers.AutoTokenizer.from_pretrained(tiny(family))
    text = "It is <mask> for me to have someone who has depression as a neighbor."
    own = tokenizer(
        text.replace("<mask>", tokenizer.mask_token), add_special_tokens=family != "xlnet"
    )
    assert loaded(family).encode([text]) == [own["input_ids"]]
    assert loaded(family).encode([]) == []


@pytest.mark.parametrize("family", MASKED)
def test_exactly_one_mask_is_allowed(family, loaded):
    model = loaded(family)
    assert encode_error(model, "The woman is kind.") == (
        'A text has no mask where exactly one <mask> is allowed: "The woman is kind.".'
    )
    assert encode_error(model, "The <mask> is <mask>.") == (
        'A text has 2 masks where exactly one <mask> is allowed: "The <mask> is <mask>.".'
    )


def test_the_models_own_mask_counts_too(loaded):
    assert encode_error(loaded("bert"), "The [MASK] is <mask>.") == (
        'A text has 2 masks where exactly one <mask> is allowed: "The [MASK] is <mask>.".'
    )


@pytest.mark.parametrize(
    ("family", "limit"),
    [("bert", 130), ("roberta", 128), ("bertweet", 128), ("modernbert", 130), ("mpnet", 128)],
)
def test_a_text_too_long_is_refused_and_the_longest_allowed_is_answered(family, limit, loaded):
    model = loaded(family)
    text = "The <mask> " + "is " * (limit - 4)
    longest = model.encode([text.strip()])
    assert len(longest[0]) == limit
    assert model.fill_batch(longest, top_k=5).token_ids.shape == (1, 5)
    shown = f"{text}is"[:77]
    assert encode_error(model, f"{text}is") == (
        f"A text has {limit + 1} tokens, but '{model.identity.name}' reads at most {limit}: "
        f'"{shown}...". Shorten it.'
    )


def test_xlnet_has_no_longest_text(loaded):
    assert len(loaded("xlnet").encode(["The <mask> " + "is " * 700])[0]) == 702


@pytest.mark.parametrize(
    ("family", "expected"),
    [
        ("roberta", {" friend", " likely", "ing", "."}),
        ("modernbert", {" friend", " likely", "ing"}),
        ("xlnet", {" friend", " likely", "ing", "."}),
        ("xlm-roberta", {" friend", " likely", "ing"}),
        ("bert", {"friend", "likely", "##ing", "."}),
        ("mpnet", {"friend", "likely", "##ing"}),
        ("bertweet", {"friend", "likely", "depres@@"}),
    ],
)
def test_tokens_keep_their_space_and_their_mark(family, expected, loaded):
    tokens = loaded(family).tokens
    assert expected <= set(tokens)
    assert not [token for token in tokens if "Ġ" in token or "▁" in token]


@pytest.mark.parametrize("family", MASKED)
def test_single_tokens_are_what_stands_in_a_sentence(family, loaded):
    model = loaded(family)
    words = ["friend", "likely", "unlikely", "friend", "heart attack", "xylophone", "", " man"]
    single, several = model.single_tokens(words)
    assert list(single) == ["friend", "likely", "unlikely"]
    assert several == ["heart attack", "xylophone", "", " man"]
    for word, token in single.items():
        assert model.tokens[token].strip() == word
        assert token in model.encode([f"<mask> is {word} to me"])[0]


def test_case_and_accents_go_by_the_model(loaded):
    assert list(loaded("bert").single_tokens(["Friend"])[0]) == ["Friend"]
    assert loaded("roberta").single_tokens(["Friend"])[1] == ["Friend"]


def test_a_word_is_not_taken_for_what_a_normaliser_makes_of_it(loaded):
    """BERTweet writes one token, @USER, for every @name."""
    assert loaded("bertweet").single_tokens(["@someone"]) == ({}, ["@someone"])


@pytest.mark.parametrize("family", ["roberta", "longformer"])
def test_a_stray_space_before_the_mask_is_repaired_and_said(family, tiny):
    broken, sound = tiny(family, lstrip=False), tiny(family)
    tokenizer = transformers.AutoTokenizer.from_pretrained(broken)
    assert "Ġ" in tokenizer.tokenize("It is <mask> for me")
    repaired, reference = (load(str(folder), kind="masked") for folder in (broken, sound))
    texts = ["It is <mask> for me.", "<mask> has depression", "She is <mask>"]
    assert repaired.encode(texts) == reference.encode(texts)
    said = "The tokenizer put an extra space before the mask. This was repaired."
    assert repaired.identity.notes == (said, *reference.identity.notes)


def test_a_tokenizer_larger_than_the_head_is_refused(tiny, tmp_path):
    folder = shutil.copytree(tiny("bert"), tmp_path / "larger")
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    size = len(tokenizer)
    tokenizer.add_tokens(["stigma", "goffman"])
    tokenizer.save_pretrained(folder)
    assert message_of(ModelError, load, str(folder), kind="masked") == (
        f"The tokenizer of '{folder}' has {size + 2} tokens, but the model has only {size}. "
        "Give a folder with the tokenizer that the model was trained with."
    )


def test_a_head_larger_than_the_tokenizer_is_said(tiny):
    model = load(str(tiny("bert", vocab_size=512)), kind="masked")
    assert model.identity.notes[0] == (
        "The model has 512 tokens, but its tokenizer only 456. The other 56 have no text; "
        "their probability counts in the total."
    )
    assert model.tokens[511] == "[no token 511]"
    filled = model.fill_batch(model.encode(["She is <mask>."]), top_k=512)
    assert filled.probabilities.sum() == pytest.approx(1, rel=1e-5)


def test_no_mask_token(tiny, tmp_path):
    file = "tokenizer_config.json"
    folder = altered(tiny("bert"), tmp_path / "maskless", file=file, mask_token=None)
    assert message_of(ModelError, load, str(folder), kind="masked") == (
        f"The tokenizer of '{folder}' has no mask token, so the model cannot fill in blanks."
    )


def test_a_vocabulary_that_was_not_read_is_refused(tiny, tmp_path):
    folder = shutil.copytree(tiny("bert"), tmp_path / "wordless")
    (folder / "tokenizer.json").unlink()
    transformers.BertTokenizer().save_pretrained(folder)
    assert message_of(ModelError, load, str(folder), kind="masked") == (
        f"The tokenizer of '{folder}' reads different sentences as the same. Its vocabulary is "
        "missing or could not be read. Save the tokenizer that the model was trained with into "
        "its folder: tokenizer.save_pretrained(FOLDER)"
    )


def only_the_model(source, folder):
    """What model.save_pretrained alone leaves."""
    folder.mkdir()
    for name in ("config.json", "generation_config.json", "model.safetensors"):
        if (source / name).exists():
            shutil.copy(source / name, folder / name)
    return folder


def assert_refused_early(folder, kind):
    assert message_of(ModelError, check, str(folder), kind=kind, options=LoadOptions()) == (
        f"'{folder}' has no tokenizer: no tokenizer.json and no vocabulary. Save the tokenizer "
        "that the model was trained with into its folder: tokenizer.save_pretrained(FOLDER)"
    )


@pytest.mark.parametrize(
    ("kind", "family"),
    [
        *(("masked", family) for family in MASKED),
        *(("classifier", family) for family in CLASSIFIERS),
    ],
)
def test_a_masked_model_or_classifier_without_its_tokenizer(kind, family, tiny, tmp_path):
    source = tiny(family) if kind == "masked" else tiny(family, labels=("NEGATIVE", "POSITIVE"))
    assert_refused_early(only_the_model(source, tmp_path / "m"), kind)


@pytest.mark.parametrize("family", CAUSAL)
def test_a_causal_or_chat_model_without_its_tokenizer(family, tmp_path):
    folder = only_the_model(make_causal(family, tmp_path / "whole"), tmp_path / "m")
    assert_refused_early(folder, "causal")
    (folder / "chat_template.jinja").write_text(TEMPLATE)
    assert describe(str(folder)).kind == "chat"
    assert_refused_early(folder, "chat")


def test_no_one_is_asked_where_one_model_lacks_its_tokenizer(tiny, tmp_path):
    broken = only_the_model(tiny("roberta"), tmp_path / "m")
    with pytest.raises(ModelError, match="has no tokenizer"):
        audit([str(tiny("bert")), str(broken)], output=tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_tokenizer_of_letters_needs_no_files(tmp_path):
    """CANINE reads code points: there is no vocabulary that could be missing."""
    names = {0: "NEG", 1: "POS"}
    size = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2}
    config = transformers.CanineConfig(
        **size,
        intermediate_size=16,
        max_position_embeddings=64,
        id2label=names,
        num_hash_buckets=32,
    )
    transformers.CanineForSequenceClassification(config).save_pretrained(tmp_path)
    check(str(tmp_path), kind="classifier", options=LoadOptions())


SENTENCEPIECE = {
    "xlnet": (
        "spiece.model",
        {"user_defined_symbols": "<cls>,<sep>,<pad>,<mask>,<eod>,<eop>", "pad_id": -1},
        {"unk_id": 0, "bos_id": 1, "eos_id": 2},
    ),
    "albert": (
        "spiece.model",
        {"user_defined_symbols": "[CLS],[SEP],[MASK]", "pad_id": 0},
        {"unk_id": 1, "bos_id": -1, "eos_id": -1},
    ),
    "xlm-roberta": ("sentencepiece.bpe.model", {}, {"unk_id": 0, "bos_id": 1, "eos_id": 2}),
    "deberta-v2": (
        "spm.model",
        {"user_defined_symbols": "[MASK]", "pad_id": 0, "pad_piece": "[PAD]", "unk_piece": "[UNK]"},
        {"unk_id": 3, "bos_id": 1, "eos_id": 2, "bos_piece": "[CLS]", "eos_piece": "[SEP]"},
    ),
}
"""The file of each family, its further tokens, and the ids of the others."""


def with_sentencepiece(family, source, folder):
    """The folder, now with the family's model and nothing but SentencePiece's own file beside it."""
    file, further, specials = SENTENCEPIECE[family]
    made = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(training_text()),
        model_writer=made,
        vocab_size=240,
        minloglevel=2,
        **further,
        **specials,
    )
    only_the_model(source, folder)
    (folder / file).write_bytes(made.getvalue())
    return sentencepiece.SentencePieceProcessor(model_proto=made.getvalue())


@pytest.mark.parametrize("family", SENTENCEPIECE)
def test_a_folder_with_nothing_but_sentencepiece_s_file(family, tiny, tmp_path):
    """Texts fall into the pieces that SentencePiece itself gives."""
    processor = with_sentencepiece(family, tiny(family), tmp_path / "m")
    model = load(str(tmp_path / "m"), kind="masked")
    # ALBERT's reads everything in small letters.
    text = "the kind woman is a teacher of the xylophone <mask> old farmer."
    own = [model.tokens[token] for token in model.encode([text])[0]]
    pieces = [
        piece.replace("▁", " ") if piece.startswith("▁") else piece
        for part in text.split(" <mask> ")
        for piece in processor.encode(part, out_type=str)
    ]
    marks = {"<mask>", "[MASK]", "[CLS]", "[SEP]", "<s>", "</s>"}
    assert [token for token in own if token not in marks] == pieces
    assert len(pieces) > 12


def test_what_is_missing_for_sentencepiece_s_file_is_named(tiny, tmp_path, monkeypatch):
    with_sentencepiece("xlnet", tiny("xlnet"), tmp_path / "m")
    for module in ("google", "google.protobuf"):
        monkeypatch.setitem(sys.modules, module, None)
    for name in ("sentencepiece_model_pb2", "sentencepiece.sentencepiece_model_pb2"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    is_protobuf_available.cache_clear()
    try:
        with pytest.raises(ModelError) as error:
            load(str(tmp_path / "m"), kind="masked")
    finally:
        is_protobuf_available.cache_clear()
    assert str(error.value) == (
        f"The tokenizer of '{tmp_path / 'm'}' is a SentencePiece file, which needs the package "
        "protobuf. Install it: pip install protobuf"
    )


def test_a_tokenizer_that_cannot_be_loaded(tiny, tmp_path):
    folder = shutil.copytree(tiny("roberta"), tmp_path / "cut")
    (folder / "tokenizer.json").write_text("{")
    with pytest.raises(ModelError) as error:
        load(str(folder), kind="masked")
    assert str(error.value).startswith(f"The tokenizer of '{folder}' cannot be loaded: ")
    assert str(error.value).endswith(" The folder needs a tokenizer.json or a vocabulary.")


def test_bertweet_needs_emoji(tiny, monkeypatch):
    folder = str(tiny("bertweet"))
    monkeypatch.setitem(sys.modules, "emoji", None)
    assert message_of(ModelError, load, folder, kind="masked") == (
        f"'{folder}' has BERTweet's tokenizer, which needs the package emoji. Install it: "
        "pip install 'goffman[bertweet]'"
    )


def test_bertweets_merges_without_counts_are_refused(tiny, tmp_path):
    """transformers 5 saves them so, and reads them as merges of one piece."""
    folder = shutil.copytree(tiny("bertweet"), tmp_path / "saved")
    transformers.AutoTokenizer.from_pretrained(tiny("bertweet")).save_pretrained(folder)
    assert message_of(ModelError, load, str(folder), kind="masked") == (
        f"The file bpe.codes of '{folder}' has no third column, so words are split into single "
        "letters. Copy bpe.codes from the original model, such as vinai/bertweet-base."
    )


def test_has_case_is_not_misled_by_special_tokens():
    assert not has_case(["[PAD]", "[MASK]", "[unused1]", "<s>", "the", " will", "##er", "U.S", ""])
    assert has_case(["<mask>", "the", " Will"])
