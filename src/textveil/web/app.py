"""The local app: pages for one person on one machine.

Who may look. The server listens on this machine only. A page is opened by an address with a token that was drawn for this
run; it becomes a cookie that scripts cannot read and other sites do not send, and the address is replaced, so that the
token does not stay in the history. Whoever has no token gets one sentence and status 403. A request whose Host is not this
machine is refused too (a name that somebody else's page points here). Pages load nothing from elsewhere, run no inline
script (Content-Security-Policy), and are not cached. No request is logged: addresses name documents.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.base import BaseHTTPMiddleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Mount
from starlette.staticfiles import StaticFiles

STATIC = Path(__file__).with_name("static")
COOKIE = "textveil"
HOSTS = {"127.0.0.1", "localhost", "[::1]"}
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}

Next = Callable[[Request], Awaitable[Response]]


def new_token() -> str:
    return secrets.token_urlsafe(24)


def local_app(routes: Sequence[BaseRoute], token: str) -> Starlette:
    """An app with these routes, for whoever holds the token."""
    doors = [Middleware(BaseHTTPMiddleware, dispatch=_only_with(token))]
    return Starlette(routes=[*routes, Mount("/static", StaticFiles(directory=STATIC))], middleware=doors)


def _only_with(token: str) -> Callable[[Request, Next], Awaitable[Response]]:
    async def dispatch(request: Request, call_next: Next) -> Response:
        response = _entry(request, token) or await call_next(request)
        response.headers.update(HEADERS)
        return response

    return dispatch


def _entry(request: Request, token: str) -> Response | None:
    """What is said at the door; None: come in."""
    if request.headers.get("host", "").rpartition(":")[0] not in HOSTS:
        return PlainTextResponse("This page is for this machine only.", 403)
    given = request.query_params.get("token")
    if given is not None and request.method == "GET" and _equal(given, token):
        response = RedirectResponse(request.url.path, 303)
        response.set_cookie(COOKIE, token, httponly=True, samesite="strict")
        return response
    if not _equal(request.cookies.get(COOKIE, ""), token):
        return PlainTextResponse("Open the address that the command printed: it holds the token of this run.", 403)
    return None


def _equal(given: str, token: str) -> bool:
    return hmac.compare_digest(given.encode(), token.encode())


__all__ = ["local_app", "new_token"]
