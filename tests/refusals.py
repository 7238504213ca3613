"""What is said where something is refused."""

import pytest


def message_of(error, do, /, *arguments, **options):
    """The message of the error of this class that the call raises."""
    with pytest.raises(error) as raised:
        do(*arguments, **options)
    return str(raised.value)
