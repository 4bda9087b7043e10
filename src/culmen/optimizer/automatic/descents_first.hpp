// How "auto" shares evaluations out among optimizers of real parameters.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "culmen/optimizer/automatic/portfolio.hpp"
#include "culmen/optimizer/automatic/probe.hpp"

namespace culmen::automatic {

/// A search that is soon at a minimum leads: descents by gradients; where the probe sees that the function is a sum
/// over parameters, a search along each of them; where it sees noise, a simplex, which compares values alone. It leads
/// for 100 n evaluations (30 n under noise), and up to three times as long while it comes on. From then on the global
/// search gets most; the leader keeps a share, which is larger while it holds the best value by itself, and begins from
/// the best of the global one whenever that has found a better place.
class DescentsFirst final : public Effort {
 public:
  enum Place : std::size_t { probe, global, descents, members };
  using Make = std::function<Member(const std::string& name, const OptimizerOptions& options)>;

  /// n parameters. The probe outlives it; make adds members of other kinds.
  DescentsFirst(std::size_t n, const Probe& probe, Make make);

  std::size_t next(std::vector<Member>& members) override;
  void learn(std::vector<Member>& members, std::size_t member, const std::vector<double>& x,
             const Outcome& outcome) override;
  void resize(std::size_t workers) override { workers_ = workers; }
  std::string remark(const std::vector<Member>& members) const override;

 private:
  void judge(std::vector<Member>& members);
  bool leads(const Member& leader) const;
  std::size_t by_share(const std::vector<Member>& members);
  void hand_over(std::vector<Member>& members);

  const std::uint64_t n_;
  const Probe& probe_;
  const Make make_;
  std::size_t workers_ = 0;
  bool judged_ = false;
  std::size_t leader_ = descents;
  std::uint64_t lead_;
  Outcome best_of_leader_ = Outcome::failure(Status::failed, {});
  std::uint64_t improved_ = 0;  // asked of the leader then
  double owed_ = 0;             // evaluations of the leader's share
  std::uint64_t counted_leader_ = 0, counted_global_ = 0;
  Outcome handed_ = Outcome::failure(Status::failed, {});
  std::uint64_t asked_at_handing_ = 0;
  bool beaten_ = false;  // the global search has found a better place: what the leader makes of that is not its own
};

}  // namespace culmen::automatic
