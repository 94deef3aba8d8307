"""Invariants of the notices that are on their way."""

from nightshift_toolkit.audit.finding import Broken, always
from nightshift_toolkit.audit.snapshot import Snapshot


@always
def notices_tell_what_happened(snapshot: Snapshot) -> Broken:
    """A notice tells of a run that ended so, whose record may be gone by age or with its task."""
    for outgoing in snapshot.outbox:
        notice = outgoing.notice
        run = snapshot.run_of.get(notice.run_id)
        if run is not None and run.status.value != notice.outcome:
            yield notice.id, f"it says {notice.outcome}, the run is {run.status}"
        elif run is None and notice.task_id in snapshot.task_of:
            later = snapshot.history_of.get(notice.task_id, ())
            if not any(kept.id > notice.run_id for kept in later):
                yield notice.id, "there is no such run"


@always
def notices_are_there_once(snapshot: Snapshot) -> Broken:
    """Each notice is there once, and one that was tried has been put off."""
    ids = [outgoing.notice.id for outgoing in snapshot.outbox]
    for notice_id in {one for one in ids if ids.count(one) > 1}:
        yield notice_id, f"it is there {ids.count(notice_id)} times"
    for outgoing in snapshot.outbox:
        if outgoing.tries and outgoing.due_at <= outgoing.notice.occurred_at:
            yield outgoing.notice.id, f"it was tried {outgoing.tries} times and was never put off"


ABOUT_NOTICES = (notices_tell_what_happened, notices_are_there_once)
