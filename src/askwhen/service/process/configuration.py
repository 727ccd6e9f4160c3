"""The options of ``askwhen serve``, in one table, and the configuration file.

Each is an option of the command line, an environment variable and a key of the file, by the same name; the first of the
three that is set counts. Nothing here imports what the service needs, since --help reads the table.
"""

from __future__ import annotations

import difflib
import os
import re
import tomllib
from collections.abc import Iterable
from typing import Any, Literal, NamedTuple

from ...errors import InputError

PREFIX = "ASKWHEN_"
ELSEWHERE = frozenset(f"{PREFIX}{name}" for name in ("CONFIG", "DATA", "TOKEN", "BROWSER", "SOAK", "LABEL_STUDIO"))
"""Variables that other parts of askwhen use."""

ROLES = "roles"
"""The part of the file with the roles of users whom a proxy or a provider signs in; there is no option for it."""

MASK = "***"


class Option(NamedTuple):
    """One of the options.

    Attributes
    ----------
    name : str
        As on the command line, without the dashes.
    kind : str
        A text, an existing file or directory, a whole number, any number, a switch, or a list with commas.
    default
        The value where it is not set.
    help : str
        What it does, in a line.
    metavar : str, optional
        The name of the value in --help.
    least, most : float, optional
        Bounds of a number.
    secret : str, optional
        For a key, or an address that may have a password: it is masked when it is shown, and the variable NAME_FILE may
        name a file that has it.
    """

    name: str
    kind: Literal["text", "file", "folder", "whole", "number", "switch", "list"]
    default: Any
    help: str
    metavar: str | None = None
    least: float | None = None
    most: float | None = None
    secret: Literal["key", "address"] | None = None

    @property
    def key(self) -> str:
        """The name in Python."""
        return self.name.replace("-", "_")

    @property
    def variable(self) -> str:
        """The variable of the environment."""
        return PREFIX + self.key.upper()

    def shown(self, value: Any) -> Any:
        """The value without secrets."""
        if self.secret == "key" and value:
            return MASK
        return masked(value) if isinstance(value, str) else value


OPTIONS = (
    Option(
        "db",
        "text",
        "askwhen.db",
        "SQLite file, created if missing, or postgresql:// address.",
        "FILE|URL",
        secret="address",
    ),
    Option("host", "text", "127.0.0.1", "Where to listen."),
    Option("port", "whole", 8300, "The port; 0 takes a free one.", least=0, most=65535),
    Option("tls-certificate", "file", None, "A certificate, for TLS without a proxy.", "FILE"),
    Option("tls-key", "file", None, "Its private key.", "FILE"),
    Option("behind-proxy", "switch", False, "A proxy in front handles TLS, and nothing else reaches this address."),
    Option("root-path", "text", "", "Path prefix under which the proxy serves this service.", "/PATH"),
    Option("trust", "list", (), "Addresses or networks of proxies that sign people in.", "ADDRESSES"),
    Option("user-header", "text", "X-Forwarded-User", "Header in which these proxies send the user's name.", "NAME"),
    Option("groups-header", "text", "", "Header with the user's groups, separated by commas.", "NAME"),
    Option("sign-out", "text", "", "Sign-out address of the proxy, for the page's link.", "ADDRESS"),
    Option("openid-issuer", "text", "", "Address of an OpenID provider that signs people in.", "URL"),
    Option("openid-client", "text", "", "Client id of this service there.", "ID"),
    Option("openid-secret", "text", "", "Client secret, if it has one.", "SECRET", secret="key"),
    Option("openid-name", "text", "email", "Claim with a person's name.", "CLAIM"),
    Option("openid-groups", "text", "groups", "Claim with their groups or roles; dots lead into it.", "CLAIM"),
    Option("openid-scope", "text", "openid email profile", "Scopes to ask for.", "SCOPES"),
    Option("openid-hours", "number", 12.0, "Hours for which such a sign-in lasts.", least=0.1, most=720.0),
    Option("tokens", "switch", False, "Require tokens at once, not only when the first has been made."),
    Option("largest-body", "whole", 1 << 20, "Largest request body, and line of an NDJSON request, in bytes.", least=1),
    Option("requests", "number", 20_000.0, "Most requests per second from each token.", least=0.1, most=1e9),
    Option("standby", "switch", False, "Wait until no other server owns the PostgreSQL database, then take over."),
    Option("from-snapshots", "switch", False, "Go on from snapshots, without playing rounds again."),
    Option(
        "backups",
        "folder",
        None,
        "Directory for the backup made before an older database is upgraded; by default that of the file.",
        "FOLDER",
    ),
    Option(
        "webhook-allow",
        "list",
        (),
        "Webhooks may reach these networks though they are not public, as 10.0.0.0/8; repeatable, or with commas.",
        "NETWORKS",
    ),
    Option(
        "smtp",
        "text",
        "",
        "Mail server, as smtp://user:password@host:587 (with STARTTLS) or smtps://.",
        "URL",
        secret="address",
    ),
    Option("smtp-from", "text", "", "Address that mails come from.", "ADDRESS"),
    Option("access-log", "switch", False, "A line in the log for every request."),
    Option("otel", "switch", False, "Send spans to OpenTelemetry; OTEL_EXPORTER_OTLP_ENDPOINT says where."),
)
BY_NAME = {option.name: option for option in OPTIONS}
_KINDS: dict[str, tuple[tuple[type, ...], str]] = {
    "text": ((str,), "a text"),
    "file": ((str,), "the name of a file"),
    "folder": ((str,), "the name of a folder"),
    "whole": ((int,), "a whole number"),
    "number": ((int, float), "a number"),
    "switch": ((bool,), "true or false"),
    "list": ((str, list), "a list of texts"),
}


def read_file(path: str) -> dict[str, Any]:
    """The options in a TOML file, by their names in Python."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123, a name that may be /dev/fd
            found = tomllib.load(file)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}.", owner="config") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path} is not TOML: {error}.", owner="config") from error
    values: dict[str, Any] = {}
    for name, value in found.items():
        if name == ROLES:
            values[ROLES] = value
            continue
        option = BY_NAME.get(name)
        if option is None:
            raise InputError(f"{path}: there is no option {name!r}{_perhaps(name, BY_NAME)}.", owner="config")
        values[option.key] = _checked(option, value, path)
    return values


def _checked(option: Option, value: Any, path: str) -> Any:
    kinds, expected = _KINDS[option.kind]
    fine = isinstance(value, kinds) and (option.kind == "switch" or not isinstance(value, bool))
    if isinstance(value, list):
        fine = fine and all(isinstance(each, str) for each in value)
    if not fine:
        raise InputError(f"{path}: {option.name} must be {expected}, got {value!r}.", owner="config")
    return [value] if option.kind == "list" and isinstance(value, str) else value


def _perhaps(name: str, names: Iterable[str]) -> str:
    close = difflib.get_close_matches(name.lower().replace("_", "-"), names, 1)
    return f"; perhaps {close[0]} is meant" if close else ""


def from_environment(option: Option) -> tuple[str | None, str]:
    """The value of an option in the environment, and the variable that has it; an empty one counts as unset."""
    value, file = os.environ.get(option.variable) or None, f"{option.variable}_FILE"
    path = os.environ.get(file) if option.secret else None
    if not path:
        return value, option.variable
    if value is not None:
        raise InputError(f"{option.variable} and {file} are both set; set only one of them.", owner="config")
    try:
        with open(path, encoding="utf-8") as held:  # noqa: PTH123, a name that may be /dev/fd
            return held.read().strip(), file
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{file}: {path} cannot be read: {error}.", owner="config") from error


def unknown_variables() -> list[str]:
    """Environment variables that look like options but are not."""
    known = ELSEWHERE | {option.variable for option in OPTIONS}
    known |= {f"{option.variable}_FILE" for option in OPTIONS if option.secret}
    return sorted(name for name in os.environ if name.startswith(PREFIX) and name not in known)


def masked(text: str) -> str:
    """A text, or an address without its password.

    Examples
    --------
    >>> masked("postgresql://ann:secret@db/mails?sslmode=require&password=other")
    'postgresql://ann:***@db/mails?sslmode=require&password=***'
    >>> masked("postgresql://ann:se/cr@t@db/mails")
    'postgresql://ann:***@db/mails'
    >>> masked("mails.db")
    'mails.db'
    """
    text = re.sub(r"(pass\w*=)[^&\s]*", rf"\1{MASK}", text, flags=re.IGNORECASE)
    return re.sub(r"(://[^:/?@]*:).*@", rf"\1{MASK}@", text)
