"""Stored messages for those who only look: as fields, without the library they are made of."""

from __future__ import annotations

import subprocess
import sys

from langchain_core.messages import AIMessage, HumanMessage

from stepwell.checkpoint.serde.jsonplus import JsonPlusSerializer
from stepwell.threads import Said, said_in

LOOK = """
import sys
from stepwell.serde import JsonPlusSerializer
(message,) = JsonPlusSerializer(look_only=True).codec.decode(bytes.fromhex(sys.argv[1]))
print(message.type_name, message.data["content"], "langchain_core" in sys.modules, "pydantic" in sys.modules)
"""


class DescribeLookingOnly:
    def test_shows_a_message_with_its_fields(self):
        message = AIMessage("hi", id="1", tool_calls=[{"name": "search", "args": {}, "id": "c"}])

        looked = JsonPlusSerializer(look_only=True).loads_typed(JsonPlusSerializer().dumps_typed(message))

        assert looked.type_name == "langchain_core.messages.ai.AIMessage"
        assert said_in(looked) == Said("assistant", "hi", id="1", calls=("search",))

    def test_imports_no_library_for_it(self):
        data = JsonPlusSerializer().codec.encode([HumanMessage("hi")])

        looked = subprocess.run([sys.executable, "-c", LOOK, data.hex()], capture_output=True, text=True, check=True)

        assert looked.stdout.split() == ["langchain_core.messages.human.HumanMessage", "hi", "False", "False"]

    def test_written_back_it_is_the_message_again(self):
        looking, whole = JsonPlusSerializer(look_only=True), JsonPlusSerializer()
        stored = whole.dumps_typed([HumanMessage("hi", id="1")])

        again = looking.dumps_typed(looking.loads_typed(stored))

        assert whole.loads_typed(again) == [HumanMessage("hi", id="1")]
