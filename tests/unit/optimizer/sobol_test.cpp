#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "culmen/base/error.hpp"
#include "unit/optimizer/study.hpp"

namespace culmen {
namespace {
std::vector<std::vector<double>> points(std::size_t n, std::size_t dimensions, std::uint64_t seed) {
  const auto optimizer = make_optimizer("sobol", cube(dimensions, 0, 1), seed);
  std::vector<Candidate> candidates;
  optimizer->ask(n, candidates);
  std::vector<std::vector<double>> out;
  for (auto& c : candidates) out.push_back(std::move(c.x));
  return out;
}

std::uint64_t bits(double u) { return static_cast<std::uint64_t>(std::ldexp(u, 53)); }

/// Point k over 1024, as scipy 1.17.1 gives it: qmc.Sobol(3667, scramble=False).random(1024)[k, dimension] * 1024.
struct Row {
  std::size_t dimension;
  std::array<std::uint64_t, 8> values;
};
constexpr std::array<std::size_t, 8> rows_of{1, 2, 3, 5, 10, 100, 511, 1023};
constexpr std::array<Row, 8> by_scipy{{
    {0, {512, 768, 256, 896, 960, 424, 2, 1}},
    {1, {512, 256, 768, 896, 64, 264, 514, 771}},
    {2, {512, 256, 768, 128, 704, 792, 418, 627}},
    {6, {512, 256, 768, 896, 192, 24, 762, 143}},
    {63, {512, 768, 256, 640, 448, 664, 514, 41}},
    {499, {512, 256, 768, 128, 192, 504, 118, 485}},
    {1110, {512, 768, 256, 384, 576, 472, 314, 603}},
    {3666, {512, 256, 768, 128, 576, 520, 750, 499}},
}};

TEST(Sobol, is_the_sequence_of_joe_and_kuo_up_to_its_shift) {
  const auto p = points(1024, 3667, 4);
  for (const auto& row : by_scipy) {
    for (std::size_t k = 0; k < rows_of.size(); ++k) {
      const auto unshifted = bits(p[rows_of[k]][row.dimension]) ^ bits(p[0][row.dimension]);
      EXPECT_EQ(unshifted, row.values[k] << 43) << "dimension " << row.dimension << ", point " << rows_of[k];
    }
  }
}

TEST(Sobol, puts_one_point_into_each_interval_whatever_the_seed) {
  for (const std::uint64_t seed : {0, 1, 99}) {
    const auto p = points(256, 64, seed);
    for (std::size_t i = 0; i < 64; ++i) {
      std::array<int, 256> counts{};
      for (const auto& x : p) ++counts[static_cast<std::size_t>(x[i] * 256)];
      for (const int count : counts) ASSERT_EQ(count, 1) << "seed " << seed << ", dimension " << i;
    }
  }
}

TEST(Sobol, refuses_more_parameters_than_it_has_numbers_for) {
  try {
    make_optimizer("sobol", cube(3668, 0, 1), 1);
    FAIL() << "3668 parameters were accepted";
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(),
                 "optimizer 'sobol' takes at most 3667 parameters, the space has 3668; use 'random' or 'cmaes'");
  }
}
}  // namespace
}  // namespace culmen
