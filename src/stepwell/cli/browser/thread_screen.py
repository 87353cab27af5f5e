"""The second screen: the tree of a thread on the left; transcript, state and diff of a checkpoint on the right."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual import work
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal, VerticalScroll
from textual.screen import Screen
from textual.widgets import Footer, OptionList, Static, TabbedContent, TabPane
from textual.widgets.option_list import Option
from textual.worker import get_current_worker

from stepwell.cli.browser.asking import Help, Question
from stepwell.cli.browser.texts import (
    checkpoints_of,
    diff_text,
    log_text,
    next_command,
    state_text,
    transcript_text,
)
from stepwell.cli.graphs import OFFLINE
from stepwell.cli.place import graph_in
from stepwell.cli.text import name
from stepwell.threads import (
    LogLine,
    ThreadLog,
    diff_checkpoints,
    fork_thread,
    read_log,
    short_id,
    show_checkpoint,
    tag_checkpoint,
)

if TYPE_CHECKING:
    from stepwell.cli.browser.app import Browser

PANES = ("transcript", "state", "diff")
PAGE = 200
"""Lines of the tree that are read at once."""


class ThreadView(Screen[None]):
    """One thread: the line of the tree under the cursor decides what is shown beside it."""

    app: Browser
    BINDINGS: ClassVar = [
        Binding("f", "fork", "Fork"),
        Binding("t", "tag", "Tag"),
        Binding("m", "mark", "Mark"),
        Binding("d", "diff", "Diff"),
        Binding("r", "resume", "Resume"),
        Binding("a", "leaves", "All", show=False),
        *(Binding(str(number), f"show_pane('{pane}')", pane, show=False) for number, pane in enumerate(PANES, 1)),
        Binding("f5", "read_again", "Read again", show=False),
        Binding("question_mark", "help", "Help"),
        Binding("escape", "back", "Back"),
        Binding("q", "app.quit", "Leave", show=False),
    ]

    def __init__(self, thread_id: str) -> None:
        super().__init__()
        self._thread = thread_id
        self._checkpoints: tuple[str | None, ...] = ()
        self._lines: tuple[LogLine, ...] = ()
        self._next: str | None = None
        self._marked: str | None = None
        self._leaves = False

    def compose(self) -> ComposeResult:
        """The tree beside the three panes."""
        with Horizontal():
            yield OptionList(id="tree")
            with TabbedContent(id="detail"):
                for pane in PANES:
                    with TabPane(pane.capitalize(), id=pane), VerticalScroll():
                        yield Static(id=f"{pane}-text")
        yield Footer()

    def on_mount(self) -> None:
        """Names the thread and reads its tree."""
        tree = self.query_one("#tree", OptionList)
        tree.border_title = Text(name(self._thread)).markup
        tree.focus()
        self.action_read_again()

    @property
    def _at(self) -> str | None:
        """The checkpoint of the line under the cursor."""
        line = self.query_one("#tree", OptionList).highlighted
        return self._checkpoints[line] if line is not None and line < len(self._checkpoints) else None

    # ------------------------------------------------------------------ reading

    @work(thread=True, exclusive=True, group="tree")
    def action_read_again(self) -> None:
        """Reads the tree beside the screen, which stays usable."""
        self._read(None)

    def _read(self, before: str | None) -> None:
        worker, leaves = get_current_worker(), self._leaves
        log = self.app.read(lambda saver: read_log(saver, self._thread, leaves=leaves, limit=PAGE, before=before))
        if log is not None and not worker.is_cancelled:
            self.app.call_from_thread(self._keep, log, before is not None)

    @work(thread=True, exclusive=True, group="tree")
    def _read_on(self) -> None:
        """Reads the next page of the tree."""
        self._read(self._next)

    def _keep(self, log: ThreadLog, is_more: bool) -> None:
        at = self._at
        self._lines = (*self._lines, *log.lines) if is_more else log.lines
        self._checkpoints, self._next = checkpoints_of(self._lines), log.next
        self._draw(at)
        below = f"{log.left:,} more below" if log.left else ""
        behind = f"{len(log.left_out)} left behind" if log.left_out else ""
        self.query_one("#tree", OptionList).border_subtitle = ", ".join(filter(None, (below, behind)))

    def _draw(self, at: str | None) -> None:
        """The tree anew, with the cursor where it was, or on the newest line."""
        tree = self.query_one("#tree", OptionList)
        tree.clear_options()
        tree.add_options([Option(log_text(line, self._marked), disabled=line.turn is None) for line in self._lines])
        if self._lines:
            tree.highlighted = self._checkpoints.index(at) if at is not None and at in self._checkpoints else 0

    def on_option_list_option_highlighted(self) -> None:
        """The panes follow the cursor; the tree goes on below its last line."""
        self._read_checkpoint()
        if self._next is not None and self.query_one("#tree", OptionList).highlighted == len(self._lines) - 1:
            self._read_on()

    def on_option_list_option_selected(self) -> None:
        """Enter goes to the text beside the tree."""
        self.query_one(TabbedContent).active_pane.query_one(VerticalScroll).focus()  # type: ignore[union-attr]  # one is always active

    @work(thread=True, exclusive=True, group="checkpoint")
    def _read_checkpoint(self) -> None:
        worker, id, marked = get_current_worker(), self._at, self._marked
        if id is None:
            return
        shown = self.app.read(lambda saver: show_checkpoint(saver, self._thread, id))
        found = self.app.read(
            lambda saver: diff_checkpoints(saver, self._thread, *([id] if marked in (None, id) else [marked, id]))
        )
        if shown is None or found is None or worker.is_cancelled:
            return
        self.app.call_from_thread(self._fill, transcript_text(shown), state_text(shown), diff_text(found))

    def _fill(self, *texts: Text) -> None:
        for pane, text in zip(PANES, texts, strict=True):
            self.query_one(f"#{pane}-text", Static).update(text)
        self.query_one("#transcript VerticalScroll", VerticalScroll).scroll_end(animate=False)

    # ------------------------------------------------------------------ what the keys do

    def action_show_pane(self, pane: str) -> None:
        """Shows one of the panes."""
        self.query_one(TabbedContent).active = pane

    def action_mark(self) -> None:
        """Marks the checkpoint under the cursor; again: no mark."""
        at = self._at
        self._marked = None if at == self._marked else at
        self._draw(at)

    def action_diff(self) -> None:
        """Shows what changed."""
        self.action_show_pane("diff")

    def action_leaves(self) -> None:
        """Shows or hides the ends that forks left behind."""
        self._leaves = not self._leaves
        self.action_read_again()

    @work
    async def action_fork(self) -> None:
        """Asks for a name and makes a branch at the cursor."""
        at = self._at
        if at is None:
            return
        asked = await self.app.push_screen_wait(Question(f"Name of the branch that begins at {short_id(at)}:"))
        if asked is None:
            return
        made = self.app.read(lambda saver: fork_thread(saver, self._thread, at, name=asked))
        if made is not None:
            self.notify(f"branch {made.branch} begins at {short_id(at)}", markup=False)
            self.action_read_again()

    @work
    async def action_tag(self) -> None:
        """Asks for a name and a note and tags the checkpoint at the cursor."""
        at = self._at
        if at is None:
            return
        asked = await self.app.push_screen_wait(Question(f"Tag for {short_id(at)}, and a note behind a space:"))
        if asked is None:
            return
        tag, _, note = asked.partition(" ")
        if self.app.read(lambda saver: tag_checkpoint(saver, self._thread, tag, at, note=note.strip())) is not None:
            self.notify(f"{short_id(at)} is tagged {tag}", markup=False)
            self.action_read_again()

    @work
    async def action_resume(self) -> None:
        """Carries on in the thread on the whole terminal; which graph of the user's is to run there is asked first."""
        at = self._at
        shown = None if at is None else self.app.read(lambda saver: show_checkpoint(saver, self._thread, at))
        if shown is None:
            return
        command = next_command(shown)
        if command is None:
            self.notify("No branch ends here: fork first (f), then resume there.", severity="warning", markup=False)
            return
        graph = graph_in(shown.metadata)
        if graph != OFFLINE:
            named = await self.app.push_screen_wait(Question("Graph to run, as MODULE:NAME:", graph))
            if named is None:
                return
            command += ["--graph", named]
        self.app.step_aside(command)
        self.action_read_again()

    def action_help(self) -> None:
        """Shows the keys."""
        self.app.push_screen(Help())

    def action_back(self) -> None:
        """From the text to the tree, from the tree to the list."""
        tree = self.query_one("#tree", OptionList)
        if tree.has_focus:
            self.dismiss(None)
        else:
            tree.focus()
