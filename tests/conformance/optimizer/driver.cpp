#include "conformance/optimizer/driver.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "culmen/base/random.hpp"

namespace culmen::conformance {
namespace {
template <typename T>
T take(std::vector<T>& from, std::size_t k) {
  T taken = std::move(from[k]);
  from.erase(from.begin() + static_cast<std::ptrdiff_t>(k));
  return taken;
}
}  // namespace

Outcome outcome_of(const Space& space, const std::vector<double>& x) {
  std::vector<double> unit(x.size());
  space.to_unit(x, unit);
  std::vector<double> residuals;
  double corner = 0;
  for (std::size_t i = 0; i < unit.size(); ++i) {
    residuals.push_back(std::sqrt(static_cast<double>(i + 1)) * (unit[i] - 0.3));
    corner = std::max(corner, 1 - unit[i]);
  }
  return corner < 0.4 ? Outcome::failure(Status::failed, "the corner") : Outcome::of_residuals(std::move(residuals));
}

Points points_of(Optimizer& optimizer, const Space& space, std::size_t n, Manner manner, std::uint64_t variation) {
  Random random(variation);
  Points points;
  std::vector<Candidate> open, batch;
  while (points.size() < n) {
    batch.clear();
    const std::size_t wanted = manner == Manner::in_turn ? 64 : 1 + random.below(9);
    const bool asks = manner != Manner::shuffled || open.size() < 40;
    if (manner != Manner::in_turn) optimizer.resize(wanted);
    if (asks) optimizer.ask(wanted, batch);
    for (auto& c : batch) {
      points.push_back(c.x);
      open.push_back(std::move(c));
    }
    if (open.empty()) return points;
    const std::size_t tells =
        manner == Manner::shuffled ? random.below(open.size() + 1) + (batch.empty() ? 1 : 0) : open.size();
    for (std::size_t k = 0; k < tells && !open.empty(); ++k) {
      const Candidate c = take(open, manner == Manner::shuffled ? random.below(open.size()) : 0);
      optimizer.tell(c.id, outcome_of(space, c.x));
    }
  }
  if (points.size() > n) points.resize(n);
  return points;
}

Points points_with_late_jobs(Optimizer& optimizer, const Space& space, std::size_t n, std::uint64_t variation) {
  Random random(variation);
  Points points;
  std::vector<Candidate> open, batch;
  std::optional<Job> job;
  optimizer.hand_out_jobs();
  while (points.size() < n) {
    if (!job) job = optimizer.next_job();
    batch.clear();
    optimizer.ask(1 + random.below(9), batch);
    for (auto& c : batch) {
      points.push_back(c.x);
      open.push_back(std::move(c));
    }
    if (!job) job = optimizer.next_job();
    if (open.empty() && !job) return points;
    for (auto tells = random.below(open.size() + 1); tells > 0; --tells) {
      const Candidate c = take(open, random.below(open.size()));
      optimizer.tell(c.id, outcome_of(space, c.x));
    }
    if (!job || (!open.empty() && random.below(5) > 0)) continue;
    optimizer.adopt(job->id, job->work());
    job.reset();
  }
  points.resize(n);
  return points;
}

std::vector<Call> record(Optimizer& optimizer, const Space& space, std::size_t n, std::uint64_t variation) {
  Random random(variation);
  std::vector<Call> calls;
  std::vector<Candidate> open;
  while (optimizer.asked() < n) {
    if (random.below(20) == 0) {
      Call& resize = calls.emplace_back();
      resize.kind = Call::Kind::resize;
      resize.n = 1 + random.below(50);
      repeat(optimizer, resize);
    }
    Call& ask = calls.emplace_back();
    ask.n = 1 + random.below(11);
    optimizer.ask(ask.n, ask.candidates);
    if (ask.candidates.empty() && open.empty()) return optimizer.finished() ? calls : std::vector<Call>{};
    open.insert(open.end(), ask.candidates.begin(), ask.candidates.end());
    for (auto closing = random.below(12); closing > 0 && !open.empty(); --closing) {
      const Candidate c = take(open, random.below(open.size()));
      Call& call = calls.emplace_back();
      call.kind = random.below(10) == 0 ? Call::Kind::cancel : Call::Kind::tell;
      call.id = c.id;
      if (call.kind == Call::Kind::tell) call.outcome = outcome_of(space, c.x);
      repeat(optimizer, call);
    }
  }
  return calls;
}

bool repeat(Optimizer& optimizer, const Call& call) {
  std::vector<Candidate> candidates;
  switch (call.kind) {
    case Call::Kind::ask:
      optimizer.ask(call.n, candidates);
      return candidates == call.candidates;
    case Call::Kind::tell:
      optimizer.tell(call.id, call.outcome);
      return true;
    case Call::Kind::cancel:
      optimizer.cancel(call.id);
      return true;
    case Call::Kind::resize:
      optimizer.resize(call.n);
      return true;
  }
  return false;
}

}  // namespace culmen::conformance
