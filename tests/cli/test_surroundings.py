"""Where a run takes place: the folder, and the git branch, read from files."""

from __future__ import annotations

import os
import subprocess

import pytest

from stepwell.cli.surroundings import git_branch, surroundings


def git(folder, head, name=".git"):
    """A repository as far as it is read."""
    (folder / name).mkdir(parents=True)
    (folder / name / "HEAD").write_text(head)


class DescribeTheGitBranch:
    def test_is_that_of_head(self, tmp_path):
        git(tmp_path, "ref: refs/heads/feature/bees\n")
        inside = tmp_path / "src" / "deep"
        inside.mkdir(parents=True)

        assert git_branch(tmp_path) == git_branch(inside) == "feature/bees"

    def test_of_a_detached_head_is_a_short_id(self, tmp_path):
        git(tmp_path, "0123456789abcdef0123456789abcdef01234567\n")

        assert git_branch(tmp_path) == "0123456"

    @pytest.mark.parametrize("prefix", ["", "../"])
    def test_of_a_worktree_is_its_own(self, tmp_path, prefix):
        worktree = tmp_path / "worktree"
        worktree.mkdir()
        home = worktree / prefix / "kept" if prefix else tmp_path / "kept"
        git(home.resolve(), "ref: refs/heads/side\n", "w1")
        named = f"{prefix}kept/w1" if prefix else str(home / "w1")
        (worktree / ".git").write_text(f"gitdir: {named}\n")

        assert git_branch(worktree) == "side"

    def test_outside_a_repository_is_none(self, tmp_path):
        assert git_branch(tmp_path) == ""

    def test_of_something_that_is_no_repository_is_none(self, tmp_path):
        (tmp_path / ".git").mkdir()
        (tmp_path / "file").mkdir()
        (tmp_path / "file" / ".git").write_bytes(b"\xff\x00")

        assert git_branch(tmp_path) == git_branch(tmp_path / "file") == ""

    def test_is_what_git_itself_says(self, tmp_path):
        made = subprocess.run(["git", "init", "-q", "-b", "trunk", str(tmp_path)], capture_output=True)
        if made.returncode:
            pytest.skip("there is no git")

        assert git_branch(tmp_path) == "trunk"


class DescribeSurroundings:
    def test_leave_out_what_is_not_known(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        assert surroundings() == {"cwd": str(tmp_path)}

        git(tmp_path, "ref: refs/heads/bees\n")
        assert surroundings() == {"cwd": str(tmp_path), "git_branch": "bees"}

    def test_of_a_folder_that_is_gone_are_nothing(self, tmp_path, monkeypatch):
        gone = tmp_path / "gone"
        gone.mkdir()
        monkeypatch.chdir(gone)
        gone.rmdir()

        assert surroundings() == {}
        os.chdir(tmp_path)

    def test_of_a_name_that_is_no_text_can_be_stored(self, tmp_path, monkeypatch):
        odd = os.fsencode(tmp_path) + b"/\xff"
        os.mkdir(odd)
        monkeypatch.chdir(os.fsdecode(odd))

        assert surroundings() == {"cwd": f"{tmp_path}/\ufffd"}
