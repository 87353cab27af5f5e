"""The warnings this library gives, as classes to filter by."""

from __future__ import annotations


class StepwellWarning(UserWarning):
    """Something works, but probably not as it was meant."""


class StepwellDeprecationWarning(DeprecationWarning):
    """Something works today and will not in a later version; the message names what to use instead."""


LangGraphDeprecationWarning = StepwellDeprecationWarning
"""The same class under the name that code written for the reference library filters by."""
LangGraphDeprecatedSinceV05 = StepwellDeprecationWarning
LangGraphDeprecatedSinceV10 = StepwellDeprecationWarning
LangGraphDeprecatedSinceV11 = StepwellDeprecationWarning
