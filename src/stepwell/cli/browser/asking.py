"""Small windows over the browser: one that asks for a line of text, one that shows the keys."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, Label, Static

from stepwell.cli.browser.texts import help_text


class Question(ModalScreen[str | None]):
    """Asks for one line; answers it, or None when it was left with Escape."""

    BINDINGS: ClassVar = [("escape", "leave", "Back")]

    def __init__(self, question: str, suggestion: str = "") -> None:
        super().__init__()
        self._question, self._suggestion = question, suggestion

    def compose(self) -> ComposeResult:
        """The question above a line to type in."""
        with Vertical(classes="window"):
            yield Label(self._question, markup=False)
            yield Input(self._suggestion)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Enter gives the answer."""
        self.dismiss(event.value.strip() or None)

    def action_leave(self) -> None:
        """Escape gives none."""
        self.dismiss(None)


class Help(ModalScreen[None]):
    """The keys and what they do; any of the usual keys closes it."""

    BINDINGS: ClassVar = [("escape,question_mark,q,enter", "leave", "Back")]

    def compose(self) -> ComposeResult:
        """The table of keys."""
        with Vertical(classes="window"):
            yield Static(help_text())

    def action_leave(self) -> None:
        """Closes the help."""
        self.dismiss(None)
