"""What the offline model answers: only from what was said, always the same."""

from __future__ import annotations

import pytest

from stepwell.demo.answers import answer


class DescribeAnAnswer:
    @pytest.mark.parametrize(
        ("said", "answered"),
        [
            (["My name is Ada.", "What is my name?"], "Your name is Ada."),
            (["My name is Ada.", "call me Bob", "who am i"], "Your name is Bob."),
            (["What is my name?"], "You have not told me your name."),
            (["My name is Ada."], "Nice to meet you, Ada. I will remember that."),
            (["我叫小明", "我叫什么？"], "你叫小明。"),
            (["我叫什么？"], "你还没有告诉我你的名字。"),
            (["My favourite colour is blue.", "What's my favourite colour?"], "Your favourite colour is blue."),
            (["a", "b", "c", "How many turns was that?"], "This is turn 4 of our conversation."),
            (["a", "b", "c", "What did I say three turns ago?"], "Three turns ago you said: “a”"),
            (["a", "b", "What did I say 3 turns ago?"], "We have not been talking for that long."),
            (["甲", "乙", "两轮之前我说了什么"], "两轮之前你说：“甲”"),
            (["first", "b", "What was the first thing I said?"], "The first thing you said was: “first”"),
            (["hello"], "You said: “hello”. That was turn 1 of our conversation."),
            (["你好"], "你说的是：“你好”（第1轮）。"),
            ([], "Say something, and I will remember it."),
        ],
    )
    def test_comes_from_what_was_said(self, said, answered):
        assert answer(said) == answered
