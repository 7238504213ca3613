"""The report of a run: page, figures, tables, evidence."""
