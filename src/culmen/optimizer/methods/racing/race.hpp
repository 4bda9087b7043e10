// One race: which members are measured again, and which have lost.
#pragma once
#include <cstddef>
#include <optional>
#include <vector>

#include "culmen/optimizer/methods/racing/ranks.hpp"

namespace culmen::racing {

enum class Elimination : unsigned char { rank, halving };

struct Rules {
  Elimination elimination = Elimination::rank;
  double confidence = 0.95;  ///< of a whole race: its tests share 1 - confidence
  std::size_t rounds_before_test = 5;
  std::size_t rounds_to_confirm = 10;  ///< before this round, no test leaves fewer than two
  std::size_t most_rounds = 30;
  std::size_t wanted = 1;  ///< the race is over when this many are left and confirmed
};

/// Members are measured in rounds. A round is a block: all its members had about the same circumstances. Members leave
/// after rounds_before_test complete rounds, and then after each further quarter:
/// - by rank: members that are worse than the best. The test is Friedman's for more than two members. For two it is
///   Wilcoxon's test or the sign test, each at half the level: outliers weaken the first, small differences the
///   second.
/// - by halving: all but the better half by their medians (Jamieson and Talwalkar, AISTATS 2016); the last two
///   as above.
///
/// A member that fails at first leaves at once. A default (member 0) can only lose by a test.
///
/// The result of a race depends only on the scores, not on the order of their arrival. Only complete rounds count, in
/// order, and none after the one that decides. So quick evaluations count no more than slow ones, even if the duration
/// of an evaluation depends on its value.
class Race {
 public:
  Race(std::size_t members, bool has_default, const Rules& rules);

  /// Receives a repetition (0 to most_rounds - 1), in any order, each at most once for each member.
  void note(std::size_t member, std::size_t repetition, const Outcome& outcome);
  bool has(std::size_t member, std::size_t repetition) const {
    return repetition < scores_[member].size() && scores_[member][repetition];
  }
  bool survives(std::size_t member) const { return survives_[member] != 0; }
  std::vector<std::size_t> survivors() const;
  /// The number of rounds that count so far.
  std::size_t rounds() const { return rounds_; }
  /// The number of repetitions that all survivors have: rounds that count, and those that came after the race was over.
  std::size_t complete() const;
  bool over() const;
  /// Survivors, best first: the default if it survives, then by the sum of ranks.
  std::vector<std::size_t> order() const;
  /// The scores of a survivor in the rounds that count.
  std::vector<Score> scores(std::size_t member) const;

 private:
  Blocks blocks(const std::vector<std::size_t>& members) const;
  void test();
  std::vector<char> losers_of(const std::vector<std::size_t>& members) const;
  std::vector<char> loser_of_two(const std::vector<std::size_t>& members) const;
  std::vector<char> worse_half(const std::vector<std::size_t>& members) const;
  Score median(std::size_t member) const;

  const bool has_default_;
  const Rules rules_;
  const double significance_;  // of each test
  std::size_t rounds_ = 0, next_test_;
  std::vector<char> survives_;
  std::vector<std::vector<std::optional<Score>>> scores_;  // [member][repetition]
  std::vector<std::size_t> in_a_row_;                      // number of repetitions from 0 on without a gap
};

}  // namespace culmen::racing
