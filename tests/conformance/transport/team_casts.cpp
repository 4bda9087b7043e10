#include "conformance/transport/team_casts.hpp"

#include <utility>

#include "culmen/transport/team/team_transport.hpp"

namespace culmen::conformance {
namespace {

/// Frames of the kit have no meaning.
class NoRules final : public TeamRules {
 public:
  bool is_failure(WorkerId, const FrameHead&, BytesView) const override { return false; }
  Bytes failure(WorkerId, const FrameHead&, BytesView) const override { return {}; }
  Bytes overdue(BytesView) const override { return {}; }
  std::string why_given_up(const std::optional<Answer>&, const std::vector<WorkerId>&, double) const override {
    return "late";
  }
};

TeamTransport::Teams pairs(std::size_t teams) {
  TeamTransport::Teams out;
  for (WorkerId team = 0; team < teams; ++team) out.push_back({team, team + static_cast<WorkerId>(teams)});
  return out;
}

class InTeams final : public Cast {
 public:
  InTeams(std::unique_ptr<Cast> members, std::size_t teams)
      : members_(std::move(members)),
        transport_(members_->transport(), pairs(teams), std::make_unique<NoRules>(), {}) {}
  Transport& transport() override { return transport_; }
  bool has_processes() const override { return members_->has_processes(); }

 private:
  std::unique_ptr<Cast> members_;
  TeamTransport transport_;
};
}  // namespace

CastFactory in_teams(CastFactory start) {
  return [start = std::move(start)](std::size_t workers) {
    return std::make_unique<InTeams>(start(2 * workers), workers);
  };
}

}  // namespace culmen::conformance
