// An optimizer with jobs, for tests: a model, here no more than the best value so far, decides how wide the next
// generation is drawn, and its fit is a job.
#pragma once
#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

#include "culmen/base/random.hpp"
#include "culmen/optimizer/core/optimizer.hpp"

namespace culmen {

class Modelled final : public Optimizer {
 public:
  /// Asynchronous: it serves from the last model while the next is fitted. `fails_at`: the job of that number
  /// throws.
  Modelled(Space space, std::uint64_t seed, Mode mode = Mode::generational,
           std::uint64_t fails_at = std::numeric_limits<std::uint64_t>::max())
      : space_(std::move(space)), seed_(seed), mode_(mode), fails_at_(fails_at) {}
  Mode mode() const override { return mode_; }
  std::string name() const override { return "modelled"; }

 private:
  static constexpr std::size_t generation = 7;

  void do_ask(std::size_t n, std::vector<Candidate>& out) override {
    const auto left = generational() ? generation * fits_ - drawn_ : n;
    for (auto k = std::min(n, left); k > 0; --k) out.push_back({0, draw()});
  }
  void do_tell(EvaluationId, const Outcome& outcome) override {
    ++told_;
    if (outcome.ok()) best_value_ = std::min(best_value_, outcome.value);
  }
  void do_cancel(EvaluationId) override { ++told_; }

  std::vector<double> draw() {
    Random random(seed_, drawn_++);
    std::vector<double> x(space_.size());
    for (double& u : x) u = random.uniform() * width_;
    space_.from_unit(x, x);
    return x;
  }

  std::function<Bytes()> do_job() override {
    if (told_ < generation * given_) return {};
    const auto number = given_++;
    return [number, best = best_value_, told = told_, fails = number == fails_at_] {
      if (fails) throw std::runtime_error("the model cannot be fitted");
      Bytes out;
      out.reserve(sizeof(double));
      const double value = best < std::numeric_limits<double>::infinity() ? best : 0;
      ByteWriter(out).f64(1 / (1 + 0.01 * value + 0.001 * static_cast<double>(told)));
      return out;
    };
  }
  void do_adopt(const Bytes& result) override {
    width_ = ByteReader(result).f64();
    ++fits_;
  }

  const Space space_;
  std::uint64_t seed_;
  Mode mode_;
  std::uint64_t fails_at_;
  std::uint64_t drawn_ = 0, told_ = 0, given_ = 0, fits_ = 0;
  double width_ = 1, best_value_ = std::numeric_limits<double>::infinity();
};

}  // namespace culmen
