"""`TaskStore.create`, `TaskStore.recall`, `RunStore.admit`: a key goes with what it makes."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta

import pytest

import builders
from builders import ALICE, BOB, NOW, SECOND, ref
from contract.backends import Stores
from contract.steps import created, read
from nightshift.domain.errors import PersistenceUncertain, QuotaExceeded, ThreadNotFound
from nightshift.domain.exchanged import Admission, AdmissionAnswer
from nightshift.domain.model.enums import Trigger
from nightshift.domain.model.idempotency import KEY_LIFETIME, UsedKey
from nightshift.domain.model.task import Task


def used(made: str, **parts: object) -> UsedKey:
    """A use of Alice's key `morning`."""
    key = UsedKey(ALICE, "morning", "digest-a", made, NOW)
    return replace(key, **parts)  # type: ignore[arg-type]


def create(stores: Stores, task: Task, key: UsedKey, *, max_tasks: int = 10) -> UsedKey | None:
    """What creating the task under the key comes to."""
    return stores.tasks.create(task, builders.payload(task), max_tasks=max_tasks, key=key)


def triggered(task: Task) -> Admission:
    """A trigger's admission that takes the key for its run."""
    wanted = builders.admission(task, trigger=Trigger.MANUAL, now=NOW)
    return replace(wanted, key=used(wanted.run.id))


# -- create --


def test_create_takes_the_key_with_the_task(stores: Stores) -> None:
    """TaskStore.create, recall: what was made is found under the key from then on."""
    task = builders.task()
    key = used(task.id)
    assert create(stores, task, key) is None
    assert stores.tasks.recall(ALICE, "morning", NOW) == key


def test_create_under_a_used_key_writes_nothing_and_says_what_it_made(stores: Stores) -> None:
    """TaskStore.create: also when the request is another one."""
    first, second = (builders.task(number=number) for number in (1, 2))
    create(stores, first, used(first.id))
    assert create(stores, second, used(second.id, digest="digest-b")) == used(first.id)
    assert stores.tasks.get(ref(second)) is None
    assert stores.tasks.payload(ref(second), 1) is None
    assert not stores.tasks.changes(second.id, limit=9).items


def test_a_used_key_is_told_before_every_other_refusal(stores: Stores) -> None:
    """TaskStore.create: a repetition is no matter of quota or threads."""
    first, second = (builders.task(number=number) for number in (1, 2))
    create(stores, first, used(first.id), max_tasks=1)
    threaded = builders.task(number=2, thread_id="gone")
    assert create(stores, second, used(second.id), max_tasks=1) == used(first.id)
    assert create(stores, threaded, used(second.id)) == used(first.id)


def test_a_refused_create_leaves_its_key_free(stores: Stores) -> None:
    """TaskStore.create: all or nothing."""
    task, threaded = builders.task(), builders.task(number=2, thread_id="gone")
    with pytest.raises(QuotaExceeded):
        create(stores, task, used(task.id), max_tasks=0)
    with pytest.raises(ThreadNotFound):
        create(stores, threaded, used(threaded.id))
    assert stores.tasks.recall(ALICE, "morning", NOW) is None
    assert create(stores, task, used(task.id)) is None


def test_a_key_belongs_to_its_user(stores: Stores) -> None:
    """TaskStore.create, P8."""
    task, other = builders.task(number=1), builders.task(number=2, user_id=BOB)
    create(stores, task, used(task.id))
    assert stores.tasks.recall(BOB, "morning", NOW) is None
    assert create(stores, other, used(other.id, user_id=BOB)) is None


def test_a_key_is_free_again_a_day_later_though_its_row_is_still_there(stores: Stores) -> None:
    """SPEC section 4: expiry is compared, TTL only cleans."""
    first, early, late = (builders.task(number=number) for number in (1, 2, 3))
    create(stores, first, used(first.id))
    almost, over = NOW + KEY_LIFETIME - SECOND, NOW + KEY_LIFETIME
    assert stores.tasks.recall(ALICE, "morning", almost) == used(first.id)
    assert create(stores, early, used(early.id, used_at=almost)) == used(first.id)
    assert stores.tasks.recall(ALICE, "morning", over) is None
    assert create(stores, late, used(late.id, used_at=over)) is None
    assert stores.tasks.recall(ALICE, "morning", over) == used(late.id, used_at=over)


def test_of_concurrent_twins_one_makes_the_task_and_all_others_name_it(stores: Stores) -> None:
    """SPEC section 7: the key decides, in the transaction that makes the task."""
    twins = [builders.task(number=number) for number in range(1, 9)]
    with ThreadPoolExecutor(len(twins)) as pool:
        answers = list(pool.map(lambda twin: create(stores, twin, used(twin.id)), twins))
    (made,) = stores.tasks.list(ALICE, limit=99).items
    assert answers.count(None) == 1
    assert [answer for answer in answers if answer] == [used(made.id)] * (len(twins) - 1)


def test_a_create_without_an_answer_is_settled_by_its_key(stores: Stores) -> None:
    """SPEC section 7, persistence_uncertain: repeat with the same Idempotency-Key."""
    first, again = (builders.task(number=number) for number in (1, 2))
    with stores.losing_answers(), pytest.raises(PersistenceUncertain):
        create(stores, first, used(first.id))
    assert create(stores, again, used(again.id)) == used(first.id)


# -- admit --


def test_admit_takes_the_key_with_the_run(stores: Stores) -> None:
    """RunStore.admit."""
    admission = triggered(created(stores))
    assert stores.runs.admit(admission).answer is AdmissionAnswer.ADMITTED
    assert stores.tasks.recall(ALICE, "morning", NOW) == admission.key


def test_admit_under_a_used_key_writes_nothing_and_says_what_it_made(stores: Stores) -> None:
    """AdmissionAnswer.REPEATED: before the slot that the first run holds (K4)."""
    task = created(stores)
    first = triggered(task)
    stores.runs.admit(first)
    later = NOW + timedelta(minutes=1)
    second = replace(
        builders.admission(read(stores, task), trigger=Trigger.MANUAL, seat=1, now=later),
        key=used("another run", used_at=later),
    )
    result = stores.runs.admit(second)
    assert (result.answer, result.used) == (AdmissionAnswer.REPEATED, first.key)
    assert set(stores.held_keys().values()) == {first.run.id}
    assert stores.runs.get(task.id, second.run.id) is None


def test_a_refused_admission_leaves_its_key_free(stores: Stores) -> None:
    """RunStore.admit: all keys or none (K3)."""
    task, other = (created(stores, builders.task(number=number)) for number in (1, 2))
    stores.runs.admit(builders.admission(other, seat=0))
    assert stores.runs.admit(triggered(task)).answer is AdmissionAnswer.SEAT_TAKEN
    assert stores.tasks.recall(ALICE, "morning", NOW) is None


def test_an_admission_without_an_answer_finds_its_own_key(stores: Stores) -> None:
    """B48: the same bytes again are admitted, not repeated."""
    admission = triggered(created(stores))
    with stores.losing_answers(), pytest.raises(PersistenceUncertain):
        stores.runs.admit(admission)
    assert stores.runs.admit(admission).answer is AdmissionAnswer.ADMITTED
