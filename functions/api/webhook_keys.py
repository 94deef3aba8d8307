"""A user's own key, with which receivers tell that a notice comes from here."""

from http import HTTPStatus

from api.answer import Answer
from api.request import Request
from api.wire import Wire
from nightshift.composition.api import ApiServices


class WebhookKeyResponse(Wire):
    """The key of the caller: notices to webhooks of theirs are signed with its text."""

    key: str


def get_webhook_key(services: ApiServices, request: Request) -> Answer:
    """The caller's key, always the same; nobody else's can be had."""
    key = services.webhook_keys.key_of(request.user_id)
    return Answer(HTTPStatus.OK, WebhookKeyResponse(key=key), {"Cache-Control": "no-store"})
