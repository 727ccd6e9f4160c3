"""The errors of the service. Each has the HTTP status that it is answered with."""

from __future__ import annotations

from ..errors import AskwhenError


class ServiceError(AskwhenError):
    """Something the service refuses to do."""

    status = 400


class NotFoundError(ServiceError):
    """There is no such stream, question or token."""

    status = 404


class ConflictError(ServiceError):
    """It cannot be done as things are now: the slot is taken, the stream is paused."""

    status = 409


class NotSignedInError(ServiceError):
    """No token came, or one that nobody knows."""

    status = 401


class NotAllowedError(ServiceError):
    """The token does not have the role, or not for this stream."""

    status = 403


class NoRolesError(NotAllowedError):
    """A proxy has signed somebody in who has no role here."""


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
    """The service is stopping; what was asked was not done."""

    status = 503


class SetAsideError(ServiceError):
    """The model of a stream failed, so that nothing can be done to it until the service is started again."""

    status = 503


class StoreError(ServiceError):
    """The database cannot be used: wrong version, unsafe settings, another owner, an error of the disk."""

    status = 503


class UnreachableError(ServiceError):
    """No service answers, or it is stopping or busy; what was asked may or may not have been done."""

    status = 503
