"""Threads as people use them: find, list, log, show, fork, rewind, … Functions over a saver; nothing is printed."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

# Two functions are called as their modules are, and are bound here, before anybody else loads the modules.
from stepwell.threads.provenance import provenance
from stepwell.threads.transcript import transcript

if TYPE_CHECKING:
    from stepwell.threads.back import OpenTurn, open_turn, steps_back, turns_back
    from stepwell.threads.blame import Blame, blame_value
    from stepwell.threads.branch import BranchDeleted, delete_branch, list_branches, rename_branch, switch_branch
    from stepwell.threads.chain import ThreadSaver
    from stepwell.threads.changes import Change, changes_between, line_diff
    from stepwell.threads.check import Check, check_threads
    from stepwell.threads.choice import Choice, choose_threads, first_prompt
    from stepwell.threads.delete import Removal, Removed, delete_threads
    from stepwell.threads.diff import ChannelDiff, CheckpointDiff, DiffSide, diff_checkpoints
    from stepwell.threads.edit import Draft, Edited, draft_edit, save_edit
    from stepwell.threads.find import find_checkpoint, find_thread, short_id, similar_ids
    from stepwell.threads.fork import Forked, fork_thread, fork_to_thread
    from stepwell.threads.ids import new_thread_id
    from stepwell.threads.list import ThreadPage, ThreadRow, browse_threads, latest_thread, list_threads, unfinished
    from stepwell.threads.log import LogLine, ThreadLog, read_log
    from stepwell.threads.moments import moment_in, seconds_in
    from stepwell.threads.moving import Imported, export_thread, import_thread, import_thread_file, read_thread_file
    from stepwell.threads.paths import format_path, parse_path
    from stepwell.threads.prune import prune_threads
    from stepwell.threads.register import aensure_thread, ensure_thread
    from stepwell.threads.rename import Renamed, ThreadMetadata, note_metadata, rename_thread
    from stepwell.threads.replay import Replay, Replayed, begin_replay, plan_replay, replay_thread, run_replay
    from stepwell.threads.resume import Stopped, only_question, read_stop, resume_input, resume_thread, verdict
    from stepwell.threads.rewind import Rewound, rewind_thread
    from stepwell.threads.search import Hit, SearchPage, asearch_messages, search_messages, update_search
    from stepwell.threads.show import Shown, ShownTask, find_namespace, load_checkpoint, open_questions, show_checkpoint
    from stepwell.threads.stats import Stats, measure_threads
    from stepwell.threads.tag import TagMoved, delete_tag, find_tag, list_tags, move_tag, tag_checkpoint
    from stepwell.threads.transcript import Said, said_in, text_of, transcript
    from stepwell.threads.ttl import Stale, Swept, set_ttl, stale_threads, sweep_threads
    from stepwell.threads.turns import Entry, Turn
    from stepwell.threads.vacuum import Vacuumed, vacuum_database
    from stepwell.threads.written import json_transcript, markdown_transcript

__all__ = [
    "ThreadSaver",
    "new_thread_id",
    "find_thread",
    "find_checkpoint",
    "similar_ids",
    "short_id",
    "list_threads",
    "browse_threads",
    "ThreadPage",
    "ThreadRow",
    "Choice",
    "choose_threads",
    "first_prompt",
    "rename_thread",
    "Renamed",
    "note_metadata",
    "ThreadMetadata",
    "set_ttl",
    "stale_threads",
    "sweep_threads",
    "Stale",
    "Swept",
    "seconds_in",
    "moment_in",
    "latest_thread",
    "unfinished",
    "SearchPage",
    "Hit",
    "search_messages",
    "asearch_messages",
    "update_search",
    "provenance",
    "ensure_thread",
    "aensure_thread",
    "export_thread",
    "import_thread",
    "Imported",
    "read_thread_file",
    "import_thread_file",
    "markdown_transcript",
    "json_transcript",
    "ThreadLog",
    "LogLine",
    "check_threads",
    "measure_threads",
    "Stats",
    "Check",
    "Turn",
    "Entry",
    "read_log",
    "Shown",
    "ShownTask",
    "show_checkpoint",
    "load_checkpoint",
    "find_namespace",
    "open_questions",
    "diff_checkpoints",
    "CheckpointDiff",
    "ChannelDiff",
    "DiffSide",
    "Change",
    "changes_between",
    "line_diff",
    "blame_value",
    "Blame",
    "parse_path",
    "format_path",
    "Said",
    "said_in",
    "text_of",
    "transcript",
    "Forked",
    "fork_thread",
    "fork_to_thread",
    "BranchDeleted",
    "list_branches",
    "rename_branch",
    "delete_branch",
    "switch_branch",
    "TagMoved",
    "list_tags",
    "find_tag",
    "tag_checkpoint",
    "move_tag",
    "delete_tag",
    "Rewound",
    "rewind_thread",
    "Draft",
    "Edited",
    "draft_edit",
    "save_edit",
    "Replay",
    "Replayed",
    "plan_replay",
    "begin_replay",
    "run_replay",
    "replay_thread",
    "Stopped",
    "read_stop",
    "resume_input",
    "resume_thread",
    "only_question",
    "verdict",
    "OpenTurn",
    "open_turn",
    "Removal",
    "Removed",
    "delete_threads",
    "prune_threads",
    "Vacuumed",
    "vacuum_database",
    "turns_back",
    "steps_back",
]

NAMES: Final = {
    "back": "OpenTurn open_turn steps_back turns_back",
    "blame": "Blame blame_value",
    "branch": "BranchDeleted delete_branch list_branches rename_branch switch_branch",
    "chain": "ThreadSaver",
    "changes": "Change changes_between line_diff",
    "check": "Check check_threads",
    "choice": "Choice choose_threads first_prompt",
    "delete": "Removal Removed delete_threads",
    "diff": "ChannelDiff CheckpointDiff DiffSide diff_checkpoints",
    "edit": "Draft Edited draft_edit save_edit",
    "find": "find_checkpoint find_thread short_id similar_ids",
    "fork": "Forked fork_thread fork_to_thread",
    "ids": "new_thread_id",
    "list": "ThreadPage ThreadRow browse_threads latest_thread list_threads unfinished",
    "log": "LogLine ThreadLog read_log",
    "moments": "moment_in seconds_in",
    "moving": "Imported export_thread import_thread import_thread_file read_thread_file",
    "paths": "format_path parse_path",
    "provenance": "provenance",
    "prune": "prune_threads",
    "register": "aensure_thread ensure_thread",
    "rename": "Renamed ThreadMetadata note_metadata rename_thread",
    "replay": "Replay Replayed begin_replay plan_replay replay_thread run_replay",
    "resume": "Stopped only_question read_stop resume_input resume_thread verdict",
    "rewind": "Rewound rewind_thread",
    "search": "Hit SearchPage asearch_messages search_messages update_search",
    "show": "Shown ShownTask find_namespace load_checkpoint open_questions show_checkpoint",
    "stats": "Stats measure_threads",
    "tag": "TagMoved delete_tag find_tag list_tags move_tag tag_checkpoint",
    "transcript": "Said said_in text_of transcript",
    "ttl": "Stale Swept set_ttl stale_threads sweep_threads",
    "turns": "Entry Turn",
    "vacuum": "Vacuumed vacuum_database",
    "written": "json_transcript markdown_transcript",
}
"""Where each name is, so that who lists threads does not load what replays them."""
_MODULE_OF: Final = {name: module for module, names in NAMES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    """A name of this room, from its module, which is loaded when it is asked for."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
    return found
