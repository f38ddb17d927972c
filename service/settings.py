"""Settings in whole numbers, as the environment gives them."""

import os
from typing import Final

DEFAULTS: Final = {"WEB_CONCURRENCY": 2, "SENDER_TIMEOUT": 20}
"""Each of them, and what it is where the environment does not say."""


class MalformedSetting(ValueError):
    """A setting that is no whole number from 1; the text names it."""


def whole_setting(name: str) -> int:
    """The whole number from 1 to which the environment sets a name. Raises ``MalformedSetting``."""
    text = os.environ.get(name, str(DEFAULTS[name]))
    if not text.isdecimal() or int(text) < 1:
        raise MalformedSetting(f"{name} must be a whole number from 1; got {text!r}")
    return int(text)
