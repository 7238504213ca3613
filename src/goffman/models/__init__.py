"""WHO ANSWERS: models, each of one kind, behind small protocols."""
