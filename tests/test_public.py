"""The names that user code imports, where it imports them from. A name goes only by a decision."""

import importlib
import inspect
import pkgutil

import pytest

NAMES = {
    "stepwell.cache.base": "BaseCache JsonPlusSerializer SerializerProtocol",
    "stepwell.cache.memory": "BaseCache InMemoryCache SerializerProtocol",
    "stepwell.cache.sqlite": "BaseCache SerializerProtocol SqliteCache",
    "stepwell.channels": (
        "AnyValue BaseChannel BinaryOperatorAggregate DeltaChannel EphemeralValue LastValue "
        "LastValueAfterFinish NamedBarrierValue NamedBarrierValueAfterFinish Topic UntrackedValue pure"
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
    "stepwell.checkpoint.base": (
        "BaseCheckpointSaver ChannelProtocol Checkpoint CheckpointMetadata CheckpointTuple "
        "DeltaChannelHistory ERROR EXCLUDED_METADATA_KEYS EmptyChannelError EncryptedSerializer INTERRUPT "
        "JsonPlusSerializer LATEST_VERSION RESUME SCHEDULED SerializerProtocol WRITES_IDX_MAP copy_checkpoint "
        "create_checkpoint empty_checkpoint get_checkpoint_id get_checkpoint_metadata "
        "get_serializable_checkpoint_metadata maybe_add_typed_methods uuid6 writes_sort_key"
    ),
    "stepwell.checkpoint.memory": (
        "BaseCheckpointSaver Checkpoint CheckpointMetadata CheckpointTuple DeltaChannelHistory InMemorySaver "
        "MemorySaver SerializerProtocol WRITES_IDX_MAP get_checkpoint_id get_checkpoint_metadata "
        "writes_sort_key"
    ),
    "stepwell.checkpoint.serde.base": (
        "CipherProtocol SerializerCompat SerializerProtocol UntypedSerializerProtocol maybe_add_typed_methods"
    ),
    "stepwell.checkpoint.serde.encrypted": "EncryptedSerializer",
    "stepwell.checkpoint.serde.jsonplus": "InvalidModuleError JsonPlusSerializer",
    "stepwell.checkpoint.sqlite": (
        "BaseCheckpointSaver Checkpoint CheckpointMetadata CheckpointTuple DeltaChannelHistory "
        "JsonPlusSerializer SerializerProtocol SqliteSaver WRITES_IDX_MAP get_checkpoint_id "
        "get_checkpoint_metadata"
    ),
    "stepwell.checkpoint.sqlite.aio": "AsyncSqliteSaver WRITES_IDX_MAP",
    "stepwell.config": "CONF get_config get_store get_stream_writer",
    "stepwell.constants": "CONF CONFIG_KEY_CHECKPOINTER END START TAG_HIDDEN TAG_NOSTREAM TASKS",
    "stepwell.errors": (
        "EmptyChannelError EmptyInputError ErrorCode GraphBubbleUp GraphDrained GraphInterrupt "
        "GraphRecursionError InvalidUpdateError NodeCancelledError NodeError NodeTimeoutError ParentCommand "
        "TaskNotFound UnknownInterruptError create_error_message is_invalid_resume"
    ),
    "stepwell.func": "entrypoint task",
    "stepwell.graph": "END MessagesState START StateGraph add_messages",
    "stepwell.graph.message": "MessagesState REMOVE_ALL_MESSAGES add_messages push_message",
    "stepwell.graph.state": "CompiledStateGraph END START StateGraph",
    "stepwell.graph.ui": "AnyUIMessage UIMessage delete_ui_message push_ui_message ui_message_reducer",
    "stepwell.managed": "IsLastStep RemainingSteps",
    "stepwell.managed.is_last_step": "IsLastStep IsLastStepManager RemainingSteps RemainingStepsManager",
    "stepwell.pregel": "ChannelWriteEntry NodeBuilder Pregel",
    "stepwell.runtime": "BaseUser CONF DEFAULT_RUNTIME ExecutionInfo RunControl Runtime ServerInfo get_runtime",
    "stepwell.store.base": (
        "AsyncBatchedBaseStore BaseStore GetOp IndexConfig InvalidNamespaceError Item ListNamespacesOp "
        "MatchCondition NOT_PROVIDED NamespacePath NotProvided Op PutOp SearchItem SearchOp TTLConfig "
        "ensure_embeddings get_text_at_path tokenize_path validate_op_namespace"
    ),
    "stepwell.store.base.batch": "AsyncBatchedBaseStore",
    "stepwell.store.memory": (
        "BaseStore GetOp InMemoryStore IndexConfig Item ListNamespacesOp MatchCondition PutOp SearchItem "
        "SearchOp ensure_embeddings get_text_at_path tokenize_path"
    ),
    "stepwell.store.sqlite": "AsyncSqliteStore SqliteStore",
    "stepwell.store.sqlite.aio": "AsyncSqliteStore",
    "stepwell.store.sqlite.base": "BaseSqliteStore SqliteIndexConfig SqliteStore",
    "stepwell.types": (
        "All CacheKey CachePolicy CheckpointPayload CheckpointStreamPart CheckpointTask Checkpointer Command "
        "CustomStreamPart DebugPayload DebugStreamPart Durability GraphOutput Interrupt MessagesStreamPart "
        "NS_SEP Overwrite PregelTask RetryPolicy Send StateSnapshot StateUpdate StreamMode StreamPart "
        "StreamWriter TaskPayload TaskResultPayload TasksStreamPart TimeoutPolicy TracePolicy "
        "UpdatesStreamPart ValuesStreamPart default_retry_on ensure_valid_checkpointer interrupt omit_payload"
    ),
    "stepwell.warnings": (
        "LangGraphDeprecatedSinceV05 LangGraphDeprecatedSinceV10 LangGraphDeprecatedSinceV11 "
        "LangGraphDeprecationWarning"
    ),
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


SIGNATURES = {
    "stepwell.types.Command": "graph update resume goto",
    "stepwell.types.Send": "node arg timeout",
    "stepwell.types.Interrupt": "value id response_schema",
    "stepwell.types.interrupt": "value key response_schema",
    "stepwell.types.RetryPolicy": "initial_interval backoff_factor max_interval max_attempts jitter retry_on",
    "stepwell.types.TimeoutPolicy": "run_timeout idle_timeout refresh_on",
    "stepwell.types.CachePolicy": "key_func ttl",
    "stepwell.types.StateUpdate": "values as_node task_id",
    "stepwell.types.StateSnapshot": "values next config metadata created_at parent_config tasks interrupts",
    "stepwell.types.PregelTask": "id name path error interrupts state result",
    "stepwell.graph.StateGraph": "state_schema context_schema input_schema output_schema",
    "stepwell.graph.message.add_messages": "left right format",
    "stepwell.checkpoint.base.BaseCheckpointSaver.put": "self config checkpoint metadata new_versions",
    "stepwell.checkpoint.base.BaseCheckpointSaver.put_writes": "self config writes task_id task_path",
    "stepwell.checkpoint.base.BaseCheckpointSaver.list": "self config filter before limit",
}


@pytest.mark.parametrize(("path", "parameters"), SIGNATURES.items(), ids=SIGNATURES)
def test_parameters_go_by_the_names_that_user_code_passes(path, parameters):
    found = pkgutil.resolve_name(path)

    assert [name for name in parameters.split() if name not in inspect.signature(found).parameters] == []
