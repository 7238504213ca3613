"""goffman asks language models the questions that psychology asks people about stigma.

    instruments ─► models ─► runs ─► lexicons ─► stats
    what is asked  who       what    what words  estimates
                   answers   was     mean
                             answered

Each arrow is a table on disk in the run folder; each stage is a folder; a stage imports only
stages to its left.

    cli.py            one function a command: parse, call, print
    cli_ratings.py    the commands about what words mean: rate, agree
    agree.py          how far raters agree, and the desk on which the rest is settled
    terminal.py       tables in which no text can play tricks
    records.py        the frozen core types
    tables.py         every table's columns: name, type, meaning, and the check for it
    errors.py         the exception tree, and the nearest allowed name
    instruments/      WHAT IS ASKED
      load.py           a folder of TOML and CSV → Instrument
      files.py          reading these with every fault noted, by file and line
      questionnaire.py  items × conditions, read and checked
      coreference.py    sentence frames × occupations, read, checked and drawn
      winobias.py       WinoBias's files → sentence pairs
      sentences.py      a sentence pair, and adjectives put into it
      templates.py      texts with places in braces
      grammar.py        articles and pronouns
      render.py         an instrument → its prompts
      data/             the five instruments
    models/           WHO ANSWERS
      base.py           the protocols: Fills, Classifies
      batches.py        which sentences go through a model together
    lexicons/         WHAT THE WORDS MEAN
      attitudes.py      ratings, shipped and the user's, put on fills
      journal.py        a rater's key presses, each on the disk before the next
      ratings.py        several raters' ratings, read, settled, written
      worklist.py       the words of a run that are to be rated
      desk.py           what lies before one person, and what a post does
      rate.py           the page's server, for this machine only
      page/             the page itself
      data/             the shipped ratings, and how they were made
    stats/            ESTIMATES
      agreement.py      κ, weighted κ, α
"""

__version__ = "0.1.0"
