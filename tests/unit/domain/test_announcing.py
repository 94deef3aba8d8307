"""Delivering notices: at least once each, in their time, whatever one receiver does."""

from datetime import timedelta
from typing import Any

import pytest

import builders
from builders import HOUR, MINUTE, NOW, SECOND
from listeners import Listener, refusing
from nightshift.domain.errors import PersistenceUncertain, StorageUnavailable
from nightshift.domain.exchanged import Completion, Event
from nightshift.domain.model.notice import GIVEN_UP_AFTER, Outgoing
from nightshift.domain.services.announcing import Announcing
from nightshift_toolkit.memory import MemoryStore


class Office:
    """An outbox with notices in it, and whoever delivers them."""

    def __init__(self, *listeners: Listener, workers: int = 1) -> None:
        self.now = NOW
        self.events: list[Event] = []
        self.store = MemoryStore()
        self.announcing = Announcing(
            outbox=self.store.outbox,
            receivers=listeners,
            observe=self.events.append,
            workers=workers,
        )

    def put(self, number: int = 1, *, after: timedelta = timedelta(0), **fields: Any) -> str:
        """Let a run end and be announced; the notice's id."""
        task = builders.task(number=number)
        self.store.tasks.create(task, builders.payload(task), max_tasks=1000)
        admission = builders.admission(task, seat=number)
        self.store.runs.admit(admission)
        run_id = admission.run.id
        outgoing = builders.outgoing(run_id, occurred_at=NOW + after, **fields)
        self.store.runs.complete(
            Completion(
                outcome=builders.success(run_id),
                keys=admission.slot.keys,
                payload_revision=1,
                verdict=builders.ended_well(),
                notices=(outgoing,),
            )
        )
        return outgoing.notice.id

    def deliver(self, *, later: timedelta = timedelta(0)) -> int:
        """Let whoever delivers do so, some time later."""
        self.now += later
        return self.announcing.deliver_all(lambda: self.now, lambda: True)

    @property
    def waiting(self) -> list[Outgoing]:
        """What is on its way."""
        return self.store.notices()

    def told(self) -> list[str]:
        """The words, in order."""
        return [event.action for event in self.events]


def test_a_notice_is_sent_to_everybody_it_is_meant_for_and_forgotten() -> None:
    """Once each."""
    hook, bus = Listener(), Listener("bus")
    deaf = Listener("deaf", wants=lambda _: False)
    office = Office(bus, hook, deaf)
    sent = office.put()
    assert office.deliver() == 1
    assert (hook.took, bus.took, deaf.asked) == ({sent: 1}, {sent: 1}, {})
    assert office.waiting == []
    assert office.told() == ["notice_delivered", "notice_delivered"]
    assert office.deliver(later=HOUR) == 0


def test_a_notice_that_nobody_takes_is_tried_again_after_ever_longer_waits() -> None:
    """60 s, then twice as long, up to an hour."""
    hook = Listener(behave=refusing())
    office = Office(hook)
    sent = office.put()
    tries = []
    for minute in range(181):
        office.now = NOW + minute * MINUTE
        if office.deliver():
            tries.append(minute)
    assert tries == [0, 1, 3, 7, 15, 31, 63, 123]
    assert hook.asked == {sent: len(tries)}
    assert office.told() == ["notice_put_off"] * len(tries)
    hook.behave = lambda _: None
    office.deliver(later=2 * HOUR)
    assert hook.took == {sent: 1}
    assert office.waiting == []


def test_who_has_a_notice_does_not_get_it_again_for_anothers_sake() -> None:
    """It is remembered who has it."""
    hook, bus = Listener(behave=refusing()), Listener("bus")
    office = Office(hook, bus)
    sent = office.put()
    office.deliver()
    office.deliver(later=MINUTE)
    assert (hook.asked, bus.asked) == ({sent: 2}, {sent: 1})
    hook.behave = lambda _: None
    office.deliver(later=HOUR)
    assert (hook.took, bus.took) == ({sent: 1}, {sent: 1})
    assert office.waiting == []


def test_a_receiver_that_never_wants_it_is_not_asked_again() -> None:
    """410, say."""
    hook = Listener(behave=refusing(permanent=True))
    office = Office(hook)
    sent = office.put()
    office.deliver()
    assert office.waiting == []
    assert office.told() == ["notice_refused"]
    office.deliver(later=HOUR)
    assert hook.asked == {sent: 1}


def test_a_fault_of_one_receiver_stops_neither_another_nor_the_next_notice() -> None:
    """Whatever it raises."""

    def broken(_: Outgoing) -> None:
        raise RuntimeError("a fault of ours")

    hook, bus = Listener(behave=broken), Listener("bus")
    office = Office(hook, bus)
    ids = [office.put(1), office.put(2)]
    assert office.deliver() == 2
    assert bus.took == dict.fromkeys(ids, 1)
    assert office.told().count("notice_failed") == 2
    assert all(isinstance(one.error, RuntimeError) for one in office.events if one.error)
    assert [one.done for one in office.waiting] == [{"bus"}, {"bus"}]


def test_a_notice_is_given_up_after_a_day_and_that_is_told() -> None:
    """Nobody wants it any more."""
    hook = Listener(behave=refusing())
    office = Office(hook)
    sent = office.put()
    office.deliver()
    office.deliver(later=GIVEN_UP_AFTER)
    assert office.told() == ["notice_put_off", "notice_given_up"]
    assert office.events[-1].facts["notice_id"] == sent
    assert (hook.asked, office.waiting) == ({sent: 1}, [])


def test_a_notice_that_was_never_tried_is_not_given_up() -> None:
    """After a downtime of ours of days."""
    hook = Listener()
    office = Office(hook)
    sent = office.put()
    office.deliver(later=3 * GIVEN_UP_AFTER)
    assert hook.took == {sent: 1}


@pytest.mark.parametrize("operation", ["outbox.settle", "outbox.note_done"])
def test_a_death_after_the_sending_sends_again_under_the_same_id(operation: str) -> None:
    """At least once; the receiver drops the double."""
    hook, bus = Listener(), Listener("bus")
    if operation == "outbox.note_done":
        hook.behave = refusing()
    office = Office(hook, bus)
    sent = office.put()
    office.store.before(operation, _die)
    with pytest.raises(KeyboardInterrupt):
        office.deliver()
    assert office.deliver(later=59 * SECOND) == 0
    hook.behave = lambda _: None
    assert office.deliver(later=SECOND) == 1
    assert bus.took == {sent: 2}
    assert set(hook.took) == {sent}
    assert office.waiting == []


def test_a_death_between_the_claim_and_the_sending_only_puts_it_off() -> None:
    """The claim is over in a minute."""
    hook = Listener()
    office = Office(hook)
    sent = office.put()
    office.store.after("outbox.claim", _die)
    with pytest.raises(KeyboardInterrupt):
        office.deliver()
    assert (hook.asked, len(office.waiting)) == ({}, 1)
    office.deliver(later=MINUTE)
    assert hook.took == {sent: 1}


def _die() -> None:
    raise KeyboardInterrupt


def test_two_who_deliver_at_once_send_once() -> None:
    """The claim decides."""
    hook = Listener()
    office = Office(hook)
    sent = office.put()
    office.store.before("outbox.claim", lambda: office.announcing.deliver(NOW))
    office.deliver()
    assert hook.took == {sent: 1}
    assert office.waiting == []


def test_a_claim_that_may_have_happened_is_tried_again_in_its_time() -> None:
    """An answer that is lost is no permission to send."""
    hook = Listener()
    office = Office(hook)
    sent = office.put()

    def lost() -> None:
        raise PersistenceUncertain

    office.store.after("outbox.claim", lost)
    office.deliver()
    assert hook.asked == {}
    assert office.told() == ["notice_failed"]
    office.deliver(later=MINUTE)
    assert hook.took == {sent: 1}


def test_an_outbox_that_does_not_answer_is_an_error_of_the_function() -> None:
    """It is counted and alarmed on."""
    office = Office(Listener())
    office.store.unplug()
    with pytest.raises(StorageUnavailable):
        office.deliver()


def test_a_notice_that_cannot_be_read_holds_up_nobody() -> None:
    """However many there are."""
    hook = Listener()
    office = Office(hook)
    office.store.corrupt_notice(office.put(1))
    sound = office.put(2, after=SECOND)
    office.deliver(later=SECOND)
    assert hook.took == {sound: 1}
    assert office.events[0].action == "corrupt_rows"


def test_batches_follow_each_other_while_there_is_time() -> None:
    """And none begins when there is not."""
    hook = Listener()
    office = Office(hook, workers=2)
    for number in range(1, 6):
        office.put(number)
    answers = iter([True, False])
    assert office.announcing.deliver_all(lambda: NOW, lambda: next(answers)) == 2
    assert office.announcing.deliver_all(lambda: NOW, lambda: True) == 3
    assert len(hook.took) == 5
