"""The first screen: the threads, the most recently active first."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding
from textual.screen import Screen
from textual.widgets import DataTable, Footer, Input, Static
from textual.worker import get_current_worker

from stepwell.cli.browser.asking import Help
from stepwell.cli.browser.texts import HEADINGS, matches, thread_cells
from stepwell.cli.text import count
from stepwell.threads import ThreadPage, ThreadRow, browse_threads, search_messages

if TYPE_CHECKING:
    from stepwell.cli.browser.app import Browser

HITS = 1000
"""Messages that a search looks at; the threads they are in are shown."""


class ThreadList(Screen[None]):
    """A table of threads and a line to search it."""

    app: Browser
    BINDINGS: ClassVar = [
        Binding("slash", "search", "Search"),
        Binding("f5", "refresh_list", "Read again", show=False),
        Binding("question_mark", "help", "Help"),
        Binding("escape", "forget_search", "Back", show=False),
        Binding("q", "app.quit", "Leave"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._threads: tuple[ThreadRow, ...] = ()
        self._found: frozenset[str] = frozenset()

    def compose(self) -> ComposeResult:
        """A line for searching, the table, what is there."""
        search = Input(placeholder="words of a title, or of an id; Enter looks into the messages", id="search")
        search.display = False
        yield search
        yield DataTable(cursor_type="row", zebra_stripes=True)
        yield Static(id="status", markup=False)
        yield Footer()

    def on_mount(self) -> None:
        """Reads the threads."""
        table = self.query_one(DataTable)
        table.add_columns(*HEADINGS)
        table.focus()

    def on_screen_resume(self) -> None:
        """Reads them again, since something may have been said meanwhile."""
        self.action_refresh_list()

    @work(thread=True, exclusive=True, group="list")
    def action_refresh_list(self) -> None:
        """Reads the threads beside the screen, which stays usable."""
        worker = get_current_worker()
        found = self.app.read(lambda saver: browse_threads(saver, limit=None))
        if found is not None and not worker.is_cancelled:
            self.app.call_from_thread(self._keep, found)

    def _keep(self, page: ThreadPage) -> None:
        self._threads = page.rows
        self._show()

    def _show(self) -> None:
        text = self.query_one("#search", Input).value.strip()
        table = self.query_one(DataTable)
        at = table.cursor_row
        table.clear()
        shown = [row for row in self._threads if row.thread_id in self._found or matches(row, text)]
        for row in shown:
            table.add_row(*thread_cells(row), key=row.thread_id)
        table.move_cursor(row=min(at, max(len(shown) - 1, 0)))
        there = count(len(shown), "thread")
        found = f"{there} with {text!r}" if text else there
        self.query_one("#status", Static).update(found if shown else f"{found}. `stepwell chat` begins one.")

    def on_input_changed(self) -> None:
        """The table follows what is typed: titles, first prompts and ids."""
        self._found = frozenset()
        self._show()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Enter looks into the messages too, and goes to the table."""
        self.query_one(DataTable).focus()
        if event.value.strip():
            self._search(event.value)

    @work(thread=True, exclusive=True, group="search")
    def _search(self, text: str) -> None:
        worker = get_current_worker()
        page = self.app.read(lambda saver: search_messages(saver, text, limit=HITS))
        if page is not None and not worker.is_cancelled:
            self.app.call_from_thread(self._keep_found, frozenset(hit.thread_id for hit in page.hits))

    def _keep_found(self, found: frozenset[str]) -> None:
        self._found = found
        self._show()

    def action_search(self) -> None:
        """Shows the line for searching."""
        search = self.query_one("#search", Input)
        search.display = True
        search.focus()

    def action_forget_search(self) -> None:
        """Shows all threads again."""
        search = self.query_one("#search", Input)
        search.value = ""
        search.display = False
        self.query_one(DataTable).focus()

    def on_data_table_row_selected(self, event: DataTable.RowSelected) -> None:
        """Enter opens a thread."""
        if event.row_key.value is not None:
            self.app.open_thread(event.row_key.value)

    def action_help(self) -> None:
        """Shows the keys."""
        self.app.push_screen(Help())
