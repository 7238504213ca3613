"""Results as papers, model cards and lm-eval files."""
