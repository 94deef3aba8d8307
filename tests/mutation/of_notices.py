"""Notices, and how they reach their receivers, broken one piece at a time."""

from typing import Final

from mutation.breaks import CRASH, MEMORY_CONTRACT, NOTICES, RULES, TABLE_CONTRACT, Break

_DOMAIN: Final = "layers/nightshift/nightshift/domain"
_TABLE: Final = "layers/nightshift/nightshift/adapters/dynamodb"
_SENT: Final = "layers/nightshift/nightshift/adapters/notices"
_MEMORY: Final = "layers/toolkit/nightshift_toolkit/memory"


def _rule(file: str, name: str, before: str, after: str) -> Break:
    return Break(f"rule: {name}", f"{_DOMAIN}/{file}.py", before, after, (RULES,))


def _at(file: str, name: str, before: str, after: str, *, count: int = 1) -> Break:
    path = f"{_TABLE}/{file}.py"
    return Break(f"table: {name}", path, before, after, (TABLE_CONTRACT, CRASH), count)


def _memory(file: str, name: str, before: str, after: str) -> Break:
    return Break(f"memory: {name}", f"{_MEMORY}/{file}.py", before, after, (MEMORY_CONTRACT,))


def _sent(file: str, name: str, before: str, after: str) -> Break:
    return Break(f"notices: {name}", f"{_SENT}/{file}.py", before, after, (NOTICES,))


BREAKS: Final = (
    _rule(
        "model/webhook",
        "a webhook leads to the metadata of a cloud",
        '        "169.254.0.0/16",  # link-local, where clouds keep their metadata\n',
        "",
    ),
    _rule(
        "model/webhook",
        "an address that hides another is public",
        '        "2002::/16",  # 6to4, which hides an address of IPv4\n',
        "",
    ),
    _rule("model/webhook", "a webhook carries credentials", '"@" in parts.netloc or ', ""),
    _rule(
        "model/notice",
        "a failure after a failure is a change",
        "return failures_before == 0",
        "return True",
    ),
    _rule(
        "model/notice",
        "a notice is given up untried",
        "self.tries > 0 and now",
        "now",
    ),
    _rule(
        "services/announcing",
        "a notice is sent without being claimed",
        "        if held is None:\n            return\n",
        "        held = held or outgoing\n",
    ),
    _rule(
        "services/announcing",
        "who has a notice gets it again",
        " and receiver.name not in held.done",
        "",
    ),
    _rule(
        "services/announcing",
        "a notice that one receiver has is forgotten",
        "len(done) == len(waiting)",
        "done",
    ),
    _at(
        "outbox",
        "two senders have one notice",
        "Delete(_key(seen), conditions.EXISTS),",
        "Delete(_key(seen)),",
    ),
    _at(
        "outbox",
        "who holds a notice no more writes who has it",
        "Update(_key(held), [done], conditions.EXISTS)",
        "Update(_key(held), [done], conditions.ABSENT | conditions.EXISTS)",
    ),
    _at(
        "outbox",
        "a notice that is gone is settled again",
        "Delete(_key(held), conditions.EXISTS)",
        "Delete(_key(held))",
    ),
    _at(
        "completion",
        "an end that was recorded is announced again",
        "    if parts.run and not parts.task_gone:\n",
        "    if not parts.task_gone:\n",
    ),
    _at(
        "completion",
        "a task that is gone announces its last run",
        "    if parts.run and not parts.task_gone:\n",
        "    if parts.run:\n",
    ),
    _at(
        "completion",
        "a pause is announced that does not happen",
        "if pauses or not _tells_a_pause(one)",
        "",
    ),
    _memory(
        "outbox",
        "two senders have one notice",
        "row is not None and row.due_at == seen.due_at",
        "row is not None",
    ),
    _sent(
        "webhook",
        "one public address is enough",
        "not all(may_connect",
        "not any(may_connect",
    ),
    _sent(
        "webhook",
        "a redirect that changes the request is followed",
        "frozenset({307, 308})",
        "frozenset({302, 307, 308})",
    ),
    _sent(
        "webhook",
        "the name is asked again for the connection",
        "socket.create_connection((address, port), timeout=share)",
        "socket.create_connection((self.resolve('hooks.example', port)[0], port), timeout=share)",
    ),
    _sent(
        "webhook",
        "the certificate is anybody's",
        "server_hostname=webhook.host",
        'server_hostname="hooks.example"',
    ),
    _sent(
        "answer",
        "a slow answer is waited for",
        "        connection.settimeout(seconds_left())\n",
        "        connection.settimeout(5)\n",
    ),
)
