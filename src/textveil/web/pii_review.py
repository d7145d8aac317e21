"""The router of the review page: documents of a store, one reviewer, JSON in and out.

Errors are one sentence and never hold text of a document. A save that comes too late (another page was quicker) is status
409, and the page shows the document as it is now.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from textveil.core.errors import BadInput
from textveil.pii.review.agreement import agreement_of
from textveil.pii.review.marks import Mark
from textveil.pii.review.queue import queue
from textveil.pii.review.store import ReviewStore, StaleDocument
from textveil.web.app import STATIC

MOST_BYTES = 4 * 2**20  # of one request

Answer = Callable[[Request], Awaitable[Any]]


def review_routes(store: ReviewStore, reviewer: str) -> list[Route]:
    """All routes of the review of one store by one person."""
    page = ReviewPage(store, reviewer)
    return [
        Route("/", _to_the_page),
        Route("/review", _page),
        Route("/review/api/overview", _answering(page.overview)),
        Route("/review/api/documents/{number:int}", _answering(page.document)),
        Route("/review/api/documents/{number:int}", _answering(page.save), methods=["POST"]),
        Route("/review/api/undo", _answering(page.undo), methods=["POST"]),
    ]


async def _to_the_page(request: Request) -> Response:
    return RedirectResponse("/review", 303)


async def _page(request: Request) -> Response:
    return FileResponse(STATIC / "review.html")


def _answering(answer: Answer) -> Callable[[Request], Awaitable[Response]]:
    """An endpoint that turns errors into sentences."""

    async def endpoint(request: Request) -> Response:
        try:
            return JSONResponse(await answer(request))
        except StaleDocument as error:
            return JSONResponse({"error": str(error)}, 409)
        except BadInput as error:
            return JSONResponse({"error": str(error)}, 400)

    return endpoint


class ReviewPage:
    """Answers the questions of the page."""

    def __init__(self, store: ReviewStore, reviewer: str):
        self.store, self.reviewer = store, reviewer

    async def overview(self, request: Request) -> dict[str, Any]:
        return await run_in_threadpool(self._overview)

    def _overview(self) -> dict[str, Any]:
        others = [name for name in self.store.reviewers() if name != self.reviewer]
        agreements = {name: agreement_of(self.store, self.reviewer, name) for name in others}
        return {
            "reviewer": self.reviewer,
            "source": self.store.source,
            "labels": list(self.store.labels),
            "progress": self.store.progress(self.reviewer),
            "queue": queue(self.store, self.reviewer),
            "agreement": {name: vars(found) for name, found in agreements.items() if found.documents},
        }

    async def document(self, request: Request) -> dict[str, Any]:
        return await run_in_threadpool(self._document, request.path_params["number"])

    def _document(self, number: int) -> dict[str, Any]:
        state = self.store.state(self.reviewer, number)
        return {
            "number": number,
            "id": state.document.id,
            "text": state.document.text,
            "record": state.document.record,
            "marks": [mark.to_json() for mark in state.marks],
            "version": state.version,
            "done": state.done,
        }

    async def save(self, request: Request) -> dict[str, Any]:
        body = await _json_of(request)
        return await run_in_threadpool(self._save, request.path_params["number"], body)

    def _save(self, number: int, body: dict[str, Any]) -> dict[str, Any]:
        length = len(self.store.document(number).text)
        try:
            version, done, seconds = int(body["version"]), bool(body["done"]), float(body.get("seconds", 0))
            rows = list(body["marks"])
        except (KeyError, TypeError, ValueError):
            raise BadInput("a step has version, marks and done") from None
        marks = [Mark.from_json(row, length) for row in rows]
        saved = self.store.save(self.reviewer, number, version, marks, done=done, seconds=seconds)
        return {"version": saved, "progress": self.store.progress(self.reviewer)}

    async def undo(self, request: Request) -> dict[str, Any]:
        return {"number": await run_in_threadpool(self.store.undo, self.reviewer)}


async def _json_of(request: Request) -> dict[str, Any]:
    """The body as an object. Another site can send no JSON here without being asked for permission first."""
    if request.headers.get("content-type", "").partition(";")[0] != "application/json":
        raise BadInput("a step is sent as application/json")
    raw = b""
    async for piece in request.stream():
        raw += piece
        if len(raw) > MOST_BYTES:
            raise BadInput("a step is too long")
    try:
        body = json.loads(raw)
    except ValueError:
        raise BadInput("a step is no JSON") from None
    if not isinstance(body, dict):
        raise BadInput("a step is an object")
    return body


__all__ = ["review_routes"]
