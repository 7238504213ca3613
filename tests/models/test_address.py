"""Where a model behind a server is; what must not stand in an address."""

import pytest

from goffman.errors import ModelError
from goffman.models.resolve import describe
from goffman.models.server_address import (
    OPENAI,
    Address,
    address_entry,
    behind_server,
    parse_address,
)
from refusals import message_of


@pytest.mark.parametrize(
    ("spec", "url", "model", "loopback", "safe"),
    [
        ("openai:gpt-4o-mini", OPENAI, "gpt-4o-mini", False, True),
        ("http://localhost:8000/v1#mini", "http://localhost:8000/v1", "mini", True, True),
        ("http://127.0.0.9/v1/#a/b:8", "http://127.0.0.9/v1", "a/b:8", True, True),
        ("http://[::1]:99/v1#m#2", "http://[::1]:99/v1", "m#2", True, True),
        ("https://example.org/v1#m", "https://example.org/v1", "m", False, True),
        ("HTTP://Example.org:80/v1#M", "http://example.org:80/v1", "M", False, False),
        ("http://10.0.0.1#m", "http://10.0.0.1", "m", False, False),
        ("http://localhost.example.org/v1#m", "http://localhost.example.org/v1", "m", False, False),
        ("http://127.0.0.1.example.org/#m", "http://127.0.0.1.example.org", "m", False, False),
    ],
)
def test_an_address_is_a_place_and_a_model(spec, url, model, loopback, safe):
    address = parse_address(spec)
    assert behind_server(spec)
    assert (address.url, address.model) == (url, model)
    assert (address.loopback, address.safe) == (loopback, safe)
    assert address.openai is spec.startswith("openai:")
    assert address_entry(spec) == {"address": url, "asked_as": model}


def test_a_model_that_is_loaded_here_has_no_address():
    assert not behind_server("roberta-base")
    assert address_entry("roberta-base") == {}
    assert isinstance(parse_address("openai:x"), Address)


@pytest.mark.parametrize(
    "spec",
    [
        "http://user:s3cret@localhost/v1#m",
        "https://s3cret@example.org/v1#m",
        "http://localhost/v1?api_key=s3cret#m",
        "http://127.0.0.1\\@s3cret.example.org/v1#m",
        "http://user:s3cret@localhost/v1",
    ],
)
@pytest.mark.parametrize("read", [parse_address, describe])
def test_a_secret_in_an_address_is_refused_and_not_repeated(spec, read):
    assert message_of(ModelError, read, spec) == (
        "The address of a model contains a user name, a password or a query (@ or ?), which "
        "would be stored with the run. Remove it. Put the key into an environment variable, "
        "and give its name with --key-env. Write it like this: http://HOST:PORT/v1#MODEL"
    )


HOW = "Write it like this: http://HOST:PORT/v1#MODEL"


@pytest.mark.parametrize(
    ("spec", "what"),
    [
        ("openai:", "has no model name. Write openai:NAME"),
        ("http://localhost/v1", f"has no model name. {HOW}"),
        ("http:///v1#m", f"is not an address: it has no valid host. {HOW}"),
        ("http://a b/v1#m", f"is not an address: it has no valid host. {HOW}"),
        (
            "http://localhost:80000/v1#m",
            f"is not an address: Port out of range 0-65535. {HOW}",
        ),
        ("http://[::1/v1#m", f"is not an address: Invalid IPv6 URL. {HOW}"),
    ],
)
def test_what_is_no_address_is_said(spec, what):
    assert message_of(ModelError, parse_address, spec) == f"'{spec}' {what}"
