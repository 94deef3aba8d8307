"""Receivers of notices that answer as a test tells them."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from nightshift.domain.model.notice import Outgoing
from nightshift.domain.outbox import NotDelivered


@dataclass
class Listener:
    """A receiver that answers as told and keeps what it took, by id."""

    name: str = "webhook"
    behave: Callable[[Outgoing], object] = lambda _: None
    wants: Callable[[Outgoing], bool] = lambda _: True
    asked: Counter[str] = field(default_factory=Counter)
    took: Counter[str] = field(default_factory=Counter)

    def gets(self, outgoing: Outgoing) -> bool:
        """What the test says."""
        return self.wants(outgoing)

    def send(self, outgoing: Outgoing, _at: datetime) -> None:
        """Answer as told."""
        self.asked[outgoing.notice.id] += 1
        self.behave(outgoing)
        self.took[outgoing.notice.id] += 1


def refusing(*, permanent: bool = False) -> Callable[[Outgoing], object]:
    """Take nothing."""

    def behave(_: Outgoing) -> None:
        raise NotDelivered("answered 500", permanent=permanent)

    return behave
