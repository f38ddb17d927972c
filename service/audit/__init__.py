"""Recorded rounds settled again in bulk: on all cores or on a cluster, resumable, in bounded memory.

``reader`` cuts inputs into chunks of whole lines, ``records`` says what a chunk's records are worth,
``processes`` and ``cluster`` have that done elsewhere, ``journal`` adds it up in order and keeps it safe.
"""

from importlib.util import find_spec


class RefusedAudit(Exception):
    """An audit that cannot be made, or not go on; the text says why. ``status`` is the command's."""

    status = 2


class Interrupted(RefusedAudit):
    """An audit that was broken off at the keyboard and can go on."""

    status = 130


def present(module: str, extra: str) -> None:
    """Make sure of a module that comes with an extra. Raises ``RefusedAudit`` naming it."""
    # Not imported yet: it may start threads, which processes that are still to be forked should not see.
    try:
        found = find_spec(module)
    except ModuleNotFoundError:
        found = None
    if found is None:
        cure = f"pip install '.[{extra}]' in the folder of this software"
        raise RefusedAudit(f"this needs {module}, which is not installed: {cure}")
