"""WHO ANSWERS: models behind four small protocols, each of a kind."""
