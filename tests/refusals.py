"""What is said where something is refused."""

import pytest


def message_of(kind, do, *arguments, **options):
    """The message of the error of this kind that the call raises."""
    with pytest.raises(kind) as error:
        do(*arguments, **options)
    return str(error.value)
