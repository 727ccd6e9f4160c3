"""Sends mail by SMTP, with STARTTLS or TLS from the start."""

from __future__ import annotations

import ipaddress
import re
import smtplib
import ssl
from dataclasses import dataclass
from email.message import EmailMessage
from email.utils import formatdate
from urllib.parse import unquote, urlsplit

from ....errors import InputError

_address = re.compile(r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9-]{1,63}(\.[A-Za-z0-9-]{1,63})*").fullmatch
PREFIX = "mailto:"


@dataclass(frozen=True)
class MailServer:
    """The server, and the sender of all mails.

    Attributes
    ----------
    host, port
        Where it is.
    is_tls : bool
        Whether it speaks TLS from the start; otherwise STARTTLS is required, except on this machine.
    user, password : str
        To sign in there; empty where that is not needed.
    sender : str
        The address that mails come from.
    """

    host: str
    port: int
    is_tls: bool
    user: str
    password: str
    sender: str

    def send(self, to: str, name: str, lines: list[str], patience: float, owner: str = "") -> None:
        """Send a mail with some sentences; the same name gives the same Message-ID.

        With an ``owner``, it ends with who wanted it to be sent.
        """
        mail = EmailMessage()
        mail["From"], mail["To"], mail["Date"] = self.sender, to, formatdate(localtime=False)
        mail["Subject"] = lines[0] if len(lines) == 1 else f"{lines[0]} And {len(lines) - 1} more."
        mail["Message-ID"] = f"<{name}@{self.sender.rpartition('@')[2]}>"
        mail["Auto-Submitted"] = "auto-generated"
        why = f"\n{owner} has chosen this on their own page of askwhen, and can end it there.\n"
        mail.set_content("\n".join(lines) + "\n" + (why if owner else ""))
        context = ssl.create_default_context()
        if self.is_tls:
            server: smtplib.SMTP = smtplib.SMTP_SSL(self.host, self.port, timeout=patience, context=context)
        else:
            server = smtplib.SMTP(self.host, self.port, timeout=patience)
        with server:
            server.ehlo()
            if not self.is_tls and (server.has_extn("starttls") or not _is_here(self.host)):
                server.starttls(context=context)  # fails where the server does not offer it
                server.ehlo()
            if self.user:
                server.login(self.user, self.password)
            server.send_message(mail)


def _is_here(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def mail_server(url: str, sender: str) -> MailServer | None:
    """The mail server from the options; None where there is none."""
    if not url:
        if sender:
            raise InputError("smtp-from needs smtp, the address of a mail server.", owner="serve")
        return None
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        parts, port = urlsplit(""), None
    if parts.scheme not in ("smtp", "smtps") or not parts.hostname or parts.path.strip("/") or parts.query:
        raise InputError(
            "smtp must be an address such as smtp://user:password@mail.example.org:587, or smtps://.", owner="serve"
        )
    if _address(sender) is None:
        raise InputError.about("serve", "smtp-from", "the address that mails come from", sender[:100])
    is_tls = parts.scheme == "smtps"
    user, password = unquote(parts.username or ""), unquote(parts.password or "")
    return MailServer(parts.hostname, port or (465 if is_tls else 587), is_tls, user, password, sender)


def check_mailto(url: str) -> None:
    """Refuse what is not mailto: and one address."""
    if _address(url.removeprefix(PREFIX)) is None:
        raise InputError("a mail goes to mailto: and one address.", owner="webhook", parameter="url")
