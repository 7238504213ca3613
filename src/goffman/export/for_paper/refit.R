# Refits the main contrasts of this audit from the rows of single prompts, in base R:
#
#   Rscript refit.R
#
# For each contrast it prints the difference, t, df and p of goffman (estimates.csv) and those of R
# (data-*.csv), and stops with an error if they are not the same. If the package lme4 is installed,
# it also fits a mixed model of the same prompts, whose numbers need not be the same.

read <- function(file) {
  read.csv(file, na.strings = "", check.names = FALSE, encoding = "UTF-8",
           stringsAsFactors = FALSE)
}

# t, its degrees of freedom and p, from the parts of the variance of a difference (Satterthwaite).
by_t <- function(difference, variance, parts) {
  known <- parts[parts[, "df"] > 0, , drop = FALSE]
  df <- variance^2 / sum(known[, "value"]^2 / known[, "df"])
  list(difference = difference, t = difference / sqrt(variance), df = df,
       variance = variance, parts = parts)
}
part <- function(value, df) cbind(value = value, df = df)
with_p <- function(found) {
  c(difference = found$difference, t = found$t, df = found$df,
    p = 2 * pt(-abs(found$t), found$df))
}

# One group of conditions minus another; conditions, items and wordings are all sampled.
# Each argument: an array of conditions x items x wordings, without gaps.
groups <- function(first, second) {
  for (side in 2:3) {
    if (dim(first)[side] < 3) {  # too few to be a sample: taken as given
      keep <- setdiff(1:3, side)
      shorter <- function(one) {
        size <- dim(one)
        size[side] <- 1
        array(apply(one, keep, mean), size)
      }
      first <- shorter(first)
      second <- shorter(second)
    }
  }
  items <- dim(first)[2]
  wordings <- dim(first)[3]
  of_conditions <- function(one) part(var(apply(one, 1, mean)) / dim(one)[1], dim(one)[1] - 1)
  within <- function(one) {
    n <- dim(one)[1]
    rest <- sweep(one, 1, apply(one, 1, mean))
    rest <- sweep(rest, 2:3, apply(one, 2:3, mean)) + mean(one)
    ci <- apply(rest, 1:2, mean)
    cw <- apply(rest, c(1, 3), mean)
    ciw <- sweep(sweep(rest, 1:2, ci), c(1, 3), cw)
    dfs <- (n - 1) * c(items - 1, wordings - 1, (items - 1) * (wordings - 1))
    sums <- c(-sum(ci^2) * wordings, -sum(cw^2) * items, sum(ciw^2))
    part(ifelse(dfs > 0, sums / pmax(dfs, 1) / length(one), 0), dfs)
  }
  gap <- apply(first, 2:3, mean) - apply(second, 2:3, mean)
  rest <- sweep(sweep(gap, 1, rowMeans(gap)), 2, colMeans(gap)) + mean(gap)
  spread <- function(x) if (length(x) > 1) var(x) / length(x) else 0
  both <- (items - 1) * (wordings - 1)
  own <- rbind(of_conditions(first), of_conditions(second))
  parts <- rbind(
    own,
    part(spread(rowMeans(gap)), items - 1),
    part(spread(colMeans(gap)), wordings - 1),
    part(if (both > 0) -sum(rest^2) / both / length(gap) else 0, both),
    within(first), within(second)
  )
  variance <- max(sum(parts[, "value"]), sum(own[, "value"]))
  found <- by_t(mean(first) - mean(second), variance, parts)
  found$df <- max(found$df, min(parts[parts[, "value"] > 0, "df"]))
  with_p(found)
}

# Female minus male in the same sentences: a table of items x conditions, both of them sampled.
genders <- function(table) {
  rows <- nrow(table)
  columns <- ncol(table)
  rest <- sweep(sweep(table, 1, rowMeans(table)), 2, colMeans(table)) + mean(table)
  df <- (rows - 1) * (columns - 1)
  cells <- sum(rest^2) / df / length(table)
  parts <- rbind(part(var(rowMeans(table)) / rows, rows - 1),
                 part(var(colMeans(table)) / columns, columns - 1),
                 part(-cells, df))
  with_p(by_t(mean(table), max(sum(parts[, "value"]), cells), parts))
}

# One group of descriptions minus another under the same items: tables of items x conditions, items
# and conditions of both sampled. Items with a gap are left out; a second group of one or two is
# taken as given.
described <- function(first, second) {
  whole <- !apply(is.na(first), 1, any) & !apply(is.na(second), 1, any)
  first <- first[whole, , drop = FALSE]
  second <- second[whole, , drop = FALSE]
  if (ncol(second) < 3) return(genders(first - rowMeans(second)))
  rows <- nrow(first)
  of_columns <- function(one) {
    rest <- sweep(sweep(one, 1, rowMeans(one)), 2, colMeans(one)) + mean(one)
    df <- (rows - 1) * (ncol(one) - 1)
    rbind(part(var(colMeans(one)) / ncol(one), ncol(one) - 1),
          part(-sum(rest^2) / df / length(one), df))
  }
  parts <- rbind(part(var(rowMeans(first) - rowMeans(second)) / rows, rows - 1),
                 of_columns(first), of_columns(second))
  cells <- -sum(parts[parts[, "value"] < 0, "value"])
  with_p(by_t(mean(first) - mean(second), max(sum(parts[, "value"]), cells), parts))
}

column <- function(quantity, variant) {
  gsub("[^A-Za-z0-9]+", "_", if (is.na(variant)) quantity else paste0(quantity, "_", variant))
}
cube <- function(rows, value, group) {
  rows <- rows[!is.na(rows$group) & rows$group == group & !is.na(rows[[value]]), ]
  tapply(rows[[value]], list(rows$condition, rows$item, rows$wording), mean)
}

file_of <- function(one) {
  further <- one$mode %in% c("completion", "choice", "reply", "write", "pronouns")
  paste0("data-", one$instrument, if (further) paste0("-", one$mode), ".csv")
}

refit <- function(one) {
  rows <- read(file_of(one))
  rows <- rows[rows$model == one$model, ]
  if (one$kind == "groups") {
    value <- column(one$quantity, one$variant)
    # Descriptions are in one group each, and all are asked the same items.
    if (one$test == "crossed t" && grepl("vignette-code", one$measure)) {
      asked <- sort(unique(rows$item[!is.na(rows[[value]])]))
      sides <- lapply(c(one$first, one$second), function(group) {
        of <- rows[!is.na(rows$group) & rows$group == group & rows$item %in% asked, ]
        tapply(of[[value]], list(factor(of$item, asked), of$condition), mean, na.rm = TRUE)
      })
      return(described(sides[[1]], sides[[2]]))
    }
    sides <- list(cube(rows, value, one$first), cube(rows, value, one$second))
    # Only conditions that have every item and wording.
    sides <- lapply(sides, function(side) side[!apply(is.na(side), 1, any), , , drop = FALSE])
    return(groups(sides[[1]], sides[[2]]))
  }
  rows <- rows[rows$group == one$group & rows$wording == rows$wording[1], ]
  if (!is.na(one$dimension)) rows <- rows[rows$dimension == one$dimension, ]
  disparity <- rows[[column("female", one$variant)]] - rows[[column("male", one$variant)]]
  genders(tapply(disparity, list(rows$item, rows$condition), mean))
}

estimates <- read("estimates.csv")
main <- estimates[!is.na(estimates$family) & estimates$family == "primary" &
                    estimates$test %in% c("crossed t", "three-way crossed t",
                                          "t over conditions") &
                    estimates$kind %in% c("groups", "genders") & !is.na(estimates$statistic), ]
if (nrow(main) == 0) {
  cat("This audit has no main contrast that this file refits: one group minus another, or female",
      "minus male.\n")
  quit(status = 0)
}
failed <- FALSE
for (place in seq_len(nrow(main))) {
  one <- main[place, ]
  here <- refit(one)
  there <- c(one$difference, one$statistic, one$df, one$p)
  same <- isTRUE(all.equal(unname(here), there, tolerance = 1e-6))
  failed <- failed || !same
  cat(one$name, "\n", sprintf("  goffman: difference %.9g, t %.9g, df %.9g, p %.9g\n", there[1],
      there[2], there[3], there[4]), sprintf("  R:       difference %.9g, t %.9g, df %.9g, p %.9g",
      here["difference"], here["t"], here["df"], here["p"]), "\n  ",
      if (same) "the same" else "NOT THE SAME", "\n", sep = "")
}

first <- main[main$kind == "groups", ][1, ]
if (!is.na(first$name) && requireNamespace("lme4", quietly = TRUE)) {
  rows <- read(file_of(first))
  rows <- rows[rows$model == first$model & rows$group %in% c(first$first, first$second), ]
  rows$value <- rows[[column(first$quantity, first$variant)]]
  rows$group <- factor(rows$group, levels = c(first$second, first$first))
  cat("\nA mixed model of the same prompts (lme4), for", first$name, "\n")
  # What there is only one of cannot vary. A condition is in one group; the difference between the
  # groups may be another in each item and wording, which goffman's test allows for, too.
  random <- Filter(function(name) length(unique(rows[[name]])) > 1,
                   c("condition", "item", "wording"))
  terms <- ifelse(random == "condition", "(1 | condition)", paste0("(group | ", random, ")"))
  model <- as.formula(paste("value ~ group +", paste(terms, collapse = " + ")))
  print(summary(lme4::lmer(model, data = rows)))
}
if (failed) stop("a contrast is not the same as goffman's")
