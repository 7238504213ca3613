"""WHAT PEOPLE READ: figures, tables and the page, all from the tables of a run."""
