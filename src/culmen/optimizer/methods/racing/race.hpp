// One race: who is measured again, and who has lost.
#pragma once
#include <cstddef>
#include <optional>
#include <vector>

#include "culmen/optimizer/methods/racing/ranks.hpp"

namespace culmen::racing {

enum class Elimination : unsigned char { rank, halving };

struct Rules {
  Elimination elimination = Elimination::rank;
  double confidence = 0.95;  ///< of a whole race: its tests share what is left of 1
  std::size_t rounds_before_test = 5;
  std::size_t rounds_to_confirm = 10;  ///< before that, no test leaves less than two
  std::size_t most_rounds = 30;
  std::size_t wanted = 1;  ///< the race is over when so many are left, and confirmed
};

/// Members are measured in rounds: a round is a block, in which all of them met about the same circumstances. After
/// rounds_before_test complete rounds, and then after each further quarter, members leave:
/// - by rank: who is worse than the best, by Friedman's test where there are more than two, else by Wilcoxon's test or
///   the sign test, each at half the level: outliers make the one weak, small differences the other;
/// - by halving: all but the better half by their medians (Jamieson and Talwalkar, AISTATS 2016), the last two as
///   above.
/// Who fails at first leaves at once. A default (member 0) loses by a test only.
///
/// What comes of a race depends on the scores alone and not on the order in which they come: only complete rounds
/// count, one after the other, none after the one that decides. So where the duration of an evaluation and its value go
/// together, what is quick counts for no more than what is slow.
class Race {
 public:
  Race(std::size_t members, bool has_default, const Rules& rules);

  /// Repetitions from 0 on, below most_rounds, in any order; each of a member at most once.
  void note(std::size_t member, std::size_t repetition, const Outcome& outcome);
  bool has(std::size_t member, std::size_t repetition) const {
    return repetition < scores_[member].size() && scores_[member][repetition];
  }
  bool survives(std::size_t member) const { return survives_[member] != 0; }
  std::vector<std::size_t> survivors() const;
  /// Rounds that count so far.
  std::size_t rounds() const { return rounds_; }
  /// Repetitions that all survivors have: rounds that count, and those that came after the race was over.
  std::size_t complete() const;
  bool over() const;
  /// Survivors, best first: the default where it survives, then by the sum of ranks.
  std::vector<std::size_t> order() const;
  /// Of a survivor, in the rounds that count.
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
  std::vector<std::size_t> in_a_row_;                      // repetitions from 0 on without a gap
};

}  // namespace culmen::racing
