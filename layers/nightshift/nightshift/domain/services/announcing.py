"""Takes notices from the outbox to whoever is to hear of them, at least once each.

A notice is claimed before it is sent, so that two who are at it at once send it once; who dies
after the claim has put it off. Nothing here is on the way of any run.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime

from nightshift.domain.exchanged import Event, Observe
from nightshift.domain.model.notice import Outgoing
from nightshift.domain.outbox import NotDelivered, Outbox, Receiver


@dataclass(frozen=True, slots=True, kw_only=True)
class Announcing:
    """Delivers what is due; one receiver's trouble holds up no other.

    `workers` notices are sent at the same time. All of a batch are, so that none of them waits
    longer than its claim lasts.
    """

    outbox: Outbox
    receivers: Sequence[Receiver]
    observe: Observe
    workers: int = 1

    def deliver_all(self, clock: Callable[[], datetime], has_time: Callable[[], bool]) -> int:
        """Try every notice that is due, batch by batch; how many were tried.

        Args:
            clock: the present (UTC), asked before each batch.
            has_time: whether another batch may begin.
        """
        tried = 0
        while has_time():
            batch = self.deliver(clock())
            tried += batch
            if batch < self.workers:
                break
        return tried

    def deliver(self, now: datetime) -> int:
        """Try one batch of those due the longest; how many were tried.

        Raises:
            StorageUnavailable: the outbox cannot be read.
        """
        page = self.outbox.due(now, limit=self.workers)
        if page.corrupt:
            self.observe(Event("corrupt_rows", {"rows": len(page.corrupt)}))
        with ThreadPoolExecutor(self.workers) as pool:
            list(pool.map(lambda outgoing: self._try(outgoing, now), page.items))
        return len(page.items)

    def _try(self, outgoing: Outgoing, now: datetime) -> None:
        try:
            self._deliver(outgoing, now)
        except Exception as failure:  # noqa: BLE001 - it is due again when its claim is over
            self._tell("notice_failed", outgoing, error=failure)

    def _deliver(self, outgoing: Outgoing, now: datetime) -> None:
        if outgoing.is_hopeless(now):
            if self.outbox.settle(outgoing):
                self._tell("notice_given_up", outgoing)
            return
        held = self.outbox.claim(outgoing, outgoing.next_try_after(now))
        if held is None:
            return
        waiting = [
            receiver
            for receiver in self.receivers
            if receiver.gets(held) and receiver.name not in held.done
        ]
        done = {receiver.name for receiver in waiting if self._is_done(receiver, held, now)}
        if len(done) == len(waiting):
            self.outbox.settle(held)
        elif done:
            self.outbox.note_done(held, done)

    def _is_done(self, receiver: Receiver, held: Outgoing, now: datetime) -> bool:
        """Hand a notice to one receiver; whether it need not be handed over again."""
        try:
            receiver.send(held, now)
        except NotDelivered as refusal:
            reason = str(refusal)
            if refusal.permanent:
                self._tell("notice_refused", held, receiver=receiver.name, reason=reason)
            else:
                self._tell("notice_put_off", held, receiver=receiver.name, reason=reason)
            return refusal.permanent
        except Exception as failure:  # noqa: BLE001 - it stops no other receiver
            self._tell("notice_failed", held, error=failure, receiver=receiver.name)
            return False
        self._tell("notice_delivered", held, receiver=receiver.name)
        return True

    def _tell(
        self, action: str, outgoing: Outgoing, error: Exception | None = None, **facts: object
    ) -> None:
        notice = outgoing.notice
        named = {"notice_id": notice.id, "task_id": notice.task_id, "tries": outgoing.tries}
        self.observe(Event(action, named | facts, error))
