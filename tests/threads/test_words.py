"""Text as words, and queries as phrases."""

from __future__ import annotations

import sqlite3

import pytest

from stepwell.threads.words import marks, parse, split


class DescribeSplitting:
    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("Hello, WORLD!", "hello world"),
            ("foo_bar-baz 3.14", "foo bar baz 3 14"),
            ("我在北京用GPT-4模型", "我 在 北 京 用 gpt 4 模 型"),
            ("東京タワーへ", "東 京 タ ワ ー へ"),
            ("ｶﾞｲﾄﾞ", "ガ イ ド"),
            ("한국어", "한 국 어"),
            ("ภาษาไทย", "ภ า ษ า ไ ท ย"),
            ("ພາສາ ភាសា မြန်", "ພ າ ສ າ ភ ា ស ា မ ြ န ်"),
            ("Straße ＦＵＬＬ", "strasse full"),
            ("cafe\u0301", "café"),
            ("हिन्दी में", "हिन्दी में"),
            ("ok👍🏽👍", "ok 👍 👍"),
            ("?!… “”", ""),
        ],
    )
    def test_gives_each_script_its_words(self, text, words):
        assert split(text) == words

    def test_passes_over_what_is_too_long_for_a_word(self):
        assert split("x" * 100_000) == "x" * 200


class DescribeAQuery:
    @pytest.mark.parametrize(
        ("text", "match"),
        [
            ("two words", '"two" AND "words"'),
            ('"exact phrase" more', '"exact phrase" AND "more"'),
            ('an "open phrase', '"an" AND "open phrase"'),
            ("北京大学", '"北 京 大 学"'),
            ("foo_bar", '"foo bar"'),
            ("pay*", '"pay" *'),
            ("a OR NOT b", '"a" AND "or" AND "not" AND "b"'),
            ("'); DROP TABLE items; --", '"drop" AND "table" AND "items"'),
            ("50% _x_", '"50" AND "x"'),
            ("\" ' % _ ) -- ^ { : *", ""),
        ],
    )
    def test_becomes_phrases_that_must_all_occur(self, text, match):
        assert parse(text).match == match

    @pytest.mark.parametrize("text", ['"', "((", "NEAR(a b)", "words:x", "a^2", "-x", "\x00x", "\ud800", "a\"b'c"])
    def test_is_never_an_error_of_the_index(self, text):
        index = sqlite3.connect(":memory:")
        index.execute("CREATE VIRTUAL TABLE t USING fts5(words, tokenize='ascii')")
        query = parse(text)

        if query.phrases:
            index.execute("SELECT * FROM t WHERE t MATCH ?", (query.match,)).fetchall()

    def test_fits_whole_words_side_by_side_only(self):
        query = parse('"new york"')

        fits = [
            bool(query.score(split(text))) for text in ("in New York, now", "york new", "new yorker", "new old york")
        ]

        assert fits == [True, False, False, False]

    def test_fits_the_better_the_oftener_it_occurs_and_the_shorter_the_text(self):
        query = parse("tea")

        scores = [query.score(split(text)) for text in ("tea tea", "tea", "tea " + "and so on " * 300)]

        assert scores == sorted(scores, reverse=True)


class DescribeMarks:
    @pytest.mark.parametrize(
        ("text", "query", "found"),
        [
            ("He paid; payment, PAY", "pay*", ["payment", "PAY"]),
            ("我在北京大学", "北京", ["北京"]),
            ("Der ＦＵＬＬ Straße", "full STRASSE", ["ＦＵＬＬ", "Straße"]),
            ("cafe\u0301 noir", "café", ["cafe\u0301"]),
            ("ｶﾞｲﾄﾞ", "ガ", ["ｶﾞ"]),
            ("one two", "two one", ["one", "two"]),
            ("one two", "three", []),
        ],
    )
    def test_stand_in_the_text_as_it_is_written(self, text, query, found):
        assert [text[start:end] for start, end in marks(text, parse(query))] == found
