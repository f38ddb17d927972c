"""Files that belong to the service but are no part of the Python package."""

from pathlib import Path

_PACKAGE = Path(__file__).parent


def shipped(name: str) -> Path:
    """A file such as ``openapi.yaml``: beside the package in a source tree, within it when installed."""
    beside = _PACKAGE.parent / name
    return beside if beside.is_file() else _PACKAGE / name
