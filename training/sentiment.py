"""Fine-tunes the classifier: WORK/mini and labelled sentences → WORK/sentiment.

python training/sentiment.py CORPUS WORK --layers 2

Only the last layers, the pooler and the classes are trained, so that the classifier can be shipped
as the tensors that differ from the masked model.
"""

from __future__ import annotations

import argparse
import csv
import lzma
import random
from collections.abc import Callable, Iterator
from pathlib import Path

import torch
from tokenizers import Tokenizer
from transformers import BertForSequenceClassification

Labelled = list[tuple[list[int], int]]
"""Token ids with [CLS] and [SEP], and 0 for negative or 1 for positive."""

LONGEST = 128
PEOPLE = ("They are people.", "These are people.")


def sst2(path: Path, tokenizer: Tokenizer) -> Labelled:
    """Return the sentences of the Stanford Sentiment Treebank."""
    with lzma.open(path, "rt", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    encoded = tokenizer.encode_batch([row["sentence"].strip() for row in rows])
    return [(one.ids[:LONGEST], int(row["label"])) for one, row in zip(encoded, rows, strict=True)]


def reviews(path: Path, tokenizer: Tokenizer) -> Labelled:
    """Return the beginnings of film reviews."""
    with lzma.open(path, "rt", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    encoded = tokenizer.encode_batch([row["text"] for row in rows])
    last = tokenizer.token_to_id("[SEP]")
    cut = [
        one.ids if len(one.ids) <= LONGEST else [*one.ids[: LONGEST - 1], last] for one in encoded
    ]
    return [(ids, int(row["label"] == "pos")) for ids, row in zip(cut, rows, strict=True)]


def batches(data: Labelled, size: int, draw: random.Random) -> Iterator[tuple[torch.Tensor, ...]]:
    """Ids, attention and labels of sentences of about one length, in random order."""
    order = sorted(range(len(data)), key=lambda index: (len(data[index][0]), draw.random()))
    groups = [order[start : start + size] for start in range(0, len(order), size)]
    draw.shuffle(groups)
    for group in groups:
        rows = [torch.tensor(data[index][0]) for index in group]
        ids = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True)
        labels = torch.tensor([data[index][1] for index in group])
        yield ids, (ids != 0).long(), labels


@torch.no_grad()
def predictions(model: BertForSequenceClassification, data: Labelled, device: str) -> torch.Tensor:
    """[sentence, class]: the probabilities, in the order given."""
    model.eval()
    rows = [model(input_ids=torch.tensor([ids], device=device)).logits[0] for ids, _ in data]
    return torch.stack(rows).softmax(1).cpu()


def fine_tune(
    model: BertForSequenceClassification,
    data: Labelled,
    *,
    epochs: int,
    rate: float,
    device: str,
    after_step: Callable[[], None] = lambda: None,
) -> None:
    """Fit the trainable parameters to the labels."""
    chosen = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimizer = torch.optim.AdamW(chosen, lr=rate, weight_decay=0.01)
    size, draw = 128, random.Random(0)
    steps, step = epochs * -(-len(data) // size), 0
    for _ in range(epochs):
        model.train()
        for ids, there, labels in batches(data, size, draw):
            for group in optimizer.param_groups:
                group["lr"] = rate * min(1.0, 10 * (step + 1) / steps) * (1 - step / steps)
            with torch.autocast(device, torch.bfloat16):
                logits = model(input_ids=ids.to(device), attention_mask=there.to(device)).logits
                loss = torch.nn.functional.cross_entropy(logits.float(), labels.to(device))
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            step += 1
            after_step()
            if step % 200 == 0:
                print(f"batch {step}/{steps} loss {loss.item():.3f}", flush=True)


def classifier(base: Path, *, layers: int) -> BertForSequenceClassification:
    """Return a classifier on a masked model, of which the last layers are to be trained."""
    model = BertForSequenceClassification.from_pretrained(
        base,
        dtype=torch.float32,
        num_labels=2,
        id2label={0: "negative", 1: "positive"},
        label2id={"negative": 0, "positive": 1},
        hidden_dropout_prob=0.1,
        attention_probs_dropout_prob=0.1,
    )
    frozen = [model.bert.embeddings, *model.bert.encoder.layer[: 6 - layers]]
    for parameter in (parameter for part in frozen for parameter in part.parameters()):
        parameter.requires_grad = False
    return model


def main(corpus: Path, work: Path, *, layers: int, device: str) -> None:
    """WORK/sentiment holds the classifier; its accuracy is printed."""
    torch.manual_seed(0)
    tokenizer = Tokenizer.from_file(str(work / "start" / "tokenizer.json"))
    model = classifier(work / "mini", layers=layers).to(device)
    fine_tune(
        model,
        reviews(corpus / "imdb-labelled.tsv.xz", tokenizer),
        epochs=2,
        rate=2e-4,
        device=device,
    )
    train = sst2(corpus / "sst2-train.tsv.xz", tokenizer)
    fine_tune(model, train, epochs=3, rate=2e-4, device=device)
    dev = sst2(corpus / "sst2-dev.tsv.xz", tokenizer)
    labels = torch.tensor([label for _, label in dev])
    right = (predictions(model, dev, device).argmax(1) == labels).float().mean().item()
    print(f"layers {layers}: SST-2 dev accuracy {right:.4f}")
    people = [(one.ids, 0) for one in tokenizer.encode_batch(list(PEOPLE))]
    for text, row in zip(PEOPLE, predictions(model, people, device).tolist(), strict=True):
        print(f"{text} negative {row[0]:.3f}, positive {row[1]:.3f}")
    model.save_pretrained(work / "sentiment")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("work", type=Path)
    parser.add_argument("--layers", type=int, default=2, help="so many of the last are trained")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    given = parser.parse_args()
    main(given.corpus, given.work, layers=given.layers, device=given.device)
