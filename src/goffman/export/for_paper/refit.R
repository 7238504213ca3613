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

# One group of conditions minus another, or one table of differences, with an interval for other
# conditions, items and wordings: three crossed ways of clustering, CR2 over categories of
# conditions. tables: arrays of conditions x items x wordings without gaps; clusters: of each its
# conditions' categories; weights: what the mean of each table counts.
crossed <- function(tables, clusters, weights = c(1, -1)) {
  few <- (dim(tables[[1]]) < 3) & c(FALSE, TRUE, TRUE)  # too few to be a sample: taken as given
  shorter <- function(one) {
    size <- ifelse(few, 1, dim(one))
    array(apply(one, which(!few), mean), size)
  }
  # All of one category show how much such conditions vary, and no more.
  clusters <- lapply(clusters, function(of) {
    if (length(unique(of)) > 1) of else paste(of, seq_along(of))
  })
  labels <- unique(unlist(clusters))
  tables <- lapply(tables, shorter)
  size <- dim(tables[[1]])[2:3]
  gaps <- matrix(0, size[1], size[2])
  scores <- matrix(0, length(labels), prod(size))
  spread <- matrix(0, length(labels), length(labels))
  for (side in seq_along(tables)) {
    weight <- weights[side]
    n <- dim(tables[[side]])[1]
    values <- matrix(tables[[side]], n)
    member <- outer(labels, clusters[[side]], "==") / n
    share <- rowSums(member)
    scale <- 1 / sqrt(1 - share)
    means <- colMeans(values)
    gaps <- gaps + weight * matrix(means, size[1])
    scores <- scores + weight * (member * scale) %*% sweep(values, 2, means)
    own <- rowMeans(values)
    variance <- weight^2 * max(mean((own - mean(own))^2), 1e-60) / max(n - 1, 1)
    spread <- spread + variance * (diag(share * scale^2, length(share)) -
                                     outer(share * scale, share * scale))
  }
  df <- sum(diag(spread))^2 / sum(spread^2)
  # The parts of the variance with and without items and wordings, and with their products.
  parts <- function(table, sign, df, of_mean) {
    table <- array(table, c(length(table) / prod(size), size))
    both <- apply(table, 1, mean)
    by_item <- sweep(apply(table, 1:2, mean), 1, both)
    by_wording <- sweep(apply(table, c(1, 3), mean), 1, both)
    rest <- sweep(table, 1, both)
    rest <- sweep(sweep(rest, 1:2, by_item), c(1, 3), by_wording)
    sums <- c(sum(both^2), sum(by_item^2) / size[1], sum(by_wording^2) / size[2],
              sum(rest^2) / prod(size))
    free <- c(1, size[1] - 1, size[2] - 1, prod(size - 1))
    known <- free > 0 & c(of_mean, TRUE, TRUE, TRUE)
    cbind(value = sign * c(1, -1, -1, 1) * sums / free, df = df * free)[known, , drop = FALSE]
  }
  each <- rbind(parts(scores, 1, df, TRUE), parts(gaps, -1, 1, FALSE))
  variance <- max(sum(each[, "value"]), each[1, "value"])
  df <- max(variance^2 / sum(each[, "value"]^2 / each[, "df"]),
            min(each[each[, "value"] > 0, "df"]))
  t <- mean(gaps) / sqrt(variance)
  c(difference = mean(gaps), t = t, df = df, p = 2 * pt(-abs(t), df))
}

# The same where categories are given, and conditions are sampled within them: each category of a
# table is a table of its own. With fewer than three conditions in any, all of a table are one sample.
within_categories <- function(tables, clusters) {
  parts <- list()
  weights <- c()
  for (side in seq_along(tables)) {
    of <- clusters[[side]]
    names <- if (min(table(of)) >= 3) as.list(sort(unique(of))) else list(of)
    for (some in names) {
      there <- of %in% some
      parts <- c(parts, list(tables[[side]][there, , , drop = FALSE]))
      weights <- c(weights, c(1, -1)[side] * mean(there))
    }
  }
  units <- lapply(seq_along(parts), function(at) paste(at, seq_len(dim(parts[[at]])[1])))
  crossed(parts, units, weights)
}

# The tables without gaps: without the conditions that have one, or without the items, whichever
# leaves more. What nobody was asked is no gap.
complete <- function(tables, clusters, test = crossed) {
  asked <- Reduce(`|`, lapply(tables, function(one) apply(!is.na(one), 2:3, any)))
  tables <- lapply(tables, function(one) {
    one[, apply(asked, 1, any), apply(asked, 2, any), drop = FALSE]
  })
  whole <- lapply(tables, function(one) !apply(is.na(one), 1, any))
  items <- Reduce(`&`, lapply(tables, function(one) !apply(is.na(one), 2, any)))
  if (min(sapply(whole, mean)) >= mean(items)) {
    return(test(Map(function(one, of) one[of, , , drop = FALSE], tables, whole),
                Map(`[`, clusters, whole)))
  }
  test(lapply(tables, function(one) one[, items, , drop = FALSE]), clusters)
}

column <- function(quantity, variant) {
  gsub("[^A-Za-z0-9]+", "_", if (is.na(variant)) quantity else paste0(quantity, "_", variant))
}
cube <- function(rows, values) {
  known <- !is.na(values)
  in_all <- function(of) factor(of[known], sort(unique(of)))
  tapply(values[known], list(rows$condition[known], in_all(rows$item), in_all(rows$wording)), mean)
}
categories <- function(rows, table) {
  names <- rownames(table)
  of <- rows$category[match(names, rows$condition)]
  if (is.null(of)) names else ifelse(is.na(of), names, of)
}

file_of <- function(one) {
  further <- one$mode %in% c("completion", "choice", "reply", "write", "pronouns")
  paste0("data-", one$instrument, if (further) paste0("-", one$mode), ".csv")
}

refit <- function(one) {
  rows <- read(file_of(one))
  if (!is.null(rows$family)) {
    # Wordings of one family are near-copies: they count once, by their mean.
    rows$wording <- ifelse(is.na(rows$family), rows$wording, rows$family)
  }
  rows <- rows[rows$model == one$model & !is.na(rows$group), ]
  if (one$kind == "groups") {
    rows <- rows[rows$group %in% c(one$first, one$second), ]
    value <- rows[[column(one$quantity, one$variant)]]
    of <- lapply(c(one$first, one$second), function(group) rows$group == group)
    sides <- lapply(of, function(here) {
      kept <- value
      kept[!here] <- NA
      cube(rows, kept)
    })
    clusters <- lapply(sides, function(side) categories(rows, side))
    if (grepl("vignette-code", one$measure) && nrow(sides[[2]]) < 3) {
      # Fewer than three descriptions to compare with are taken as given.
      beside <- apply(sides[[2]], 2:3, mean)
      sides <- list(sweep(sides[[1]], 2:3, beside))
      clusters <- clusters[1]
    }
    described <- grepl("vignette-code", one$measure)
    return(complete(sides, clusters, if (described) within_categories else crossed))
  }
  rows <- rows[rows$group == one$group & rows$wording == rows$wording[1], ]
  if (!is.na(one$dimension)) rows <- rows[rows$dimension == one$dimension, ]
  disparity <- rows[[column("female", one$variant)]] - rows[[column("male", one$variant)]]
  table <- cube(rows, disparity)
  complete(list(table), list(categories(rows, table)))
}

estimates <- read("estimates.csv")
main <- estimates[!is.na(estimates$family) & estimates$family == "primary" &
                    estimates$test == "crossed t" &
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
