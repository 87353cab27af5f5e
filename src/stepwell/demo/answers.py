"""What the offline model answers: a few rules over what the user has said so far, nothing else.

Each rule is a function of what was said, oldest first, that gives an answer or None; the first answer counts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

NUMBER_WORDS: Final = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
NUMBERS: Final = {word: number for number, word in enumerate(NUMBER_WORDS)}
IS_CHINESE: Final = re.compile(r"[\u3400-\u9fff]")

ASKS_NAME: Final = re.compile(r"\bwhat(?:'s| is) my name\b|\bwho am i\b|我叫什么|我是谁|我的名字是什么", re.IGNORECASE)
TELLS_NAME: Final = re.compile(
    r"\b(?:my name is|call me|i am called)\s+([^\s.,;!?，。！？]+)|(?:我叫|我的名字是)\s*([^\s.,;!?，。！？什]+)",
    re.IGNORECASE,
)
ASKS_FACT: Final = re.compile(r"\bwhat(?:'s| is| are| was) my ([\w' -]+?)\s*\?*$", re.IGNORECASE)
TELLS_FACT: Final = re.compile(r"\bmy ([\w' -]+?) (?:is|are|was) ([^.;!?]+)", re.IGNORECASE)
ASKS_COUNT: Final = re.compile(r"\bhow many (?:turns|messages|times)\b|第几(?:轮|句)|几轮", re.IGNORECASE)
ASKS_BACK: Final = re.compile(
    r"\bwhat did i (?:say|tell you|ask) (\w+) (?:turns?|messages?|steps?) ago\b"
    r"|([一二三四五六七八九十两\d]+)轮(?:之|以)?前我说",
    re.IGNORECASE,
)
ASKS_FIRST: Final = re.compile(
    r"\bwhat (?:did i say first|was the first thing i said)\b|我(?:最先|第一句)说", re.IGNORECASE
)
CHINESE_NUMBERS: Final = {word: number for number, word in enumerate("零一二三四五六七八九十")} | {"两": 2}


def answer(said: Sequence[str]) -> str:
    """The answer to the last thing the user said, given all that was said before it."""
    if not said or not said[-1].strip():
        return "Say something, and I will remember it."
    found = (rule(said) for rule in RULES)
    return next(text for text in found if text is not None)


def _their_name(said: Sequence[str]) -> str | None:
    if not ASKS_NAME.search(said[-1]):
        return None
    name = _name_in(said[:-1])
    if IS_CHINESE.search(said[-1]):
        return f"你叫{name}。" if name else "你还没有告诉我你的名字。"
    return f"Your name is {name}." if name else "You have not told me your name."


def _a_new_name(said: Sequence[str]) -> str | None:
    name = _name_in(said[-1:])
    if name is None:
        return None
    return (
        f"你好，{name}，我记住了。"
        if IS_CHINESE.search(said[-1])
        else f"Nice to meet you, {name}. I will remember that."
    )


def _how_many(said: Sequence[str]) -> str | None:
    if not ASKS_COUNT.search(said[-1]):
        return None
    if IS_CHINESE.search(said[-1]):
        return f"这是第{len(said)}轮。"
    return f"This is turn {len(said)} of our conversation."


def _some_turns_ago(said: Sequence[str]) -> str | None:
    asked = ASKS_BACK.search(said[-1])
    if asked is None:
        return None
    back = _number(asked[1] or asked[2])
    is_chinese = asked[2] is not None
    if back is None or not 0 < back < len(said):
        return "我们还没有聊那么久。" if is_chinese else "We have not been talking for that long."
    then = said[-1 - back]
    if is_chinese:
        return f"{asked[2]}轮之前你说：“{then}”"
    return f"{asked[1].capitalize()} turn{'' if back == 1 else 's'} ago you said: “{then}”"


def _the_first(said: Sequence[str]) -> str | None:
    if not ASKS_FIRST.search(said[-1]):
        return None
    return f"你先说的是：“{said[0]}”" if IS_CHINESE.search(said[-1]) else f"The first thing you said was: “{said[0]}”"


def _a_fact_asked_for(said: Sequence[str]) -> str | None:
    asked = ASKS_FACT.search(said[-1])
    if asked is None:
        return None
    thing = asked[1].casefold()
    told = [fact[2].strip() for text in said[:-1] for fact in TELLS_FACT.finditer(text) if fact[1].casefold() == thing]
    return f"Your {asked[1]} is {told[-1]}." if told else f"You have not told me your {asked[1]}."


def _a_new_fact(said: Sequence[str]) -> str | None:
    told = TELLS_FACT.search(said[-1])
    return f"I will remember that your {told[1]} is {told[2].strip()}." if told else None


def _anything_else(said: Sequence[str]) -> str | None:
    last = said[-1].strip()
    if IS_CHINESE.search(last):
        return f"你说的是：“{last}”（第{len(said)}轮）。"
    return f"You said: “{last}”. That was turn {len(said)} of our conversation."


def _name_in(said: Sequence[str]) -> str | None:
    names = [told[1] or told[2] for text in said for told in TELLS_NAME.finditer(text)]
    return names[-1] if names else None


def _number(word: str) -> int | None:
    known = NUMBERS | CHINESE_NUMBERS
    return int(word) if word.isdecimal() else known.get(word.casefold())


RULES: Final[tuple[Callable[[Sequence[str]], str | None], ...]] = (
    _their_name,
    _some_turns_ago,
    _how_many,
    _the_first,
    _a_new_name,
    _a_fact_asked_for,
    _a_new_fact,
    _anything_else,
)
