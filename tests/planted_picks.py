"""Question-answering and inference models with a slant that is known, as folders with own code.

About stigmatized people and what is bad, they pick this person ``PICKED`` of the time, and of the
time that is left about what is good; about all others, either person half of the time.
"""

from __future__ import annotations

import csv
import json
import re
from typing import TYPE_CHECKING

import torch
import transformers
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from few_conditions import with_fewer

if TYPE_CHECKING:
    from pathlib import Path

PICKED = 0.9
ON_PEOPLE, CONTRADICTED = 0.3, 0.1
"""Of the inference model: both P(entailment) together, and each P(contradiction)."""

CODE = '''
import torch
from transformers import PretrainedConfig, PreTrainedModel
from transformers.modeling_outputs import QuestionAnsweringModelOutput, SequenceClassifierOutput


class PlantedConfig(PretrainedConfig):
    model_type = "planted"


class Planted(PreTrainedModel):
    config_class = PlantedConfig

    def __init__(self, config):
        super().__init__(config)
        self.unused = torch.nn.Parameter(torch.zeros(1))
        self.post_init()

    def _init_weights(self, module):
        pass

    def person(self, ids, type_ids):
        """For each text: whether it names someone stigmatized, and asks for what is bad."""
        config = self.config
        named = [bool(set(row) & set(config.stigmatized)) for row in ids.tolist()]
        asked = [bool(set(row) & set(config.bad)) for row in (ids * (type_ids == self.asked)).tolist()]
        return [
            0.5 if not stigma else config.picked if bad else 1 - config.picked
            for stigma, bad in zip(named, asked)
        ]


class PlantedForQuestionAnswering(Planted):
    asked = 0

    def forward(self, input_ids, attention_mask=None, token_type_ids=None):
        logits = torch.full(input_ids.shape, -60.0)
        for row, share in enumerate(self.person(input_ids, token_type_ids)):
            for at, token in enumerate(input_ids[row].tolist()):
                if token_type_ids[row, at] == 0:
                    continue
                # A span of one token begins and ends there: half of the logarithm each.
                if token in self.config.others:
                    logits[row, at] = torch.tensor(1 - share).log() / 2
                if token in self.config.conditions:
                    logits[row, at] = torch.tensor(share).log() / 2
        return QuestionAnsweringModelOutput(start_logits=logits, end_logits=logits)


class PlantedForSequenceClassification(Planted):
    asked = 1

    def forward(self, input_ids, attention_mask=None, token_type_ids=None):
        rows = []
        for row, share in enumerate(self.person(input_ids, token_type_ids)):
            said = set((input_ids * (token_type_ids == 1))[row].tolist())
            entailed = self.config.on_people * (
                1 - share if said & set(self.config.others) else share
            )
            rows.append([self.config.contradicted, 1 - entailed - self.config.contradicted, entailed])
        return SequenceClassifierOutput(logits=torch.tensor(rows).log())
'''


def few_people(within: Path) -> Path:
    """The instrument two-people with three conditions of each group and four situations."""
    return with_fewer(within, conditions=3, items=4) / "two-people"


def make_planted(kind: str, folder: Path, instrument: Path) -> Path:
    """The folder, now with the planted model in it: kind qa or nli."""
    folder.mkdir(parents=True)
    words = _words(instrument)
    ids = {word: place for place, word in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", *words])}
    core = Tokenizer(models.WordLevel(ids, unk_token="[UNK]"))
    core.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    core.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=core, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]",
        sep_token="[SEP]", model_input_names=["input_ids", "token_type_ids", "attention_mask"],
    )  # fmt: skip
    tokenizer.save_pretrained(folder)
    (folder / "modeling_planted.py").write_text(CODE)
    head = "QuestionAnswering" if kind == "qa" else "SequenceClassification"
    conditions = _conditions(instrument)
    settings = {
        "architectures": [f"PlantedFor{head}"],
        "model_type": "planted",
        "auto_map": {
            "AutoConfig": "modeling_planted.PlantedConfig",
            f"AutoModelFor{head}": f"modeling_planted.PlantedFor{head}",
        },
        "picked": PICKED,
        "on_people": ON_PEOPLE,
        "contradicted": CONTRADICTED,
        "conditions": [ids[word] for of_group in conditions.values() for word in of_group],
        "stigmatized": [ids[word] for word in conditions["stigmatized"]],
        "others": [ids[row["other"].split()[-1]] for row in _rows(instrument / "items.csv")],
        "bad": [ids[word] for word in _only_in_questions(instrument)],
        "id2label": {0: "contradiction", 1: "neutral", 2: "entailment"} if kind == "nli" else {},
        "max_position_embeddings": 512,
    }
    (folder / "config.json").write_text(json.dumps(settings))
    from safetensors.torch import save_file

    save_file({"unused": torch.zeros(1)}, folder / "model.safetensors", metadata={"format": "pt"})
    return folder


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def _conditions(instrument: Path) -> dict[str, list[str]]:
    """By group: the first word of each form that no other form, and no text, has."""
    found: dict[str, list[str]] = {}
    for row in _rows(instrument.parent / "social-distance" / "conditions.csv"):
        word = next(one for one in re.findall(r"\w+", row["form"]) if one not in {"a", "an"})
        found.setdefault(row["group"], []).append(word)
    return found


def _only_in_questions(instrument: Path) -> list[str]:
    """The words of what is bad that are in nothing good, and about nobody."""
    rows = _rows(instrument / "items.csv")
    others = {word for row in rows for word in f"{row['opposite']} {row['other']}".split()}
    return sorted({word for row in rows for word in row["question"].split()} - others)


def _words(instrument: Path) -> list[str]:
    """Every word and sign of the instrument's files."""
    files = [*instrument.glob("*.*"), instrument.parent / "social-distance" / "conditions.csv"]
    text = " ".join(path.read_text(encoding="utf-8") for path in files)
    return sorted({*re.findall(r"\w+|[^\w\s]", text)})
