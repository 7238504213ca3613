"""WHO ANSWERS: masked models and classifiers behind three small protocols."""
