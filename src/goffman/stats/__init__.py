"""ESTIMATES: arrays in, an estimate out."""
