"""The kinds of model: one row (a ModelKind) says everything that other modules must know of a kind.

Another package adds a row through the entry point group goffman.models; ``tests/toy_kind.py`` is a
complete example.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any

import numpy as np

from goffman.errors import ModelError
from goffman.instruments.types import AnswerTable, InstrumentKind
from goffman.models.base import Calling, Fills, Identity, LoadOptions, Sampling, by_meaning
from goffman.models.files import checked, prepared, read_object
from goffman.models.server_address import behind_server
from goffman.models.tokenizer import batch_limits, has_case, load_tokenizer, plan_batches
from goffman.plugins import plugged, raised, refuse

SAMPLE = 64
"""How many of the prompts are asked in both precisions."""


@dataclass(frozen=True, kw_only=True)
class Loading:
    """How a model is loaded and, if it is a chat model, asked."""

    options: LoadOptions = field(default_factory=LoadOptions)
    sampling: Sampling = field(default_factory=Sampling)
    calling: Calling = field(default_factory=Calling)


@dataclass(frozen=True, kw_only=True)
class Sample:
    """The sentences on which two precisions of a model are compared."""

    texts: Sequence[str]
    top_k: int
    """How many words are compared at each mask; 0 if no masks are asked."""
    seed: int
    """The seed that drew the sentences."""


def draw_sample(texts: Sequence[str], *, top_k: int, seed: int) -> Sample:
    """Return a random sample of the distinct texts, which depends on the seed, not their order."""
    distinct = sorted(set(texts))
    count = min(SAMPLE, len(distinct))
    drawn = np.random.default_rng(seed).choice(len(distinct), size=count, replace=False)
    return Sample(texts=[distinct[index] for index in sorted(drawn)], top_k=top_k, seed=seed)


@dataclass(frozen=True, kw_only=True)
class ModelKind:
    """A kind of model."""

    name: str
    """masked, classifier …, as in the manifest and in "a masked model"."""
    instruments: tuple[InstrumentKind, ...]
    """The kinds of instrument that such a model can be asked."""
    answers: AnswerTable
    """The table for its answers; it tells which protocol of base.py the model follows: Fills,
    Classifies, Picks (choices), Scores (likelihoods) or Chats (replies)."""
    here: Mapping[InstrumentKind, AnswerTable] = field(default_factory=dict)
    """Further kinds of instrument for a model on this machine, with the table for their answers:
    next words (complete) and probabilities of options (choose), by the protocol Continues."""
    served: Mapping[InstrumentKind, AnswerTable] = field(default_factory=dict)
    """Further kinds of instrument for a model behind a server, with the table for their answers."""
    can: str
    """What such a model can do, as a clause: "it fills in blanks (masks)"."""
    doing: str
    """The same as an activity: "filling in blanks"."""
    needed: str
    """The model needed for that: "a masked model, such as roberta-base"."""
    task: str
    """The hub's name for this task, for model cards."""
    load: Callable[[str, Loading], Any]
    """Loads the model of this name, ready to be asked; imports heavy modules inside."""
    check: Callable[[str, LoadOptions], None] = lambda _name, _options: None
    """Raises the error with which loading would end, as far as a quick check can tell."""
    deviation: Callable[[Any, Any, Sample], Mapping[str, Any]] | None = None
    """Measures how far a model is from the same model in float32; None: it cannot be measured."""
    says: Callable[[Any], Mapping[str, Any]] = lambda _model: {}
    """Returns what the manifest says of a model besides its identity."""
    takes: Callable[[str], bool] | None = None
    """For kinds of other packages: returns whether a name is that of such a model. None: the
    model's configuration says of which kind it is."""
    form: str = ""
    """For kinds of other packages: how model names are written, such as toy:SEED."""

    @property
    def called(self) -> str:
        """Return the kind with its article: a masked model, a classifier, an nli model."""
        noun = self.name if self.name == "classifier" else f"{self.name} model"
        return f"{'an' if self.name == 'nli' else 'a'} {noun}"

    def table_for(self, instrument: InstrumentKind, *, served: bool = False) -> AnswerTable | None:
        """Return the table that holds the answers; None if this kind of model cannot be asked.

        ``served``: whether the model is behind a server.
        """
        if instrument in self.instruments:
            return self.answers
        return (self.served if served else self.here).get(instrument)


def _load(name: str, loading: Loading, *, kind: str) -> Any:
    """Load a model of one of the built-in kinds."""
    options = loading.options
    if behind_server(name):
        from goffman.models.chat_api import RemoteChat

        return RemoteChat(name, sampling=loading.sampling, calling=loading.calling)
    import transformers

    from goffman.models.torch_common import cannot_load, load_weights

    files, identity = prepared(name, options, kind=kind)
    tokenizer = load_tokenizer(files, options)
    if kind == "masked" and identity.family == "xlnet":
        model_class = transformers.XLNetLMHeadModel
    else:
        model_class = {
            "masked": transformers.AutoModelForMaskedLM,
            "classifier": transformers.AutoModelForSequenceClassification,
            "qa": transformers.AutoModelForQuestionAnswering,
            "nli": transformers.AutoModelForSequenceClassification,
        }.get(kind, transformers.AutoModelForCausalLM)
    model = load_weights(model_class, files, options)
    try:
        return model_in_memory(identity, model, tokenizer, loading)
    except (RuntimeError, ValueError, IndexError) as error:
        raise ModelError(cannot_load(files.name, error)) from error


def model_in_memory(
    identity: Identity, model: Any, tokenizer: Any, loading: Loading, *, own_code: bool = True
) -> Any:
    """Return a model of transformers as the protocols of base.py have it.

    ``own_code``: whether our own code may be tried, which takes the current weights into its own
    form.
    """
    from goffman.models.causal import Causal
    from goffman.models.chat_local import LocalChat
    from goffman.models.classifier import Classifier, sentiments_of
    from goffman.models.masked import make_masked
    from goffman.models.passage import Inference, QuestionAnswerer

    if identity.kind == "masked":
        return make_masked(identity, model, tokenizer, own_code=own_code)
    if identity.kind == "classifier":
        labels = sentiments_of(identity.name, model.config, user_labels=loading.options.labels)
        return Classifier(identity, model, tokenizer, labels=labels)
    if identity.kind == "chat":
        size = loading.calling.batch_size
        return LocalChat(identity, model, tokenizer, loading.sampling, batch_size=size)
    readers = {"qa": QuestionAnswerer, "nli": Inference, "causal": Causal}
    return readers[identity.kind](identity, model, tokenizer)


def _check(name: str, options: LoadOptions, *, classes: str = "") -> None:
    """Raise an error if something is wrong with the model's small files, or with its classes.

    ``classes``: sentiment or nli, if the model has such classes.
    """
    if behind_server(name):
        return
    files = checked(name, options)
    if classes == "nli":
        from goffman.models.passage import nli_classes

        nli_classes(files.name, read_object(files.name, files.folder / "config.json")["id2label"])
    if classes == "sentiment":
        from goffman.models.classifier import sentiments_of
        from goffman.models.torch_common import read_config

        sentiments_of(files.name, read_config(files, options), user_labels=options.labels)


def fills_deviation(low: Fills, float32: Fills, sample: Sample) -> Mapping[str, Any]:
    """Return how far the fills of two models differ on the sample.

    These are the mean and lowest overlap of the top k, and the largest difference of a probability
    among float32's top k.
    """
    encoded, top_k = float32.encode(sample.texts), sample.top_k
    if not encoded:
        raise ValueError("deviation needs at least one sentence")
    overlaps: list[float] = []
    largest = 0.0
    max_tokens, max_size = batch_limits(float32.identity.device)
    lengths = [len(sentence) for sentence in encoded]
    for batch in plan_batches(lengths, max_tokens=max_tokens, max_size=max_size):
        sentences = [encoded[index] for index in batch]
        exact = float32.fill_batch(sentences, top_k=top_k)
        union = np.unique(exact.token_ids)
        rough = low.fill_batch(sentences, top_k=top_k, targets=union.tolist())
        for row in range(len(batch)):
            common = np.intersect1d(exact.token_ids[row], rough.token_ids[row])
            overlaps.append(len(common) / top_k)
            matching = rough.targets[row, np.searchsorted(union, exact.token_ids[row])]
            largest = max(largest, float(np.abs(matching - exact.probabilities[row]).max()))
    return {
        "sentences": len(encoded),
        "top_k": top_k,
        "overlap": float(np.mean(overlaps)),
        "overlap_lowest": min(overlaps),
        "largest_difference": largest,
        "seed": sample.seed,
    }


def deviation_of(low: Any, float32: Any, sample: Sample, *, ask: str) -> Mapping[str, Any]:
    """Return how far the two models' results of the method ``ask`` differ on the sample.

    Of classify_batch: the share of equal labels and the largest difference of a probability. Of the
    others the mean and the largest difference: for score_batch of the logarithm of a sentence's
    probability, for pick_batch of a probability.
    """
    encoded = float32.encode(sample.texts)
    # One by one: there are few sentences, and a batch might affect precisions differently.
    rough, exact = (
        np.concatenate([getattr(model, ask)([sentence]) for sentence in encoded])
        for model in (low, float32)
    )
    differences = np.abs(rough - exact)
    entry = {"mean_difference": float(differences.mean())}
    if ask == "classify_batch":
        labels = [by_meaning(rows, float32.labels)[1].argmax(axis=1) for rows in (rough, exact)]
        entry = {"same_label": float((labels[0] == labels[1]).mean())}
    return {
        "sentences": len(encoded),
        **entry,
        "largest_difference": float(differences.max()),
        "seed": sample.seed,
    }


BUILT_IN = (
    ModelKind(
        name="masked",
        instruments=("fill", "prefer"),
        answers="fills",
        can="it fills in blanks (masks)",
        doing="filling in blanks",
        needed="a masked model, such as roberta-base",
        task="fill-mask",
        load=partial(_load, kind="masked"),
        check=_check,
        deviation=fills_deviation,
        says=lambda model: {"cased": has_case(model.tokens)},
    ),
    ModelKind(
        name="classifier",
        instruments=("classify",),
        answers="labels",
        can="it labels sentences",
        doing="labeling sentences",
        needed="a classifier, such as siebert/sentiment-roberta-large-english",
        task="text-classification",
        load=partial(_load, kind="classifier"),
        check=partial(_check, classes="sentiment"),
        deviation=partial(deviation_of, ask="classify_batch"),
        says=lambda model: {"labels": list(model.labels)},
    ),
    ModelKind(
        name="qa",
        instruments=("mark",),
        answers="choices",
        can="it marks the part of a text that answers a question",
        doing="marking an answer in a text",
        needed="a question-answering (qa) model, such as deepset/roberta-base-squad2",
        task="question-answering",
        load=partial(_load, kind="qa"),
        check=_check,
        deviation=partial(deviation_of, ask="pick_batch"),
    ),
    ModelKind(
        name="nli",
        instruments=("infer",),
        answers="choices",
        can="it says whether a statement follows from a text",
        doing="saying what follows from a text",
        needed="a model of natural language inference (nli), such as FacebookAI/roberta-large-mnli",
        task="text-classification",
        load=partial(_load, kind="nli"),
        check=partial(_check, classes="nli"),
        deviation=partial(deviation_of, ask="pick_batch"),
    ),
    ModelKind(
        name="causal",
        instruments=("prefer",),
        answers="likelihoods",
        here={"complete": "fills", "choose": "choices"},
        can="it generates text, but does not chat",
        doing="comparing sentences",
        needed="a plain text generator (a causal model), such as gpt2",
        task="text-generation",
        load=partial(_load, kind="causal"),
        check=_check,
        deviation=partial(deviation_of, ask="score_batch"),
    ),
    ModelKind(
        name="chat",
        instruments=("ask", "say", "write"),
        answers="replies",
        here={"complete": "fills", "choose": "choices"},
        served={"complete": "replies"},
        can="it answers questions",
        doing="answering questions",
        needed="a chat model (openai:NAME, http://HOST/v1#NAME, or a model with a chat template)",
        task="text-generation",
        load=partial(_load, kind="chat"),
        check=_check,
    ),
)


@cache
def model_kinds() -> Mapping[str, ModelKind]:
    """Return every kind of model by its name: the built-in ones, then those of other packages."""
    kinds = {row.name: row for row in BUILT_IN}
    for entry, kind in plugged("goffman.models"):
        if why := _fault(kind, kinds):
            refuse("goffman.models", entry, why)
        elif isinstance(kind, ModelKind):
            kinds[kind.name] = kind
    return kinds


def _fault(candidate: object, kinds: Mapping[str, ModelKind]) -> str | None:
    """Return what is wrong with a plug-in's kind of model; None if nothing is."""
    if not isinstance(candidate, ModelKind):
        return "it is not a ModelKind; see goffman/models/registry.py."
    if candidate.name in (*kinds, "other"):
        return f"there is already a kind of model '{candidate.name}'."
    if candidate.takes is None or not candidate.form:
        return "it must say which names it takes, and their form; see goffman/models/registry.py."
    allowed = {
        kind for row in BUILT_IN if row.answers == candidate.answers for kind in row.instruments
    }
    unfit = [kind for kind in candidate.instruments if kind not in allowed]
    if unfit or not candidate.instruments:
        return (
            f"its answers go to '{candidate.answers}' and it can be asked "
            f"'{', '.join(candidate.instruments)}'; see goffman/models/registry.py for what goes "
            f"together."
        )
    return None


def plugged_kind(name: str) -> ModelKind | None:
    """Return the kind of another package that takes this model name; None if there is none."""
    for row in model_kinds().values():
        try:
            if row.takes is not None and row.takes(name):
                return row
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - whatever a stranger's code raises
            refuse("goffman.models", row.name, *raised(error))
    return None


def answers_to(instrument: InstrumentKind) -> AnswerTable:
    """Return the table that usually holds the answers to this kind of instrument."""
    tables = (row.table_for(instrument) for row in BUILT_IN)
    return next(table for table in tables if table is not None)
