#include "culmen/optimizer/combine/automatic/constrained.hpp"

namespace culmen::automatic {

std::size_t ConstrainedDescentsFirst::next(std::vector<Member>& members) {
  const auto& leader = members[descents];
  return lead_.lasts(leader) || lead_.due(leader, members[global]) ? descents : global;
}

void ConstrainedDescentsFirst::learn(std::vector<Member>& members, std::size_t member, const std::vector<double>&,
                                     const Outcome& outcome) {
  lead_.observe(outcome);
  if (member == descents) lead_.learn(members[descents]);
  else lead_.hand_over(members[descents], members[global]);
}

std::unique_ptr<Optimizer> constrained(const Space& space, std::uint64_t seed, std::size_t parallel,
                                       const Terms& terms) {
  const auto make = [&](const std::string& name, const OptimizerOptions& options) {
    return Member{name, make_optimizer(name, space, seed, options, terms)};
  };
  const auto wide = descents_beside(space.size(), parallel);
  std::vector<Member> members(ConstrainedDescentsFirst::members);
  members[ConstrainedDescentsFirst::descents] = make("slsqp", {{"descents", wide}});
  members[ConstrainedDescentsFirst::global] = make("cmaes", {{"parallel", parallel}});
  return std::make_unique<Portfolio>("auto", std::move(members),
                                     std::make_unique<ConstrainedDescentsFirst>(space.size()), parallel, terms.mode);
}

}  // namespace culmen::automatic
