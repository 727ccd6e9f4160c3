"""The errors of the service under their documented path; clients raise the same ones.

They are defined in :mod:`askwhen.client.errors`, because a client must not import the service.
"""

from ..client.errors import (
    ConflictError,
    NoRolesError,
    NotAllowedError,
    NotFoundError,
    NotSignedInError,
    ServedError,
    ServiceError,
    SetAsideError,
    SlowError,
    StoppingError,
    StoreError,
    TooLargeError,
    TooManyError,
    UnreachableError,
)

__all__ = [
    "ConflictError",
    "NoRolesError",
    "NotAllowedError",
    "NotFoundError",
    "NotSignedInError",
    "ServedError",
    "ServiceError",
    "SetAsideError",
    "SlowError",
    "StoppingError",
    "StoreError",
    "TooLargeError",
    "TooManyError",
    "UnreachableError",
]
