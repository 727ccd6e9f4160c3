"""The errors of the service. Each has the HTTP status that it is answered with."""

from __future__ import annotations

from ..errors import AskwhenError


class ServiceError(AskwhenError):
    """A refusal of the service."""

    status = 400


class NotFoundError(ServiceError):
    """There is no such stream, question or token."""

    status = 404


class ConflictError(ServiceError):
    """The request conflicts with the present state: the slot is taken, the stream is paused."""

    status = 409


class NotSignedInError(ServiceError):
    """No token was sent, or an unknown one."""

    status = 401


class NotAllowedError(ServiceError):
    """The token lacks the role, or has it for other streams only."""

    status = 403


class NoRolesError(NotAllowedError):
    """A proxy has signed in a user who has no role here."""


class TooLargeError(ServiceError):
    """A body, a line or a batch is larger than the service takes."""

    status = 413


class SlowError(ServiceError):
    """The client did not send in time."""

    status = 408


class TooManyError(ServiceError):
    """Requests come faster than the service takes them."""

    status = 429


class StoppingError(ServiceError):
    """The service is stopping; the request was not carried out."""

    status = 503


class SetAsideError(ServiceError):
    """The model of a stream failed; the stream can be used again once the service is restarted."""

    status = 503


class StoreError(ServiceError):
    """The database cannot be used: wrong version, unsafe settings, another owner, a disk error."""

    status = 503


class ServedError(StoreError):
    """Another process serves the database."""


class UnreachableError(ServiceError):
    """The service does not answer, is stopping or busy; the request may or may not have been carried out."""

    status = 503
