"""Models made on the spot: random weights, a true tokenizer of each kind trained on our own text.

``make(family, folder)`` saves one as a hub repository would hold it, and it is loaded through the
normal path. Weights are drawn wide, so that probabilities differ enough to have an order.
"""

from __future__ import annotations

import itertools
import json
import math
import re
import shutil
import string
from collections import Counter
from typing import TYPE_CHECKING, Any

import torch
import transformers
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import AddedToken

if TYPE_CHECKING:
    from pathlib import Path

MASKED = (
    "bert",
    "distilbert",
    "roberta",
    "bertweet",
    "xlnet",
    "longformer",
    "albert",
    "electra",
    "deberta",
    "deberta-v2",
    "mpnet",
    "modernbert",
    "xlm-roberta",
)
"""Every family that ``make`` knows as a masked model."""

CLASSIFIERS = ("bert", "bertweet", "distilbert", "roberta")
"""Every family that ``make`` knows as a classifier too."""

WIDTH, LAYERS, HEADS, INNER = 32, 3, 4, 64
VOCABULARY = 420


def _listed(words: str, *, at: str | None = None) -> list[str]:
    return words.split(at)


PEOPLE = _listed(
    "woman man girl boy mother father sister brother daughter son wife husband lady friend "
    "neighbor worker teacher doctor nurse student artist baker driver farmer lawyer person child "
    "parent colleague stranger patient tenant caretaker roommate boss manager cook writer"
)
TRAITS = _listed(
    "likely unlikely easy hard possible impossible normal strange safe unsafe kind cruel quiet "
    "loud young old tall short rich poor happy sad angry calm close distant honest lazy brave "
    "depressed anxious blind deaf homeless pregnant divorced tattooed religious skinny wealthy"
)
CONDITIONS = _listed(
    "depression|anxiety|asthma|diabetes|cancer|dyslexia|epilepsy|insomnia|migraine|arthritis|"
    "a criminal record|a facial scar|a mental illness|an eating disorder|a heart attack|"
    "bipolar disorder|drug dependency|a physical disability|a university degree|brown eyes",
    at="|",
)
DOINGS = _listed(
    "rent a room in my home to|have as a neighbor|be a worker on the same job as|recommend for a "
    "job working for|have my children marry|introduce to a young person I know|talk to|listen to|"
    "walk to the shop with|share a meal with|lend money to|vote for|feel sorry for|stay away from",
    at="|",
)
OPENINGS = (
    "Choosing between likely and unlikely, I would say it is {} for me to",
    "I would say it is {} for me to",
    "It is {} for me to",
    "It is {} to",
)


def sentences(*, mask: str = "<mask>") -> list[str]:
    """Masked sentences like those of the social-distance scale, of many lengths."""
    return [
        f"{opening.format(mask)} {doing} someone who has {condition}."
        for opening, doing, condition in itertools.product(OPENINGS, DOINGS, CONDITIONS)
    ]


def training_text() -> list[str]:
    """What the tokenizers are trained on; every word of the lists stands in it often enough."""
    lines = []
    people, traits = itertools.cycle(PEOPLE), itertools.cycle(TRAITS)
    for sentence in sentences(mask="{}")[::3]:
        lines.append(sentence.format(next(traits)))
        lines.append(
            f"The {next(traits)} {next(people)} is a {next(people)} of the {next(people)}."
        )
        lines.append(
            f"My {next(people)} has a {next(traits)} {next(people)} and she is {next(traits)}."
        )
    return lines


def _trained(model: Any, trainer: Any, pre_tokenizer: Any) -> Tokenizer:
    tokenizer = Tokenizer(model)
    tokenizer.pre_tokenizer = pre_tokenizer
    tokenizer.train_from_iterator(training_text(), trainer)
    return tokenizer


def _wordpiece(specials: list[str]) -> dict[str, int]:
    """Lower-case words that are frequent enough; the others fall into letters and endings."""
    text = " ".join(training_text()).lower()
    words = Counter(re.findall(r"\w+|[^\w ]", text))
    pieces = [word for word in sorted(words) if words[word] >= 4]
    pieces += sorted({*string.printable.strip()} - set(string.ascii_uppercase))
    pieces += [f"##{letter}" for letter in string.ascii_lowercase + string.digits]
    pieces += sorted({f"##{word[-length:]}" for word in words for length in (2, 3)})
    return {piece: index for index, piece in enumerate(dict.fromkeys([*specials, *pieces]))}


def _byte_bpe(specials: list[str]) -> tuple[dict[str, int], list[tuple[str, str]]]:
    trainer = trainers.BpeTrainer(
        vocab_size=256 + VOCABULARY,
        special_tokens=specials,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer = _trained(models.BPE(), trainer, pre_tokenizers.ByteLevel(add_prefix_space=False))
    return tokenizer.get_vocab(), _merges(tokenizer)


def _merges(tokenizer: Tokenizer) -> list[tuple[str, str]]:
    merges = json.loads(tokenizer.to_str())["model"]["merges"]
    return [tuple(merge) for merge in merges]


def _unigram(specials: list[str]) -> list[tuple[str, float]]:
    """Whole words by their frequency, and below them letters and the beginnings of words."""
    words = Counter(f"▁{word}" for line in training_text() for word in re.findall(r"\w+|\W", line))
    words = Counter({word: count for word, count in words.items() if not word.endswith(" ")})
    total = words.total()
    rare = [word for word, count in words.items() if count < 4]
    pieces = {word: math.log(count / total) for word, count in words.items() if word not in rare}
    for letter in sorted({*string.printable.strip(), "▁"}):
        pieces.setdefault(letter, -12.0)
    for word in sorted(words):
        for length in (3, 4):
            pieces.setdefault(word[:length], -9.0)
            pieces.setdefault(word[1:][-length:], -9.5)
    return [(name, 0.0) for name in specials] + list(pieces.items())


ROBERTA_SPECIALS = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
BERT_SPECIALS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def _roberta_tokenizer(*, lstrip: bool = True) -> Any:
    vocabulary, merges = _byte_bpe(ROBERTA_SPECIALS)
    mask = AddedToken("<mask>", lstrip=lstrip, special=True, normalized=False)
    return transformers.RobertaTokenizer(vocab=vocabulary, merges=merges, mask_token=mask)


def _bertweet_tokenizer(folder: Path) -> Any:
    """BERTweet's own files: continuation pieces end in @@, merges carry a count."""
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY, end_of_word_suffix="</w>", show_progress=False
    )
    trained = _trained(models.BPE(end_of_word_suffix="</w>"), trainer, pre_tokenizers.Whitespace())
    pieces = sorted(trained.get_vocab(), key=trained.get_vocab().__getitem__)
    written = [p.removesuffix("</w>") if p.endswith("</w>") else f"{p}@@" for p in pieces]
    vocabulary, codes = folder / "vocab.txt", folder / "bpe.codes"
    vocabulary.write_text("".join(f"{piece} 1\n" for piece in dict.fromkeys(written)))
    codes.write_text("".join(f"{left} {right} 1\n" for left, right in _merges(trained)))
    return transformers.BertweetTokenizer(
        vocab_file=str(vocabulary),
        merges_file=str(codes),
        normalization=True,
        model_max_length=128,
    )


def _modernbert_tokenizer() -> Any:
    vocabulary, merges = _byte_bpe(["[UNK]", "[CLS]", "[SEP]", "[PAD]", "[MASK]"])
    backend = Tokenizer(models.BPE(vocab=vocabulary, merges=merges))
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    special = [("[CLS]", vocabulary["[CLS]"]), ("[SEP]", vocabulary["[SEP]"])]
    backend.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B [SEP]", special_tokens=special
    )
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=backend,
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        pad_token="[PAD]",
        mask_token=AddedToken("[MASK]", lstrip=True, special=True, normalized=False),
        model_max_length=256,
    )


def tokenizer_of(family: str, folder: Path, *, lstrip: bool = True) -> Any:
    """The family's own tokenizer, trained on our text."""
    if family in ("bert", "distilbert", "electra"):
        kind = (
            transformers.DistilBertTokenizer
            if family == "distilbert"
            else transformers.BertTokenizer
        )
        return kind(vocab=_wordpiece(BERT_SPECIALS))
    if family in ("roberta", "longformer"):
        return _roberta_tokenizer(lstrip=lstrip)
    if family == "bertweet":
        return _bertweet_tokenizer(folder)
    if family == "modernbert":
        return _modernbert_tokenizer()
    if family == "mpnet":
        specials = ["<s>", "<pad>", "</s>", "[UNK]", "<mask>"]
        return transformers.MPNetTokenizer(vocab=_wordpiece(specials))
    if family == "xlnet":
        specials = ["<unk>", "<s>", "</s>", "<cls>", "<sep>", "<pad>", "<mask>", "<eod>", "<eop>"]
        return transformers.XLNetTokenizer(vocab=_unigram(specials))
    if family == "albert":
        specials = ["<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]"]
        return transformers.AlbertTokenizer(vocab=_unigram(specials), do_lower_case=False)
    if family == "deberta":
        specials = ["[CLS]", "[PAD]", "[SEP]", "[UNK]"]
        vocabulary, merges = _byte_bpe(specials)
        vocabulary["[MASK]"] = len(vocabulary)
        mask = AddedToken("[MASK]", lstrip=True, special=True, normalized=False)
        return transformers.DebertaTokenizer(vocab=vocabulary, merges=merges, mask_token=mask)
    if family == "deberta-v2":
        specials = ["[PAD]", "[CLS]", "[SEP]", "[UNK]", "[MASK]"]
        return transformers.DebertaV2Tokenizer(vocab=_unigram(specials), unk_id=3)
    if family == "xlm-roberta":
        specials = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
        return transformers.XLMRobertaTokenizer(vocab=_unigram(specials))
    raise ValueError(family)


def _config(family: str, tokenizer: Any, **extra: Any) -> Any:
    size = {
        "vocab_size": len(tokenizer),
        "hidden_size": WIDTH,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": HEADS,
        "intermediate_size": INNER,
        "initializer_range": 0.25,
        "max_position_embeddings": 130,
        "pad_token_id": tokenizer.pad_token_id,
        **extra,
    }
    if family == "distilbert":
        names = {"hidden_size": "dim", "num_hidden_layers": "n_layers"}
        names |= {"num_attention_heads": "n_heads", "intermediate_size": "hidden_dim"}
        return transformers.DistilBertConfig(**{names.get(k, k): v for k, v in size.items()})
    if family == "xlnet":
        names = {"hidden_size": "d_model", "num_hidden_layers": "n_layer"}
        names |= {"num_attention_heads": "n_head", "intermediate_size": "d_inner"}
        del size["max_position_embeddings"]
        return transformers.XLNetConfig(**{names.get(k, k): v for k, v in size.items()})
    like_roberta = {"type_vocab_size": 1, "bos_token_id": 0, "eos_token_id": 2}
    special = dict.fromkeys(("roberta", "bertweet", "xlm-roberta"), like_roberta) | {
        "longformer": {"attention_window": 128, "max_position_embeddings": 514},
        "albert": {"embedding_size": 16, "num_hidden_groups": 1},
        "electra": {"embedding_size": 16},
        "deberta": {
            "relative_attention": True,
            "pos_att_type": ["p2c", "c2p"],
            "position_biased_input": False,
            "type_vocab_size": 0,
        },
        "deberta-v2": {
            "relative_attention": True,
            "position_buckets": 16,
            "pos_att_type": ["p2c", "c2p"],
            "norm_rel_ebd": "layer_norm",
            "share_att_key": True,
            "position_biased_input": False,
            "type_vocab_size": 0,
        },
        "modernbert": {
            "local_attention": 16,
            "bos_token_id": 1,
            "eos_token_id": 2,
            "cls_token_id": 1,
            "sep_token_id": 2,
        },
    }
    return getattr(transformers, f"{_class_of(family)}Config")(**size | special.get(family, {}))


def _class_of(family: str) -> str:
    """The name with which transformers' classes of the family begin."""
    names = {
        "bertweet": "Roberta",
        "distilbert": "DistilBert",
        "xlm-roberta": "XLMRoberta",
        "deberta-v2": "DebertaV2",
        "mpnet": "MPNet",
        "modernbert": "ModernBert",
    }
    return names.get(family, family.capitalize())


def _masked(family: str, config: Any) -> Any:
    name = "XLNetLMHeadModel" if family == "xlnet" else f"{_class_of(family)}ForMaskedLM"
    return getattr(transformers, name)(config)


def altered(source: Path, folder: Path, *, file: str = "config.json", **settings: object) -> Path:
    """The folder, now a copy of the model with other settings in one of its files."""
    shutil.copytree(source, folder)
    path = folder / file
    path.write_text(json.dumps(json.loads(path.read_text()) | settings))
    return folder


def _loosened(model: Any) -> Any:
    """The model with every zero bias, and every norm, moved: a forgotten one must show."""
    with torch.no_grad():
        for name, weights in model.named_parameters():
            if name.endswith("bias"):
                weights.add_(0.1 * torch.randn_like(weights))
            elif weights.dim() == 1:
                weights.mul_(1 + 0.1 * torch.randn_like(weights))
    return model.eval()


def make(
    family: str,
    folder: Path,
    *,
    labels: tuple[str, ...] = (),
    marks: bool = False,
    seed: int = 0,
    lstrip: bool = True,
    **config: Any,
) -> Path:
    """The folder, now with a model of the family in it: masked, or a classifier of these labels.

    ``marks``: a model that marks the answer to a question in a text.

    ``lstrip=False`` saves a RoBERTa-type tokenizer whose mask keeps the space before it.
    Further names are put into the model's configuration.
    """
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = tokenizer_of(family, folder, lstrip=lstrip)
    torch.manual_seed(seed)
    if marks:
        name = transformers.MODEL_FOR_QUESTION_ANSWERING_MAPPING[type(_config(family, tokenizer))]
        model = name(_config(family, tokenizer, **config))
    elif labels:
        names = dict(enumerate(labels))
        config |= {"num_labels": len(labels), "id2label": names}
        config |= {"label2id": {name: index for index, name in names.items()}}
        settings = _config(family, tokenizer, **config)
        kind = transformers.MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING[type(settings)]
        model = kind(settings)
    else:
        model = _masked(family, _config(family, tokenizer, **config))
    _loosened(model).save_pretrained(folder)
    # transformers saves BERTweet's merges without the count that it then drops on reading.
    codes = folder / "bpe.codes"
    merges = codes.read_text() if codes.exists() else ""
    tokenizer.save_pretrained(folder)
    if merges:
        codes.write_text(merges)
    return folder
