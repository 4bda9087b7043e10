// "auto": descents first, then an evolution strategy beside them, by the shares of DescentsFirst.
#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

#include "culmen/optimizer/automatic/portfolio.hpp"
#include "culmen/optimizer/kinds.hpp"

namespace culmen {
namespace automatic {
namespace {
double env(const char* name, double standard) {
  const char* text = std::getenv(name);
  return text ? std::atof(text) : standard;
}

constexpr std::size_t descents = 0, global = 1;

class DescentsFirst final : public Effort {
 public:
  explicit DescentsFirst(std::size_t parameters) : n_(parameters) {
    lead_ = static_cast<std::uint64_t>(env("LEAD", 100)) * n_;
    share_ = env("SHARE", 0.15);
    hand_ = env("HAND", 1) != 0;
  }

  std::size_t next(const std::vector<Member>& members) override {
    const auto& d = members[descents];
    if (d.asked < lead_) return descents;
    if (patience_ > 0 && d.asked < 3 * lead_ && d.asked < improved_ + patience_ * (n_ + 1)) { lead_now_ = d.asked; return descents; }
    const double shares = share_ / (1 - share_);
    return static_cast<double>(d.asked - std::max(lead_, lead_now_)) < shares * static_cast<double>(members[global].asked) ? descents
                                                                                                      : global;
  }

  void learn(std::vector<Member>& members, std::size_t member, const std::vector<double>&, const Outcome&) override {
    if (member == descents && better(members[descents].best, last_)) { last_ = members[descents].best; improved_ = members[descents].asked; }
    if (!hand_ || member != global) return;
    auto& d = members[descents];
    const auto& g = members[global];
    if (!better(g.best, handed_) || d.asked < lead_) return;
    if (d.asked < asked_at_hand_ + 3 * (n_ + 1)) return;
    handed_ = g.best;
    asked_at_hand_ = d.asked;
    d.optimizer->hear(g.best_x, g.best);
  }

  std::string remark(const std::vector<Member>& members) const override {
    return fmt::format("{} {}, {} {}", members[0].name, members[0].settled, members[1].name, members[1].settled);
  }

 private:
  Outcome last_ = Outcome::failure(Status::failed, {});
  std::uint64_t improved_ = 0, lead_now_ = 0, patience_ = static_cast<std::uint64_t>(env("PAT", 3));
  std::uint64_t n_, lead_, asked_at_hand_ = 0;
  double share_;
  bool hand_;
  Outcome handed_ = Outcome::failure(Status::failed, {});
};

Member member(const std::string& name, const Space& space, std::uint64_t seed, const OptimizerOptions& options,
              const Terms& terms) {
  return {name, make_optimizer(name, space, seed, options, terms)};
}
}  // namespace
}  // namespace automatic

OptimizerKind auto_kind() {
  return {{.name = "auto",
           .about = "what suits: several optimizers beside each other, and more effort for what works",
           .asynchronous = true,
           .options = {OptionRule::whole("parallel", "candidates that are wanted at a time", 1, 1e5, 1)}},
          [](const Space& space, std::uint64_t seed, const OptimizerOptions& options, const Terms& terms) {
            std::vector<automatic::Member> members;
            const char* d = std::getenv("DESC");
            members.push_back(automatic::member(d ? d : "bfgs", space, seed, {}, terms));
            members.push_back(automatic::member("cmaes", space, seed + 1, {{"population", automatic::env("POP",1)*(4+std::floor(3*std::log(space.size())))}}, terms));
            return std::make_unique<automatic::Portfolio>("auto", std::move(members),
                                                          std::make_unique<automatic::DescentsFirst>(space.size()),
                                                          count_of(options, "parallel"), terms.generational);
          }};
}

}  // namespace culmen
