"""The offline model as a chat model of langchain_core."""

from __future__ import annotations

from langchain_core.messages import AIMessage, HumanMessage

from stepwell.demo.model import OfflineModel


class DescribeTheOfflineModel:
    def test_remembers_nothing_itself(self):
        model = OfflineModel()
        model.invoke([HumanMessage("My name is Ada.")])

        assert model.invoke([HumanMessage("What is my name?")]).text == "You have not told me your name."

    def test_answers_from_the_conversation_it_is_given(self):
        said = [HumanMessage("My name is Ada."), AIMessage("Hello."), HumanMessage("What is my name?")]

        assert OfflineModel().invoke(said).text == "Your name is Ada."

    def test_streams_word_by_word_what_it_answers_at_once(self):
        said = [HumanMessage("hello there")]

        words = [chunk.text for chunk in OfflineModel().stream(said)]

        assert "".join(words) == OfflineModel().invoke(said).text
        assert words[:3] == ["You ", "said: ", "“hello "]

    def test_streams_chinese_character_by_character(self):
        words = [chunk.text for chunk in OfflineModel().stream([HumanMessage("你好")])]

        assert words[:4] == ["你", "说", "的", "是"]

    async def test_streams_the_same_in_async_code(self):
        words = [chunk.text async for chunk in OfflineModel().astream([HumanMessage("hello")])]

        assert "".join(words) == "You said: “hello”. That was turn 1 of our conversation."
