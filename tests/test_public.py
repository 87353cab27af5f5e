"""The names that user code imports, where it imports them from. A name goes only by a decision."""

import importlib

import pytest

NAMES = {
    "stepwell.channels": (
        "AnyValue BaseChannel BinaryOperatorAggregate DeltaChannel EphemeralValue LastValue LastValueAfterFinish "
        "NamedBarrierValue NamedBarrierValueAfterFinish Topic UntrackedValue pure"
    ),
    "stepwell.channels.any_value": "AnyValue",
    "stepwell.channels.base": "BaseChannel",
    "stepwell.channels.binop": "BinaryOperatorAggregate OVERWRITE",
    "stepwell.channels.delta": "DeltaChannel",
    "stepwell.channels.ephemeral_value": "EphemeralValue",
    "stepwell.channels.last_value": "LastValue LastValueAfterFinish",
    "stepwell.channels.named_barrier_value": "NamedBarrierValue NamedBarrierValueAfterFinish",
    "stepwell.channels.topic": "Topic",
    "stepwell.channels.untracked_value": "UntrackedValue",
    "stepwell.func": "entrypoint task",
    "stepwell.graph": "END MessagesState START StateGraph add_messages",
    "stepwell.graph.message": "MessagesState REMOVE_ALL_MESSAGES add_messages push_message",
    "stepwell.graph.state": "CompiledStateGraph END START StateGraph",
    "stepwell.graph.ui": "AnyUIMessage UIMessage delete_ui_message push_ui_message ui_message_reducer",
    "stepwell.managed": "IsLastStep RemainingSteps",
    "stepwell.managed.is_last_step": "IsLastStep IsLastStepManager RemainingSteps RemainingStepsManager",
    "stepwell.pregel": "ChannelWriteEntry NodeBuilder Pregel",
}


@pytest.mark.parametrize(("module", "names"), NAMES.items(), ids=NAMES)
def test_names_are_where_user_code_imports_them_from(module, names):
    found = importlib.import_module(module)

    assert [name for name in names.split() if not hasattr(found, name)] == []


@pytest.mark.parametrize(
    "module", ["stepwell.channels", "stepwell.func", "stepwell.graph", "stepwell.managed", "stepwell.pregel"]
)
def test_packages_hand_on_what_they_name(module):
    found = importlib.import_module(module)

    assert [name for name in found.__all__ if not hasattr(found, name)] == []
