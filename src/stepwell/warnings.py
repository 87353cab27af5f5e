"""The warnings this library gives, as classes to filter by."""

from __future__ import annotations

import os
import sys
import warnings

_HERE = os.path.dirname(os.path.abspath(__file__)) + os.sep


class StepwellWarning(UserWarning):
    """Something works, but probably not as it was meant."""


class StepwellDeprecationWarning(DeprecationWarning):
    """Something works today and will not in a later version; the message names what to use instead."""


LangGraphDeprecationWarning = StepwellDeprecationWarning
"""The same class under the name that code written for the reference library filters by."""
LangGraphDeprecatedSinceV05 = StepwellDeprecationWarning
LangGraphDeprecatedSinceV10 = StepwellDeprecationWarning
LangGraphDeprecatedSinceV11 = StepwellDeprecationWarning


def warn(message: str, category: type[Warning] = StepwellWarning) -> None:
    """`warnings.warn`, at the line outside of this library that led here."""
    level, frame = 2, sys._getframe(1)
    while frame.f_code.co_filename.startswith(_HERE) and frame.f_back is not None:
        frame = frame.f_back
        level += 1
    warnings.warn(message, category, stacklevel=level)
