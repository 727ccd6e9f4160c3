"""Sign-in by an OpenID provider: the way there, and the way back."""

from __future__ import annotations

import html
import logging

from litestar import Response, Router, get
from litestar.datastructures import Cookie
from litestar.response import Redirect

from ....errors import AskwhenError
from ...domain.sign_ins import browser_of
from ...errors import NoRolesError, NotFoundError, NotSignedInError, ServiceError
from ...use_cases import sign_ins
from .. import cookies
from ..authorization import AnyRequest, Authorization, authorization_of
from ..openid import attempt as attempts
from ..openid.options import OpenId
from ..openid.provider import Provider
from ..request_checks import FREE_QUERY
from .assets import HEADERS, all_assets, policy
from .sign_in import end_sign_in

_PAGE = all_assets()["returned.html"].body.decode()
log = logging.getLogger("askwhen.service")


def _provider(request: AnyRequest) -> tuple[Authorization, OpenId, Provider]:
    auth = authorization_of(request)
    provider: Provider | None = request.app.state.provider
    if auth.options.openid is None or provider is None:
        raise NotFoundError("this service has no OpenID provider.", owner="openid")
    return auth, auth.options.openid, provider


def _redirect_address(request: AnyRequest, root: str) -> str:
    """The address to which the provider sends browsers back: the one by which they reach this service."""
    return f"{request.url.scheme}://{request.headers.get('host', '')}{root}{attempts.PATH}/done"


@get("/", include_in_schema=False)
async def begun(request: AnyRequest, next: str = "") -> Response[bytes] | Redirect:
    """Send the browser to the provider."""
    auth, _, provider = _provider(request)
    auth.coordinator.check()
    root = auth.options.root
    attempt = attempts.new_attempt(next, root)
    try:
        address = await provider.address(attempt, _redirect_address(request, root))
    except ServiceError as error:
        return _failed(error, root, attempt.next)
    cookie = attempts.cookie_of(attempt, request.url.scheme == "https", root)
    return Redirect(address, status_code=302, cookies=[cookie], headers={"Cache-Control": "no-store"})


@get("/done", include_in_schema=False, opt={FREE_QUERY: True})
async def returned(request: AnyRequest) -> Response[bytes]:
    """Sign the browser in that comes back from the provider, if that says who it is."""
    auth, openid, provider = _provider(request)
    root, given = auth.options.root, request.query_params
    secure, state = request.url.scheme == "https", str(given.get("state", ""))
    next = f"{root}/"
    gone = attempts.no_cookie(state, secure, root)
    try:
        attempt = attempts.attempt_of(request, state)
        next = attempt.next
        if given.get("error"):
            raise NotSignedInError(f"the identity provider says {given['error'][:100]!r}; try again.", owner="openid")
        if given.get("iss", openid.issuer) != openid.issuer:
            raise NotSignedInError("another identity provider has answered; try again.", owner="openid")
        user = await provider.user(attempt, str(given.get("code", "")), _redirect_address(request, root))
        auth.check_user(user)
        await end_sign_in(request)
        browser = browser_of(request.headers.get("user-agent", ""))
        secret = await sign_ins.by_openid(auth.coordinator, user.name, user.groups, openid.hours, browser)
    except AskwhenError as error:
        log.warning("a sign-in failed", extra={"facts": {"said": error.sentence}})
        return _failed(error, root, next, gone)
    return _page(
        200,
        "Signed in",
        f"Signed in as {user.name}.",
        root,
        next,
        "Go on",
        [cookies.cookie_of(secret, secure, root), gone],
        True,
    )


def _failed(error: AskwhenError, root: str, next: str, *gone: Cookie) -> Response[bytes]:
    status = error.status if isinstance(error, ServiceError) else 500
    text = error.sentence
    if not isinstance(error, NoRolesError):  # that begins with the user's name
        text = text[:1].upper() + text[1:]
    return _page(status, "Not signed in", text, root, f"{root}/", "Back", list(gone), False)


def _page(
    status: int, title: str, text: str, root: str, next: str, go: str, set_cookies: list[Cookie], goes_on: bool
) -> Response[bytes]:
    """A page that goes on by itself: the browser sends the cookie only to what our own page has opened."""
    parts = {"title": title, "text": text, "root": root, "next": next, "go": go}
    made = _PAGE.replace("{{refresh}}", '<meta http-equiv="refresh" content="0;url={{next}}">' if goes_on else "")
    for name, value in parts.items():
        made = made.replace(f"{{{{{name}}}}}", html.escape(value))
    headers = HEADERS | {"Content-Security-Policy": policy(), "Cache-Control": "no-store"}
    return Response(made.encode(), status_code=status, media_type="text/html", headers=headers, cookies=set_cookies)


router = Router(attempts.PATH, route_handlers=[begun, returned])
