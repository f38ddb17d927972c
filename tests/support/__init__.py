"""What tests share: rigged decks, rounds in a few words, vectors, ruleset variants and oracles."""
