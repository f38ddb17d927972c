"""Russian Poker rounds, replayed from a seed and settled."""

__version__ = "1.0.0"
