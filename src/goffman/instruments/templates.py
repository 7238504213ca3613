"""Texts with places in braces."""

from __future__ import annotations

import re
from collections.abc import Mapping

from goffman.records import Form, Slot

_PLACE = re.compile(r"\{([^{}]*)\}")


def places(template: str) -> list[str]:
    """The names that stand in braces in a template, in order."""
    return _PLACE.findall(template)


def put_in(template: str, values: Mapping[str, str]) -> str:
    """The template with every place filled; braces in the values are left as they are."""
    return _PLACE.sub(lambda place: values[place[1]], template)


def slot_text(slot: Slot, form: Form) -> str:
    """A form of a condition as it stands in the slot: "someone who has depression"."""
    values = {
        "form": form.text,
        "verb": form.verb,
        "plural": form.plural,
        "plural_verb": form.plural_verb,
        "vignette": form.vignette,
    }
    return put_in(slot.filled, values)


def stray_braces(template: str) -> bool:
    """Whether a brace stands in a template that belongs to no place."""
    return any(sign in _PLACE.sub("", template) for sign in "{}")
