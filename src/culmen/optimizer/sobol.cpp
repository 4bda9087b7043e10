// "sobol": the Sobol sequence with the direction numbers of Joe and Kuo (SIAM J. Sci. Comput. 30, 2008), from
// Boost.Random, in Gray code order (Antonov and Saleev 1979), each coordinate XORed with a random word: a digital
// shift, which keeps every 2^m points a digital net and makes different seeds independent. No options. At most 3667
// parameters.
#include <fmt/format.h>

#include <boost/random/sobol.hpp>

#include "culmen/base/error.hpp"
#include "culmen/base/random.hpp"
#include "culmen/optimizer/kinds.hpp"

namespace culmen {
namespace {
constexpr std::size_t most_parameters = boost::random::default_sobol_table::max_dimension;

class Sobol final : public Optimizer {
 public:
  Sobol(const Space& space, std::uint64_t seed) : space_(space), sequence_(space.size()), shift_(space.size()) {
    Random random(seed);
    for (auto& word : shift_) word = random.next();
  }
  bool generational() const override { return true; }
  std::string name() const override { return "sobol"; }

 private:
  void do_ask(std::size_t n, std::vector<Candidate>& out) override {
    for (std::size_t k = 0; k < n; ++k) {
      auto& x = out.emplace_back().x;
      x.resize(space_.size());
      for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>((next() ^ shift_[i]) >> 11) * 0x1.0p-53;
      space_.from_unit(x, x);
      at_origin_ = false;
    }
  }
  void do_tell(EvaluationId, const Outcome&) override {}
  void do_cancel(EvaluationId) override {}

  // Boost leaves out the sequence's first point, the origin, which the shift makes as good as any.
  std::uint64_t next() { return at_origin_ ? 0 : sequence_(); }

  const Space space_;
  boost::random::sobol_engine<std::uint64_t, 64> sequence_;
  std::vector<std::uint64_t> shift_;
  bool at_origin_ = true;
};
}  // namespace

OptimizerKind sobol_kind() {
  return {"sobol", {}, [](const Space& space, std::uint64_t seed, const OptimizerOptions&) {
            if (space.size() > most_parameters) {
              throw InputError(fmt::format(
                  "optimizer 'sobol' takes at most {} parameters, the space has {}; use 'random' or 'cmaes'",
                  most_parameters, space.size()));
            }
            return std::make_unique<Sobol>(space, seed);
          }};
}

}  // namespace culmen
