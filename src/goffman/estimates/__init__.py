"""CONTRASTS: which scores are set against which, each with test, effect and interval."""
