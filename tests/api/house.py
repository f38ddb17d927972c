"""A house's own ruleset file."""

from pathlib import Path

from service.registry import BUILT_IN

FLUSH = ["2d", "5d", "8d", "Jd", "Kd"]


def house_ruleset(folder: Path, id: str = "house-1", flush: str = "6") -> Path:
    """The casino's rules under another id, with other odds of a flush; a text makes the file a broken one."""
    rules = (BUILT_IN / "casino-1.toml").read_text(encoding="utf-8")
    head, table, rest = rules.replace('id = "casino-1"', f'id = "{id}"', 1).partition("[bet.odds]")
    before, row, after = rest.partition("flush           = { value = 5,")
    assert row, "the casino's file reads otherwise now"
    path = folder / f"{id}.toml"
    path.write_text(head + table + before + row.replace("5", flush) + after, encoding="utf-8")
    return path
