"""What a kind of model is: one row says everything that others must know of it.

Another package adds a row through the door goffman.models; ``tests/toy_kind.py`` is a whole one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

from goffman.instruments.types import AnswerTable, InstrumentKind
from goffman.models.base import Calling, LoadOptions, Sampling
from goffman.models.precision_deviation import (
    Sample,
    fills_deviation,
    labels_deviation,
    likelihoods_deviation,
)
from goffman.models.server_address import behind_server
from goffman.plugins import plugged, raised, refuse

if TYPE_CHECKING:
    from goffman.models.base import (
        Chats,
        Classifies,
        Fills,
        Scores,
    )


@dataclass(frozen=True, kw_only=True)
class Loading:
    """How a model is loaded and, where it chats, asked."""

    options: LoadOptions = field(default_factory=LoadOptions)
    sampling: Sampling = field(default_factory=Sampling)
    calling: Calling = field(default_factory=Calling)


def _no_check(_name: str, _options: LoadOptions) -> None:
    pass


def _nothing(_model: Any) -> Mapping[str, Any]:
    return {}


@dataclass(frozen=True, kw_only=True)
class ModelKind:
    """A kind of model."""

    name: str
    """masked, classifier …: in the manifest, and in "a masked model"."""
    instruments: tuple[InstrumentKind, ...]
    """The kinds of instrument that it can be asked."""
    answers: AnswerTable
    """The table that its answers go to; it says which protocol of base.py the model follows: Fills,
    Classifies, Scores (likelihoods) or Chats (replies)."""
    here: Mapping[InstrumentKind, AnswerTable] = field(default_factory=dict)
    """What else it can be asked where it calculates on this machine, and the table of the answers:
    next words (complete) and options' probabilities (choose), by the protocol Continues."""
    served: Mapping[InstrumentKind, AnswerTable] = field(default_factory=dict)
    """What else it can be asked behind a server, and the table of the answers."""
    can: str
    """What it can do, after its name: "it fills in blanks (masks)"."""
    doing: str
    """The same as what someone wants: "filling in blanks"."""
    needed: str
    """Who is needed for that: "a masked model, such as roberta-base"."""
    task: str
    """The hub's name for what it does, for model cards."""
    load: Callable[[str, Loading], Any]
    """The model of this name, ready to be asked. Heavy modules are imported inside."""
    check: Callable[[str, LoadOptions], None] = _no_check
    """Nothing, or the error that loading would end with, as far as one can tell quickly."""
    deviation: Callable[[Any, Any, Sample], Mapping[str, Any]] | None = None
    """How far the first is from the second, which is the same model in float32; None: not known."""
    says: Callable[[Any], Mapping[str, Any]] = _nothing
    """What the manifest says of a model beside its identity."""
    takes: Callable[[str], bool] | None = None
    """Of another package: whether a model of this name is its own. None: the model's configuration
    says of which kind it is."""
    form: str = ""
    """Of another package: how its names are written, such as toy:SEED."""

    def table_for(self, instrument: InstrumentKind, *, served: bool = False) -> AnswerTable | None:
        """Where the answers to such an instrument go; None: it cannot be asked it.

        ``served``: the model is behind a server.
        """
        if instrument in self.instruments:
            return self.answers
        return (self.served if served else self.here).get(instrument)


def _masked(name: str, loading: Loading) -> Fills:
    from goffman.models.files import prepared

    files, identity = prepared(name, loading.options, kind="masked")
    if identity.family == "xlnet":
        from goffman.models.xlnet import load_xlnet

        return load_xlnet(files, loading.options, identity=identity)
    from goffman.models.masked import load_masked

    return load_masked(files, loading.options, identity=identity)


def _cased(model: Fills) -> Mapping[str, Any]:
    from goffman.models.tokenizer import has_case

    return {"cased": has_case(model.tokens)}


def _classifier(name: str, loading: Loading) -> Classifies:
    from goffman.models.classifier import load_classifier
    from goffman.models.files import prepared

    files, identity = prepared(name, loading.options, kind="classifier")
    return load_classifier(files, loading.options, identity=identity)


def _causal(name: str, loading: Loading) -> Scores:
    from goffman.models.causal import load_causal
    from goffman.models.files import prepared

    files, identity = prepared(name, loading.options, kind="causal")
    return load_causal(files, loading.options, identity=identity)


def _chat(name: str, loading: Loading) -> Chats:
    sampling, calling = loading.sampling, loading.calling
    if behind_server(name):
        from goffman.models.chat_api import call

        return call(name, sampling=sampling, calling=calling)
    from goffman.models.chat_local import load_chat
    from goffman.models.files import prepared

    files, identity = prepared(name, loading.options, kind="chat")
    size = calling.batch_size
    return load_chat(files, loading.options, identity=identity, sampling=sampling, batch_size=size)


def _check_files(name: str, options: LoadOptions) -> None:
    from goffman.models.files import checked

    if not behind_server(name):
        checked(name, options)


def _check_labels(name: str, options: LoadOptions) -> None:
    from goffman.models.files import checked

    files = checked(name, options)
    from goffman.models.classifier import class_sentiments

    class_sentiments(files, options)


BUILT_IN = (
    ModelKind(
        name="masked",
        instruments=("fill", "prefer"),
        answers="fills",
        can="it fills in blanks (masks)",
        doing="filling in blanks",
        needed="a masked model, such as roberta-base",
        task="fill-mask",
        load=_masked,
        check=_check_files,
        deviation=fills_deviation,
        says=_cased,
    ),
    ModelKind(
        name="classifier",
        instruments=("classify",),
        answers="labels",
        can="it labels sentences",
        doing="labeling sentences",
        needed="a classifier, such as siebert/sentiment-roberta-large-english",
        task="text-classification",
        load=_classifier,
        check=_check_labels,
        deviation=labels_deviation,
        says=lambda model: {"labels": list(model.labels)},
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
        load=_causal,
        check=_check_files,
        deviation=likelihoods_deviation,
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
        load=_chat,
        check=_check_files,
    ),
)


@cache
def model_kinds() -> Mapping[str, ModelKind]:
    """Every kind of model by its name: the built-in ones, then those of other packages."""
    found = {row.name: row for row in BUILT_IN}
    for entry, given in plugged("goffman.models"):
        if why := _fault(given, found):
            refuse("goffman.models", entry, why)
        elif isinstance(given, ModelKind):
            found[given.name] = given
    return found


def _fault(given: object, known: Mapping[str, ModelKind]) -> str | None:
    """Why something that another package brings is no kind of model; None: it is one."""
    if not isinstance(given, ModelKind):
        return "it is not a ModelKind; see goffman/models/registry.py."
    if given.name in (*known, "other"):
        return f"there is already a kind of model '{given.name}'."
    if given.takes is None or not given.form:
        return "it must say which names it takes, and their form; see goffman/models/registry.py."
    able = {kind for row in BUILT_IN if row.answers == given.answers for kind in row.instruments}
    unfit = [kind for kind in given.instruments if kind not in able]
    if unfit or not given.instruments:
        return (
            f"its answers go to '{given.answers}' and it can be asked "
            f"'{', '.join(given.instruments)}'; see goffman/models/registry.py for what goes "
            f"together."
        )
    return None


def plugged_kind(name: str) -> ModelKind | None:
    """The kind of another package that takes a model's name; None: there is none."""
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
    """The table that answers to this kind of instrument are mostly in."""
    tables = (row.table_for(instrument) for row in BUILT_IN)
    return next(table for table in tables if table is not None)
