"""A real SMTP server (aiosmtpd) in a thread of its own, with STARTTLS and a password, or without."""

import datetime
import ipaddress
import ssl

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from tests.service.serving import free_port


def certificate(folder):
    """A certificate for 127.0.0.1 that signs itself, and a context with it."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "mail")])
    now = datetime.datetime.now(datetime.UTC)
    names = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(names, critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    plain = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    (folder / "mail.pem").write_bytes(made.public_bytes(serialization.Encoding.PEM))
    (folder / "mail.key").write_bytes(key.private_bytes(*plain))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "mail.pem", folder / "mail.key")
    return str(folder / "mail.pem"), context


class Mailbox:
    """``got`` has the mails that were taken; ``answers`` what is said to the next ones instead."""

    def __init__(self, context=None, password=None):
        self.got, self.answers, self.port = [], [], free_port()
        given = {}
        if context is not None:
            given = {"tls_context": context, "require_starttls": True}
        if password is not None:
            given |= {"auth_required": True, "authenticator": self._authenticate}
        self._password = password
        self._controller = Controller(self, hostname="127.0.0.1", port=self.port, **given)

    def _authenticate(self, server, session, envelope, mechanism, data):
        return AuthResult(success=data.password.decode() == self._password)

    async def handle_DATA(self, server, session, envelope):
        if self.answers:
            return self.answers.pop(0)
        self.got.append((envelope.rcpt_tos, envelope.content.decode(), session.ssl is not None))
        return "250 OK"

    def __enter__(self):
        self._controller.start()
        return self

    def __exit__(self, *_):
        self._controller.stop()
