"""The contracts that were released, each in a file named by its version, byte for byte as it was served."""

from pathlib import Path
from typing import Any, Final

import yaml

FOLDER: Final = Path(__file__).parent


def released(folder: Path = FOLDER) -> dict[str, dict[str, Any]]:
    """Every released contract by its version."""
    return {path.stem: yaml.safe_load(path.read_bytes()) for path in sorted(folder.glob("*.yaml"))}


def keep(contract: bytes, folder: Path = FOLDER, again: bool = False) -> Path:
    """Keep a contract under its own version; the file that holds it.

    Raises ``FileExistsError`` where another one was released under that version, unless it is kept ``again``.
    """
    path = folder / f"{yaml.safe_load(contract)['info']['version']}.yaml"
    if path.exists() and path.read_bytes() != contract and not again:
        raise FileExistsError(f"{path.name} holds another contract; a released one never changes")
    path.write_bytes(contract)
    return path
