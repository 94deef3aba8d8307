"""What people do with threads: each is theirs or does not exist (P8)."""

from dataclasses import dataclass
from datetime import datetime

from nightshift.domain.commands import RegisterThread
from nightshift.domain.errors import ThreadNotFound
from nightshift.domain.exchanged import Thread
from nightshift.domain.ports import ThreadStore


@dataclass(frozen=True, slots=True, kw_only=True)
class Threads:
    """The conversations that runs may share."""

    threads: ThreadStore

    def register_thread(self, command: RegisterThread, now: datetime) -> Thread:
        """Make a thread exist that is this user's; registering it again changes nothing."""
        return self.threads.register(Thread(command.thread_id, command.user_id, now))

    def get_thread(self, user_id: str, thread_id: str) -> Thread:
        """One thread.

        Raises:
            ThreadNotFound: it does not exist or is not this user's.
        """
        thread = self.threads.get(user_id, thread_id)
        if thread is None:
            raise ThreadNotFound
        return thread
