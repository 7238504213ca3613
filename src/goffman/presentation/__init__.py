"""How numbers are shown: the sentences, figures, tables and evidence that measures choose from."""
