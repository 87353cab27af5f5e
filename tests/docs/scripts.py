"""The scripts that write pages, as modules."""

from __future__ import annotations

import importlib.util
import sys
from types import ModuleType

from tests.docs.pages import DOCS


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module
