#include "culmen/optimizer/methods/racing/ranks.hpp"

#include <algorithm>
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <limits>
#include <numeric>

namespace culmen::racing {
namespace {
constexpr std::size_t most_exact = 50;

template <typename T>
std::vector<double> middle_ranks(std::span<const T> all) {
  std::vector<std::size_t> order(all.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) { return all[a] < all[b]; });
  std::vector<double> ranks(all.size());
  for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    while (end < order.size() && all[order[end]] == all[order[begin]]) ++end;
    for (std::size_t k = begin; k < end; ++k) ranks[order[k]] = static_cast<double>(begin + 1 + end) / 2;
  }
  return ranks;
}

/// The share of all choices of signs whose sum of positive ranks is at most `sum`. Doubled ranks are whole.
double exact_share(const std::vector<double>& ranks, double sum) {
  std::vector<double> share{1};  // by the doubled sum
  for (const double rank : ranks) {
    const auto step = static_cast<std::size_t>(std::lround(2 * rank));
    std::vector<double> next(share.size() + step, 0);
    for (std::size_t s = 0; s < share.size(); ++s) {
      next[s] += share[s] / 2;
      next[s + step] += share[s] / 2;
    }
    share = std::move(next);
  }
  const auto last = std::min(share.size(), static_cast<std::size_t>(std::lround(2 * sum)) + 1);
  return std::accumulate(share.begin(), share.begin() + static_cast<std::ptrdiff_t>(last), 0.0);
}

double normal_share(const std::vector<double>& ranks, double sum) {
  double total = 0, squares = 0;
  for (const double rank : ranks) {
    total += rank;
    squares += rank * rank;
  }
  return boost::math::cdf(boost::math::normal(), (sum - total / 2) / std::sqrt(squares / 4));
}
}  // namespace

Score Score::of(const Outcome& outcome) {
  if (!outcome.ok()) return {std::numeric_limits<double>::infinity(), 0};
  return {outcome.violation > 0 ? outcome.violation : 0, std::isnan(outcome.value) ? 0 : outcome.value};
}

std::vector<double> ranks_of(std::span<const Score> scores) { return middle_ranks(scores); }

Friedman friedman(const Blocks& blocks) {
  const auto k = static_cast<double>(blocks.size()), m = static_cast<double>(blocks[0].size());
  Friedman f{std::vector<double>(blocks[0].size(), 0.0)};
  double squares = 0, between = 0;
  for (const auto& block : blocks) {
    for (std::size_t j = 0; j < block.size(); ++j) {
      f.sums[j] += block[j];
      squares += block[j] * block[j];
    }
  }
  for (const double sum : f.sums) between += std::pow(sum - k * (m + 1) / 2, 2);
  f.spread = squares - k * m * (m + 1) * (m + 1) / 4;
  if (f.spread > 0) f.statistic = (m - 1) * between / f.spread;
  return f;
}

std::vector<char> worse_than_best(const Blocks& blocks, double significance) {
  const auto f = friedman(blocks);
  const auto k = static_cast<double>(blocks.size()), m = static_cast<double>(blocks[0].size());
  std::vector<char> worse(f.sums.size(), 0);
  const boost::math::chi_squared differing(m - 1);
  if (k < 2 || f.spread <= 0 || boost::math::cdf(boost::math::complement(differing, f.statistic)) > significance)
    return worse;
  const double degrees = (k - 1) * (m - 1);
  const double scale = std::sqrt(std::max(0.0, 2 * k * (1 - f.statistic / (k * (m - 1))) * f.spread / degrees));
  const double enough = scale * boost::math::quantile(boost::math::students_t(degrees), 1 - significance / 2);
  const double least = *std::ranges::min_element(f.sums);
  std::ranges::transform(f.sums, worse.begin(), [&](double sum) { return sum > least && sum - least > enough; });
  return worse;
}

Paired signed_rank(std::vector<double> differences) {
  std::erase(differences, 0.0);
  if (differences.empty()) return {};
  std::vector<double> sizes;
  for (const double d : differences) sizes.push_back(std::abs(d));
  const auto ranks = middle_ranks(std::span<const double>(sizes));
  double up = 0, down = 0;
  for (std::size_t k = 0; k < ranks.size(); ++k) (differences[k] > 0 ? up : down) += ranks[k];
  const double least = std::min(up, down);
  const double share = ranks.size() <= most_exact ? exact_share(ranks, least) : normal_share(ranks, least);
  return {std::min(1.0, 2 * share), up - down};
}

Paired sign_test(const std::vector<double>& differences) {
  const auto up = static_cast<double>(std::ranges::count_if(differences, [](double d) { return d > 0; }));
  const auto down = static_cast<double>(std::ranges::count_if(differences, [](double d) { return d < 0; }));
  const std::vector<double> ones(static_cast<std::size_t>(up + down), 1.0);
  return {std::min(1.0, 2 * exact_share(ones, std::min(up, down))), up - down};
}

}  // namespace culmen::racing
