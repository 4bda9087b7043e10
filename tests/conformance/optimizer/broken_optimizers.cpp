#include "conformance/optimizer/broken_optimizers.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "culmen/base/random.hpp"

namespace culmen::conformance {
namespace {
/// Random search, sound; each broken one changes one thing.
class Sound : public Optimizer {
 public:
  Sound(const Space& space, std::uint64_t seed) : space_(space), random_(seed) {}
  Mode mode() const override { return Mode::generational; }
  std::string name() const override { return "test"; }

 protected:
  void do_ask(std::size_t n, std::vector<Candidate>& out) override {
    for (std::size_t k = 0; k < n; ++k) out.push_back({0, point()});
  }
  void do_tell(EvaluationId, const Outcome&) override {}
  void do_cancel(EvaluationId) override {}
  virtual std::vector<double> point() {
    std::vector<double> x(space_.size());
    for (double& u : x) u = random_.uniform();
    space_.from_unit(x, x);
    return x;
  }

  const Space space_;
  Random random_;
};

class BeyondTheBound final : public Sound {
  using Sound::Sound;
  std::vector<double> point() override {
    auto x = Sound::point();
    x[0] += 0.01 * (space_[0].upper - space_[0].lower);
    return x;
  }
};

class FractionsForIntegers final : public Sound {
  using Sound::Sound;
  std::vector<double> point() override {
    auto x = Sound::point();
    for (std::size_t i = 0; i < x.size(); ++i)
      x[i] = space_[i].lower + random_.uniform() * (space_[i].upper - space_[i].lower);
    return x;
  }
};

class OneTooMany final : public Sound {
  using Sound::Sound;
  void do_ask(std::size_t n, std::vector<Candidate>& out) override { Sound::do_ask(n + 1, out); }
};

class ForgetsItsSeed final : public Sound {
 public:
  ForgetsItsSeed(const Space& space, std::uint64_t) : Sound(space, instances_++) {}

 private:
  static inline std::uint64_t instances_ = 0;
};

class IgnoresItsSeed final : public Sound {
 public:
  IgnoresItsSeed(const Space& space, std::uint64_t) : Sound(space, 1) {}
};

class DrawsAtEveryAsk final : public Sound {
  using Sound::Sound;
  void do_ask(std::size_t n, std::vector<Candidate>& out) override {
    random_.next();
    Sound::do_ask(n, out);
  }
};

class LearnsOnArrival final : public Sound {
  using Sound::Sound;
  void do_tell(EvaluationId, const Outcome& outcome) override {
    if (outcome.ok() && outcome.value < last_) random_.next();
    last_ = outcome.value;
  }
  double last_ = 0;
};

class LearnsOnAdoption final : public Sound {
  using Sound::Sound;
  std::function<Bytes()> do_job() override {
    if (asked() < 100 * (jobs_ + 1)) return {};
    ++jobs_;
    return [] { return Bytes{}; };
  }
  void do_adopt(const Bytes&) override { random_.next(); }
  std::uint64_t jobs_ = 0;
};

class ReadsAnotherInstance final : public Sound {
  using Sound::Sound;
  void do_ask(std::size_t n, std::vector<Candidate>& out) override {
    if (++asks_ % 101 == 0) random_.next();
    Sound::do_ask(n, out);
  }
  static inline std::uint64_t asks_ = 0;
};

class TrustsValues final : public Sound {
  using Sound::Sound;
  void do_tell(EvaluationId, const Outcome& outcome) override { last_ = outcome.value; }
  std::vector<double> point() override {
    auto x = Sound::point();
    x[0] += 0 * last_;
    return x;
  }
  double last_ = 0;
};

class GivesUpOnCancel final : public Sound {
  using Sound::Sound;
  void do_ask(std::size_t n, std::vector<Candidate>& out) override { Sound::do_ask(cancelled_ ? 0 : n, out); }
  void do_cancel(EvaluationId) override { cancelled_ = true; }
  bool cancelled_ = false;
};

class DividesByTheSpread final : public Sound {
  using Sound::Sound;
  void do_tell(EvaluationId, const Outcome& outcome) override {
    spread_ = outcome.value - last_;
    last_ = outcome.value;
  }
  std::vector<double> point() override {
    auto x = Sound::point();
    if (spread_ == 0) x[0] = 0 / spread_;
    return x;
  }
  double last_ = 0, spread_ = 1;
};

class KeepsEverything final : public Sound {
  using Sound::Sound;
  void do_tell(EvaluationId, const Outcome& outcome) override { told_.push_back(outcome.value); }
  std::vector<double> told_;
};

/// Each run is twice as long as the one before, from 1000 results to 128 000, and keeps its results until it ends.
class Restarts : public Sound {
  using Sound::Sound;
  void do_tell(EvaluationId, const Outcome& outcome) override {
    results_.push_back({outcome.value, outcome.violation, 0, 0});
    if (results_.size() < length_) return;
    run_ended(results_);
    length_ = length_ == 128000 ? 1000 : 2 * length_;
    Results().swap(results_);
  }

 protected:
  using Results = std::vector<std::array<double, 4>>;
  virtual void run_ended(const Results&) {}

 private:
  std::size_t length_ = 1000;
  Results results_;
};

class RestartsAndKeepsEveryValue final : public Restarts {
  using Restarts::Restarts;
  void run_ended(const Results& results) override {
    for (const auto& result : results) values_.push_back(result[0]);
  }
  std::vector<double> values_;
};

class SoundAsynchronous : public Sound {
 public:
  using Sound::Sound;
  Mode mode() const override { return Mode::asynchronous; }
};

class SaysGenerational final : public Sound {
  using Sound::Sound;
};

class WaitsForStragglers final : public SoundAsynchronous {
  using SoundAsynchronous::SoundAsynchronous;
  void do_ask(std::size_t n, std::vector<Candidate>& out) override { Sound::do_ask(open() > 150 ? 0 : n, out); }
};

class GivesAsManyAsWorkers final : public SoundAsynchronous {
 public:
  using SoundAsynchronous::SoundAsynchronous;
  void resize(std::size_t workers) override { workers_ = workers; }

 private:
  void do_ask(std::size_t n, std::vector<Candidate>& out) override { Sound::do_ask(std::min(n, workers_), out); }
  std::size_t workers_ = 100;
};

class KnowsTheLastHundred final : public SoundAsynchronous {
  using SoundAsynchronous::SoundAsynchronous;
  void do_tell(EvaluationId id, const Outcome&) override { lost_ = lost_ || id + 100 < asked(); }
  std::vector<double> point() override {
    auto x = Sound::point();
    if (lost_) x[0] = std::numeric_limits<double>::quiet_NaN();
    return x;
  }
  bool lost_ = false;
};

class KeepsPlacesOfTheOpen final : public SoundAsynchronous {
  using SoundAsynchronous::SoundAsynchronous;
  void do_tell(EvaluationId id, const Outcome&) override {
    told_.resize(std::max<std::size_t>(told_.size(), id - first_ + 1));
    told_[id - first_] = 1;
    while (!told_.empty() && told_.front() != 0) {
      told_.erase(told_.begin());
      ++first_;
    }
  }
  std::vector<std::uint64_t> told_;
  EvaluationId first_ = 0;
};

class RemembersDurations final : public SoundAsynchronous {
  using SoundAsynchronous::SoundAsynchronous;
  void do_tell(EvaluationId, const Outcome& outcome) override { durations_.push_back(outcome.duration_s); }
  std::vector<double> durations_;
};

template <typename T>
OptimizerFactory factory() {
  return [](const Space& space, std::uint64_t seed) { return std::make_unique<T>(space, seed); };
}
}  // namespace

OptimizerFactory sound_optimizer() { return factory<Sound>(); }
OptimizerFactory sound_optimizer_with_restarts() { return factory<Restarts>(); }
OptimizerFactory sound_asynchronous_optimizer() { return factory<SoundAsynchronous>(); }

const std::vector<BrokenOptimizer>& broken_asynchronous_optimizers() {
  static const std::vector<BrokenOptimizer> all{
      {"SaysGenerational", "it says that it does not wait", factory<SaysGenerational>()},
      {"WaitsForStragglers", "an ask is served in full", factory<WaitsForStragglers>()},
      {"GivesAsManyAsWorkers", "an ask is served in full", factory<GivesAsManyAsWorkers>()},
      {"KnowsTheLastHundred", "late results are survived", factory<KnowsTheLastHundred>()},
      {"KeepsPlacesOfTheOpen", "stragglers hold no memory", factory<KeepsPlacesOfTheOpen>()},
      {"RemembersDurations", "stragglers hold no memory", factory<RemembersDurations>()},
  };
  return all;
}

const std::vector<BrokenOptimizer>& broken_optimizers() {
  static const std::vector<BrokenOptimizer> all{
      {"OneTooMany", "ids follow each other", factory<OneTooMany>()},
      {"BeyondTheBound", "candidates keep the bounds", factory<BeyondTheBound>()},
      {"FractionsForIntegers", "candidates keep the bounds", factory<FractionsForIntegers>()},
      {"DividesByTheSpread", "strange values are survived", factory<DividesByTheSpread>()},
      {"TrustsValues", "failures are survived", factory<TrustsValues>()},
      {"GivesUpOnCancel", "cancellations are survived", factory<GivesUpOnCancel>()},
      {"ForgetsItsSeed", "the seed decides", factory<ForgetsItsSeed>()},
      {"IgnoresItsSeed", "the seed decides", factory<IgnoresItsSeed>()},
      {"DrawsAtEveryAsk", "the way of asking does not matter", factory<DrawsAtEveryAsk>()},
      {"LearnsOnArrival", "the order of tells does not matter", factory<LearnsOnArrival>()},
      {"LearnsOnAdoption", "when a job is adopted does not matter", factory<LearnsOnAdoption>()},
      {"ReadsAnotherInstance", "replay is exact", factory<ReadsAnotherInstance>()},
      {"KeepsEverything", "memory is bounded", factory<KeepsEverything>()},
      {"RestartsAndKeepsEveryValue", "memory is bounded", factory<RestartsAndKeepsEveryValue>()},
  };
  return all;
}

}  // namespace culmen::conformance
