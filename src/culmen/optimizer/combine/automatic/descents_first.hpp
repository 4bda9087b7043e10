// How "auto" divides evaluations among optimizers of real parameters.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "culmen/optimizer/combine/automatic/lead.hpp"
#include "culmen/optimizer/combine/automatic/portfolio.hpp"
#include "culmen/optimizer/combine/automatic/probe.hpp"

namespace culmen::automatic {

/// Lead and global search. Descents by gradients lead. If the probe sees that the function is a sum over parameters, a
/// search along each parameter leads. If it sees noise, descents with longer differences lead; under strong noise a
/// simplex does, which only compares values. The lead takes 100 n evaluations. It takes 30 n under strong noise, or if
/// a constraint whose figures are not known is in its way. There is no lead without generations if more workers are
/// available than it can use.
class DescentsFirst final : public Effort {
 public:
  enum Place : std::size_t { probe, global, descents, members };
  using Make = std::function<Member(const std::string& name, const OptimizerOptions& options)>;

  /// n parameters. The probe outlives it; make adds members of other kinds.
  DescentsFirst(std::size_t n, const Probe& probe, Make make);

  std::size_t next(std::vector<Member>& members) override;
  void learn(std::vector<Member>& members, std::size_t member, const std::vector<double>& x,
             const Outcome& outcome) override;
  void resize(std::size_t workers) override { lead_.resize(workers); }
  std::string remark(const std::vector<Member>& members) const override;

 private:
  void judge(std::vector<Member>& members);
  bool sum_does_not_pay(const std::vector<Member>& members) const;

  const std::uint64_t n_;
  const Probe& probe_;
  const Make make_;
  bool judged_ = false;
  std::size_t leader_ = descents;
  Lead lead_;
};

}  // namespace culmen::automatic
