"""What is known of an admission before the table decides: permission, places, and holders."""

from collections.abc import Sequence
from dataclasses import replace

from nightshift.domain.errors import BudgetFull, InvalidRequest
from nightshift.domain.exchanged import AdmissionAnswer
from nightshift.domain.model.enums import ActionKind, Rule
from nightshift.domain.model.policy import Policy
from nightshift.domain.model.seats import Place, Places
from nightshift.domain.model.slot import Slot
from nightshift.domain.model.task import Task
from nightshift.domain.policy_source import PolicySource
from nightshift.domain.services.turns import no_place_for


def forbidden(task: Task, policy: Policy) -> str | None:
    """Why today's policy forbids a task, though an earlier one accepted it (P20); None if not."""
    if task.definition.action_kind is ActionKind.SHELL and not policy.allow_shell_actions:
        return "Shell actions are switched off by the operator."
    return None


def ensure_allowed(task: Task, policy: Policy) -> None:
    """Refuse a task that today's policy forbids (P20).

    Raises:
        InvalidRequest: shell actions are switched off.
    """
    said = forbidden(task, policy)
    if said is not None:
        raise InvalidRequest(said, field="action")


def places_left(slots: Sequence[Slot], policy: Policy) -> Places:
    """The free places of the budget and of each user, by the slots that are held (P14, K5)."""
    return Places(
        [slot.keys.place for slot in slots],
        limit=policy.max_concurrent_runs,
        user_limit=policy.max_concurrent_runs_per_user,
    )


def put_rest_back(answer: AdmissionAnswer, place: Place, places: Places) -> bool:
    """Put back what is free of a place whose other half was taken; False when neither was."""
    if answer is AdmissionAnswer.SEAT_TAKEN:
        places.put_back(replace(place, seat=None))
    elif answer is AdmissionAnswer.USER_SEAT_TAKEN:
        places.put_back(replace(place, user_seat=None))
    else:
        return False
    return True


def budget_full(user_id: str, places: Places, policy: Policy, policies: PolicySource) -> BudgetFull:
    """Why nobody may sit down: the operator, the user's own limit, or the budget of all."""
    match no_place_for(user_id, places, policy):
        case Rule.KILL_SWITCH:
            said = policies.in_force().stop_reason
            stopped = "The operator has stopped all starts for now"
            return BudgetFull(f"{stopped}: {said}" if said else f"{stopped}.")
        case Rule.USER_LIMIT:
            return BudgetFull("As many runs of yours are active as one user may have.")
        case _:
            return BudgetFull()


def as_holder(holder: Slot, run_id: str) -> AdmissionAnswer:
    """What a taken slot means for a run: somebody is at that run, or another run is active."""
    same = holder.run_id == run_id
    return AdmissionAnswer.TAKEN_ELSEWHERE if same else AdmissionAnswer.OVERLAP
