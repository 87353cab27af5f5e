"""What a class or function says of its own attributes and parameters, on every Python."""

from __future__ import annotations

import inspect
import sys
from importlib import import_module
from typing import Any


def own_annotations(holder: Any) -> dict[str, Any]:
    """The annotations that `holder` itself carries, those of base classes left out.

    A name that is not known (yet) stands as text, or as a ForwardRef from Python 3.14 on, where annotations are worked
    out when somebody asks.
    """
    if sys.version_info < (3, 14):
        return inspect.get_annotations(holder)
    annotationlib = import_module("annotationlib")
    return dict(annotationlib.get_annotations(holder, format=annotationlib.Format.FORWARDREF))


def python_signature(function: Any) -> inspect.Signature:
    """`inspect.signature`, also where a name in the annotations is not known. Raises what that raises."""
    if sys.version_info < (3, 14):
        return inspect.signature(function)
    late: Any = {"annotation_format": import_module("annotationlib").Format.FORWARDREF}
    return inspect.signature(function, **late)


def text_of(annotation: Any) -> Any:
    """The text of an annotation that is not resolved; anything else as it is."""
    return getattr(annotation, "__forward_arg__", annotation)
