#include "culmen/optimizer/methods/cmaes/uncertainty.hpp"

#include <gtest/gtest.h>

#include <set>

#include "culmen/base/random.hpp"
#include "unit/optimizer/functions.hpp"
#include "unit/optimizer/study.hpp"

namespace culmen {
namespace {
using cmaes::Noise;
using cmaes::Uncertainty;
using Members = std::vector<std::optional<Standing>>;

Standing ok(double value) { return {Standing::Fate::ok, value}; }

/// After this number of generations of ten members. Values grow by one from member to member, and fall by `fall` from
/// generation to generation; `second` gives the second values.
template <typename Second>
Uncertainty after(int generations, Noise noise, double fall, Second second) {
  Uncertainty out(noise);
  for (int g = 0; g < generations; ++g) {
    Members members;
    for (int k = 0; k < 10; ++k) members.emplace_back(ok(k - fall * g));
    const auto repeats = out.begin_generation(members.size());
    for (std::size_t k = 0; k < repeats; ++k) out.tell(k, ok(second(members[k]->value)));
    out.end_generation(members);
  }
  return out;
}

TEST(Uncertainty, dominates_where_ranks_change_and_nothing_comes_down) {
  const auto changed = [](double v) { return v + 7; };
  EXPECT_TRUE(after(40, Noise::on, 0, changed).dominates());
  EXPECT_TRUE(after(40, Noise::automatic, 0, changed).dominates());
  EXPECT_FALSE(after(40, Noise::on, 1, changed).dominates());
  EXPECT_FALSE(after(40, Noise::on, 0, [](double v) { return v + 1e-3; }).dominates());
}

TEST(Uncertainty, is_looked_for_once_where_there_is_none) {
  auto without = after(1, Noise::automatic, 0, [](double v) { return v; });
  for (int g = 0; g < 10; ++g) EXPECT_EQ(without.begin_generation(10), 0U);
  EXPECT_EQ(Uncertainty(Noise::off).begin_generation(10), 0U);
}

TEST(Uncertainty, a_member_that_was_evaluated_twice_counts_for_the_mean) {
  Uncertainty uncertainty(Noise::on);
  Members members{ok(2), ok(3)};
  ASSERT_EQ(uncertainty.begin_generation(2), 1U);
  uncertainty.tell(0, ok(6));
  uncertainty.end_generation(members);
  EXPECT_EQ(members[0]->value, 4);
}

/// The number of candidates that were proposed before, among this number of evaluations.
std::size_t repeats_of(const TestFunction& f, const OptimizerOptions& options, std::size_t evaluations) {
  const auto optimizer = make_optimizer("cmaes", cube(5, -5, 5), 1, options);
  std::set<std::vector<double>> seen;
  std::vector<Candidate> asked;
  for (std::size_t k = 0; k < evaluations; ++k) {
    optimizer->ask(1, asked = {});
    seen.insert(asked[0].x);
    optimizer->tell(asked[0].id, Outcome::of_value(f(asked[0].x)));
  }
  return evaluations - seen.size();
}

TEST(Cmaes, evaluates_members_twice_where_values_have_noise) {
  Random random(3);
  const auto noisy = [&](const std::vector<double>& x) { return sphere(x) + random.normal(); };
  EXPECT_EQ(repeats_of(sphere, {}, 800), 1U);
  EXPECT_GE(repeats_of(noisy, {}, 800), 40U);
  EXPECT_EQ(repeats_of(noisy, {{"noise", "off"}}, 800), 0U);
}
}  // namespace
}  // namespace culmen
