// Tests by ranks: whether candidates that were measured side by side differ.
#pragma once
#include <compare>
#include <cstddef>
#include <span>
#include <vector>

#include "culmen/evaluation/outcome.hpp"

namespace culmen::racing {

/// One evaluation, where only the order counts: the lesser is the better, as better(Outcome, Outcome) says.
struct Score {
  double violation = 0;  ///< infinite: it failed
  double value = 0;      ///< 0 where it failed or has none
  static Score of(const Outcome& outcome);
  bool feasible() const { return violation == 0; }
  auto operator<=>(const Score&) const = default;
};

/// Ranks from 1 on; equals share the middle one of theirs.
std::vector<double> ranks_of(std::span<const Score> scores);

/// A block holds the ranks of all candidates in one round; k blocks of m candidates.
using Blocks = std::vector<std::vector<double>>;

/// Friedman's two-way analysis of variance by ranks with Conover's correction for ties (Conover, Practical
/// Nonparametric Statistics, 1999, 5.8).
struct Friedman {
  std::vector<double> sums;  ///< of ranks, one a candidate
  double statistic = 0;      ///< about chi-squared with m - 1 degrees of freedom where no candidate differs
  double spread = 0;         ///< sum of squared ranks less k m (m + 1)² / 4; 0: all are equal in every block
};
Friedman friedman(const Blocks& blocks);

/// One flag a candidate: whether it is worse than the one of least rank sum at this level of significance, by Conover's
/// comparisons, if Friedman's test finds any difference (Birattari, Stützle, Paquete and Varrentrapp, GECCO 2002). m
/// ≥ 2.
std::vector<char> worse_than_best(const Blocks& blocks, double significance);

/// What a test of two candidates by their differences finds.
struct Paired {
  double p = 1;       ///< two-sided
  double favour = 0;  ///< < 0: the differences tend to be negative
};
/// Wilcoxon's signed-rank test, differences of zero left out (Wilcoxon, Biometrics Bulletin 1 (1945) 80); exact up to
/// 50 of them, also with ties, beyond by the normal distribution.
Paired signed_rank(std::vector<double> differences);
/// By the signs alone: weaker, but large outliers count no more than all else (Conover 1999, 3.4). Exact.
Paired sign_test(const std::vector<double>& differences);

}  // namespace culmen::racing
