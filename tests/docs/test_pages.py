"""What the README and the manual promise to hold."""

from __future__ import annotations

import ast
import re

import pytest

from tests.docs.pages import DOCS, LINK, ROOT, blocks, name_of, pages, prose
from tests.specs.claims.test_the_articles_example import EXAMPLE

README = ROOT / "README.md"
CHINESE = ROOT / "README.zh-CN.md"
READMES = pytest.mark.parametrize("readme", [README, CHINESE], ids=name_of)


def slug(heading: str) -> str:
    """The anchor that a heading gets on the pages people read."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


class DescribeTheReadme:
    def test_is_short(self):
        assert len(README.read_text(encoding="utf-8").splitlines()) <= 120

    @READMES
    def test_has_the_two_commands_each_in_one_line(self, readme):
        marked = [block for block in blocks(readme) if block.marked]

        assert [block.language for block in marked] == ["bash", "bash"]
        assert all(len(block.text.splitlines()) == 1 for block in marked)

    def test_has_the_same_commands_in_both_languages(self):
        english, chinese = ([block.text for block in blocks(page) if block.marked] for page in (README, CHINESE))

        assert english == chinese

    @READMES
    @pytest.mark.claim("A-62", "A-63", "A-64", "A-65", "A-66", "A-67", "A-68", "A-69")
    def test_has_the_articles_example_verbatim_with_its_five_lines(self, readme):
        found = list(blocks(readme))
        at = next(n for n, block in enumerate(found) if "user-42" in block.text and block.language == "python")

        assert found[at].text.strip() == EXAMPLE.strip()
        assert found[at + 1].text.split() == ["4", "reply#3", "user-42", "2", "True"]

    @READMES
    @pytest.mark.claim("B-87")
    def test_shows_threads_steps_carrying_on_time_travel_and_the_store(self, readme):
        code = "\n".join(block.text for block in blocks(readme) if block.language == "python")

        for shown in ("thread_id", "get_state_history", "graph.invoke", "back.config", "store.put", "user-99"):
            assert shown in code

    @READMES
    def test_links_to_the_other(self, readme):
        other = CHINESE if readme == README else README

        assert other.name in readme.read_text(encoding="utf-8")


class DescribeTheManual:
    @pytest.mark.parametrize("page", pages(), ids=name_of)
    def test_links_to_pages_that_are_there(self, page):
        for target in LINK.findall(prose(page)):
            if "://" in target:
                continue
            path, _, anchor = target.partition("#")
            found = (page.parent / path).resolve() if path else page

            assert found.exists(), target
            if anchor:
                headings = re.findall(r"^#+ (.*)$", found.read_text(encoding="utf-8"), re.MULTILINE)
                assert anchor in map(slug, headings), target

    @pytest.mark.parametrize("page", pages(), ids=name_of)
    def test_reads_without_the_places_where_it_was_written(self, page):
        text = page.read_text(encoding="utf-8")

        assert not re.search(r"/work/|/tmp/|shared/|\bhelper\b", text)

    def test_lists_every_how_to(self):
        listed = set(LINK.findall((DOCS / "how-to" / "README.md").read_text(encoding="utf-8")))

        assert listed == {path.name for path in (DOCS / "how-to").glob("*.md")} - {"README.md"}

    @pytest.mark.claim("A-07")
    def test_advises_against_a_dict_as_memory(self):
        for page in ("tutorial.md", "concepts.md"):
            text = " ".join(prose(DOCS / page).split())

            assert re.search(r"Do not keep (a conversation|the history) in a dict of your own", text)

    @pytest.mark.claim("A-07")
    @pytest.mark.parametrize("page", pages(), ids=name_of)
    def test_keeps_no_conversation_in_a_global_itself(self, page):
        for block in blocks(page):
            if block.language != "python":
                continue
            for statement in ast.parse(block.text).body:
                names = [ast.unparse(target) for target in getattr(statement, "targets", [])]
                is_empty = isinstance(getattr(statement, "value", None), ast.Dict | ast.List) and not ast.unparse(
                    statement.value  # type: ignore[attr-defined]  # as the line before says
                ).strip("[]{}")
                assert not (is_empty and any(re.search("histor|messages|memory|conversation", name) for name in names))

    @pytest.mark.claim("A-85")
    def test_warns_of_the_memory_saver_in_production(self):
        for page in ("how-to/choose-a-saver.md", "reference/in-memory-saver.md"):
            text = (DOCS / page).read_text(encoding="utf-8")

            assert re.search(r"\*\*Not (in|for) production:\*\*", text)
            assert re.search(r"workers? ", text)

    @pytest.mark.claim("A-86")
    def test_sends_people_to_the_methods_not_to_the_insides(self):
        text = " ".join(prose(DOCS / "concepts.md").split())

        assert "do not read the saver's insides" in text
        assert "`saver.get_tuple`" in text

    @pytest.mark.claim("A-86")
    @pytest.mark.parametrize("page", pages(), ids=name_of)
    def test_never_reads_the_insides_of_a_saver(self, page):
        code = "\n".join(block.text for block in blocks(page) if block.language == "python")

        assert not re.search(r"(saver|memory|checkpointer)\.(storage|blobs|writes)\b", code)

    @pytest.mark.claim("B-69")
    def test_has_a_table_that_decides_between_checkpoint_and_store(self):
        text = (DOCS / "concepts.md").read_text(encoding="utf-8").partition("### Which of the two?")[2]
        rows = [line for line in text.splitlines() if line.startswith("| ")]

        assert sum("checkpoint |" in row for row in rows) >= 2
        assert sum("| the store" in row for row in rows) >= 2

    @pytest.mark.claim("B-89")
    def test_names_the_price(self):
        readme = README.read_text(encoding="utf-8")
        page = (DOCS / "performance.md").read_text(encoding="utf-8")

        assert "(docs/performance.md)" in readme
        assert "is not free" in page
        assert "python -m bench" in page

    def test_has_a_line_for_each_difference(self):
        rows = re.findall(r"^\| (\d+) \|", (DOCS / "moving-over.md").read_text(encoding="utf-8"), re.MULTILINE)

        assert sorted(map(int, rows)) == list(range(1, 44))
