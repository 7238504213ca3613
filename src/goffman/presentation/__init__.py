"""HOW NUMBERS ARE SHOWN: sentences, figures, tables and evidence that measures choose from."""
