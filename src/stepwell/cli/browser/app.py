"""The application: which database it looks into, and how one gets from a screen to the next."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from threading import get_ident
from typing import Any, ClassVar, TypeVar

from textual.app import App

from stepwell.checkpoint.sqlite import SqliteSaver
from stepwell.cli.browser.list_screen import ThreadList
from stepwell.cli.browser.thread_screen import ThreadView
from stepwell.errors import StepwellError

T = TypeVar("T")


class Browser(App[None]):
    """Threads of one database. carry_on: runs a command line of ours while the browser steps aside."""

    TITLE = "stepwell"
    ENABLE_COMMAND_PALETTE = False
    CSS_PATH: ClassVar = Path(__file__).parent / "browser.tcss"

    def __init__(self, saver: SqliteSaver, carry_on: Callable[[Sequence[str]], Any]) -> None:
        super().__init__()
        self._saver, self._carry_on = saver, carry_on
        self._drawing = get_ident()

    def on_mount(self) -> None:
        """Begins with the list."""
        self._drawing = get_ident()
        self.push_screen(ThreadList())

    def open_thread(self, thread_id: str) -> None:
        """Goes to a thread."""
        self.push_screen(ThreadView(thread_id))

    def read(self, ask: Callable[[SqliteSaver], T]) -> T | None:
        """What `ask` finds; an error of ours is shown, and the answer is None."""
        try:
            return ask(self._saver)
        except StepwellError as error:
            self._tell(str(error))
            return None

    def _tell(self, message: str) -> None:
        if get_ident() == self._drawing:
            self.notify(message, severity="error", markup=False)
        else:
            self.call_from_thread(self.notify, message, severity="error", markup=False)

    def step_aside(self, command: Sequence[str]) -> None:
        """Runs a command of ours on the whole terminal, and comes back when it is over."""
        with self.suspend():
            self._carry_on(command)
            input("\nEnter goes back to the browser. ")
        self.refresh()
