"""The game itself: cards, hands, rulesets as data, the round and its settlement. Integers only, no I/O."""

ENGINE_VERSION = "1.0.0"
"""Version of the results: it changes whenever any round would be settled or described differently."""
