"""What a run never mixes changes by whom its parts and replies are known."""

from __future__ import annotations

from dataclasses import replace

import pytest

from goffman.models.base import Identity, Sampling
from goffman.runs.batch_plan import BatchLimits
from goffman.runs.manifest import Manifest, Model, asker_of, model_entry

IDENTITY = Identity(
    name="m",
    kind="classifier",
    family="bert",
    revision=None,
    weights="safetensors",
    weights_sha256="a" * 64,
    tokenizer_sha256="b" * 64,
    precision="float32",
    device="cpu",
)
LIMITS = BatchLimits(max_tokens=9, max_size=2, part_size=3)


def asker(entry, *, model="m", instrument="scale", settings=None):
    manifest = Manifest(models={model: Model.of(entry)})
    return asker_of(manifest, model=model, instrument=instrument, settings=settings)


def classifier(identity=IDENTITY, limits=LIMITS, labels=("negative", "positive")):
    return model_entry(identity, limits, labels=labels)


ENTRY = classifier()
CHAT = model_entry(IDENTITY, sampling=Sampling(), seed=0)

OTHERS = {
    **{
        name: lambda name=name, value=value: asker(classifier(replace(IDENTITY, **{name: value})))
        for name, value in {
            "weights_sha256": "c" * 64,
            "tokenizer_sha256": "c" * 64,
            "precision": "bf16",
            "revision": "abc",
            "device": "NVIDIA H200",
        }.items()
    },
    "labels": lambda: asker(classifier(labels=("positive", "negative"))),
    "batches": lambda: asker(classifier(limits=replace(LIMITS, max_size=3))),
    "name": lambda: asker(ENTRY, model="n"),
    "instrument": lambda: asker(ENTRY, instrument="other"),
    "settings": lambda: asker(ENTRY, settings={"top_k": 5}),
    "chat": lambda: asker(CHAT),
    "temperature": lambda: asker({**CHAT, "sampling": Sampling(temperature=0.0)}),
    "seed": lambda: asker({**CHAT, "seed": 1}),
    "address": lambda: asker({**CHAT, "address": "http://localhost/v1"}),
}


@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS)
def test_another_asker_is_known_as_another(other):
    own = asker(ENTRY), asker(CHAT)
    assert len(other()) == 16
    assert other() not in (own[:1] if other is OTHERS["chat"] else own)


def test_remarks_change_nothing():
    noted = replace(IDENTITY, notes=("The mask was repaired.",))
    entry = classifier(noted)
    assert asker({**entry, "deviation": {"largest_difference": 0.1}}) == asker(ENTRY)
