// The default optimizer on NIST's regression sets, from boxes that know nothing of the answers.
#include <gtest/gtest.h>

#include "culmen/optimizer/catalogue/choice.hpp"
#include "culmen/optimizer/core/optimizer.hpp"
#include "nist/search.hpp"

namespace culmen::nist {
/// For the messages of GoogleTest.
void PrintTo(const Model& model, std::ostream* out) { *out << model.name; }

namespace {
constexpr std::size_t budget = 200000;
constexpr std::size_t afterwards = 20000;  // evaluations for which the digits have to last
constexpr double wanted_digits = 6;
constexpr double rounding = 1e-20;  // Lanczos1's sum of 1e-25 is beyond the 11 digits of its parameters
std::string name_of(const testing::TestParamInfo<Model>& info) { return info.param.name; }

class NistSet : public testing::TestWithParam<Model> {
 protected:
  const Set set_ = Set::read(GetParam(), CULMEN_NIST_DATA);
};

TEST_P(NistSet, has_the_certified_sum_at_the_certified_parameters) {
  EXPECT_NEAR(set_.outcome(set_.certified).value, set_.certified_sum, 1e-6 * set_.certified_sum + rounding);
  EXPECT_EQ(set_.digits(set_.certified), 11);
}

// Whether the searches that agree are in the best minimum is a matter of chance: of 300 fits of Gauss1 with different
// seeds, 4 ended in another one. So one that failed is followed by two that must not.
TEST_P(NistSet, is_fitted_to_six_digits_in_the_parameters_by_the_default) {
  const auto chosen = default_optimizer(box_of(set_.starts), {true, 1}).name;
  EXPECT_EQ(chosen, "lm");
  const auto fit = [&](std::uint64_t seed) { return search(set_, chosen, seed, budget, afterwards); };
  if (fit(1).digits >= wanted_digits) return;
  for (const std::uint64_t seed : {2, 3}) {
    const auto found = fit(seed);
    EXPECT_GE(found.digits, wanted_digits)
        << "best sum of squares " << found.sum << ", certified " << set_.certified_sum;
  }
}

INSTANTIATE_TEST_SUITE_P(Strd, NistSet, testing::ValuesIn(models()), name_of);

TEST(NistBox, comes_from_the_starts_alone) {
  const auto box = box_of({{1, -2, 0.5, 3}, {10, -3, -0.5, 3}});
  EXPECT_EQ(box[0], real("b1", 0.01, 1000));
  EXPECT_EQ(box[1], real("b2", -13, 8));
  EXPECT_EQ(box[2], real("b3", -10.5, 10.5));
  EXPECT_EQ(box[3], real("b4", 0.03, 300));
}

TEST(NistExchange, gives_the_same_function) {
  for (const auto& model : models()) {
    const auto set = Set::read(model, CULMEN_NIST_DATA);
    const double sum = set.outcome(set.certified).value;
    for (const auto& exchange : model.exchanges)
      EXPECT_NEAR(set.outcome(exchange(set.certified)).value, sum, 1e-9 * sum + rounding) << model.name;
  }
}
}  // namespace
}  // namespace culmen::nist
