// Rank tests: whether candidates that were measured in the same rounds differ.
#pragma once
#include <compare>
#include <cstddef>
#include <span>
#include <vector>

#include "culmen/evaluation/outcome.hpp"

namespace culmen::racing {

/// One evaluation, reduced to its order: the smaller one is better, as in better(Outcome, Outcome).
struct Score {
  double violation = 0;  ///< infinite: it failed
  double value = 0;      ///< 0 if it failed or has none
  static Score of(const Outcome& outcome);
  bool feasible() const { return violation == 0; }
  auto operator<=>(const Score&) const = default;
};

/// Ranks from 1 on; equal scores share their middle rank.
std::vector<double> ranks_of(std::span<const Score> scores);

/// A block holds the ranks of all candidates in one round; k blocks of m candidates.
using Blocks = std::vector<std::vector<double>>;

/// Friedman's two-way analysis of variance by ranks with Conover's correction for ties (Conover, Practical
/// Nonparametric Statistics, 1999, 5.8).
struct Friedman {
  std::vector<double> sums;  ///< of ranks, one a candidate
  double statistic = 0;      ///< about chi-squared with m - 1 degrees of freedom if no candidate differs
  double spread = 0;         ///< sum of squared ranks less k m (m + 1)² / 4; 0: all are equal in every block
};
Friedman friedman(const Blocks& blocks);

/// One flag for each candidate: whether it is worse than the one with the least rank sum at this level of significance.
/// Uses Conover's comparisons if Friedman's test finds any difference (Birattari, Stützle, Paquete and Varrentrapp,
/// GECCO 2002). m ≥ 2.
std::vector<char> worse_than_best(const Blocks& blocks, double significance);

/// The result of a test of two candidates by their differences.
struct Paired {
  double p = 1;       ///< two-sided
  double favour = 0;  ///< < 0: the differences tend to be negative
};
/// Wilcoxon's signed-rank test without differences of zero (Wilcoxon, Biometrics Bulletin 1 (1945) 80). Exact for up to
/// 50 differences, also with ties; for more it uses the normal distribution.
Paired signed_rank(std::vector<double> differences);
/// Uses only the signs: weaker, but large outliers have no special weight (Conover 1999, 3.4). Exact.
Paired sign_test(const std::vector<double>& differences);

}  // namespace culmen::racing
