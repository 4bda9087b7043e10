#include "culmen/optimizer/methods/racing/race.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace culmen::racing {
namespace {
std::size_t after(std::size_t rounds, std::size_t most) { return std::min(most, rounds + (rounds + 3) / 4); }

std::size_t first_test(const Rules& rules) { return std::min(rules.rounds_before_test, rules.most_rounds); }

std::size_t tests(const Rules& rules) {
  std::size_t n = 1;
  for (auto at = first_test(rules); at < rules.most_rounds; at = after(at, rules.most_rounds)) ++n;
  return n;
}

/// Infinite if only one of them is feasible.
double difference(const Score& a, const Score& b) {
  if (a.feasible() && b.feasible()) return a.value - b.value;
  return a == b ? 0 : (a < b ? -1 : 1) * std::numeric_limits<double>::infinity();
}
}  // namespace

Race::Race(std::size_t members, bool has_default, const Rules& rules)
    : has_default_(has_default),
      rules_(rules),
      significance_((1 - rules.confidence) / static_cast<double>(tests(rules))),
      next_test_(first_test(rules)),
      survives_(members, 1),
      scores_(members),
      in_a_row_(members, 0) {}

void Race::note(std::size_t member, std::size_t repetition, const Outcome& outcome) {
  auto& mine = scores_[member];
  if (mine.size() <= repetition) mine.resize(repetition + 1);
  mine[repetition] = Score::of(outcome);
  auto& row = in_a_row_[member];
  while (row < mine.size() && mine[row]) ++row;
  const bool has_value = outcome.ok() && !std::isnan(outcome.value);
  if (repetition == 0 && !has_value) survives_[member] = 0;
  while (!over() && rounds_ < complete()) {
    if (++rounds_ < next_test_) continue;
    test();
    next_test_ = next_test_ == rules_.most_rounds ? 0 : after(next_test_, rules_.most_rounds);
  }
}

std::vector<std::size_t> Race::survivors() const {
  std::vector<std::size_t> out;
  for (std::size_t j = 0; j < survives_.size(); ++j)
    if (survives_[j]) out.push_back(j);
  return out;
}

std::size_t Race::complete() const {
  std::size_t least = rules_.most_rounds;
  for (std::size_t j = 0; j < survives_.size(); ++j)
    if (survives_[j]) least = std::min(least, in_a_row_[j]);
  return least;
}

bool Race::over() const {
  const auto left = static_cast<std::size_t>(std::ranges::count(survives_, 1));
  if (left == 0 || next_test_ == 0) return true;
  const auto least = std::clamp<std::size_t>(rules_.rounds_to_confirm, 1, rules_.most_rounds);
  return left <= rules_.wanted && rounds_ >= least;
}

std::vector<std::size_t> Race::order() const {
  auto members = survivors();
  if (members.empty() || rounds_ == 0) return members;
  const auto sums = friedman(blocks(members)).sums;
  std::vector<std::size_t> places(members.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  const auto is_default = [&](std::size_t p) { return has_default_ && members[p] == 0; };
  std::ranges::stable_sort(places, [&](std::size_t a, std::size_t b) {
    return is_default(a) != is_default(b) ? is_default(a) : sums[a] < sums[b];
  });
  for (auto& place : places) place = members[place];
  return places;
}

std::vector<Score> Race::scores(std::size_t member) const {
  std::vector<Score> out;
  for (std::size_t r = 0; r < rounds_; ++r) out.push_back(*scores_[member][r]);
  return out;
}

Blocks Race::blocks(const std::vector<std::size_t>& members) const {
  Blocks out;
  std::vector<Score> block(members.size());
  for (std::size_t r = 0; r < rounds_; ++r) {
    std::ranges::transform(members, block.begin(), [&](std::size_t j) { return *scores_[j][r]; });
    out.push_back(ranks_of(block));
  }
  return out;
}

void Race::test() {
  const auto members = survivors();
  if (members.size() < 2) return;
  auto lose = losers_of(members);
  const auto left = static_cast<std::size_t>(std::ranges::count(lose, 0));
  if (left < 2 && rounds_ < rules_.rounds_to_confirm) {
    auto second = lose.size();
    const auto sums = friedman(blocks(members)).sums;
    for (std::size_t j = 0; j < lose.size(); ++j)
      if (lose[j] && (second == lose.size() || sums[j] < sums[second])) second = j;
    lose[second] = 0;
  }
  for (std::size_t j = 0; j < members.size(); ++j)
    if (lose[j]) survives_[members[j]] = 0;
}

std::vector<char> Race::losers_of(const std::vector<std::size_t>& members) const {
  if (members.size() == 2) return loser_of_two(members);
  if (rules_.elimination == Elimination::halving) return worse_half(members);
  return worse_than_best(blocks(members), significance_);
}

std::vector<char> Race::loser_of_two(const std::vector<std::size_t>& members) const {
  std::vector<double> differences;
  for (std::size_t r = 0; r < rounds_; ++r)
    differences.push_back(difference(*scores_[members[0]][r], *scores_[members[1]][r]));
  const auto by_ranks = signed_rank(differences), by_signs = sign_test(differences);
  const auto& surer = by_ranks.p <= by_signs.p ? by_ranks : by_signs;
  if (surer.p > significance_ / 2) return {0, 0};
  return surer.favour < 0 ? std::vector<char>{0, 1} : std::vector<char>{1, 0};
}

std::vector<char> Race::worse_half(const std::vector<std::size_t>& members) const {
  std::vector<std::pair<Score, std::size_t>> others;
  for (std::size_t j = 0; j < members.size(); ++j)
    if (!has_default_ || members[j] != 0) others.emplace_back(median(members[j]), j);
  std::ranges::sort(others);
  std::vector<char> lose(members.size(), 0);
  for (std::size_t k = (others.size() + 1) / 2; k < others.size(); ++k) lose[others[k].second] = 1;
  return lose;
}

Score Race::median(std::size_t member) const {
  auto sorted = scores(member);
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>((rounds_ - 1) / 2);
  std::ranges::nth_element(sorted, middle);
  return *middle;
}

}  // namespace culmen::racing
