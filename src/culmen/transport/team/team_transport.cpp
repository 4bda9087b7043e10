#include "culmen/transport/team/team_transport.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace culmen {
namespace {
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double hanging_leave_s = 1;

/// Events at the end of a study do not matter any more.
class Nobody final : public Transport::Sink {
 public:
  void joined(WorkerId) override {}
  void arrived(WorkerId, const FrameHead&, BytesView) override {}
  void lost(WorkerId, const std::string&) override {}
};
}  // namespace

/// Receives the events of members.
class TeamTransport::Joiner final : public Transport::Sink {
 public:
  Joiner(TeamTransport& teams, Sink& sink) : teams_(teams), sink_(sink) {}
  void joined(WorkerId worker) override {
    const auto& place = teams_.places_.at(worker);
    auto& team = teams_.teams_[place.team];
    team.members[place.member].joined = true;
    team.joined = std::ranges::all_of(team.members, &Member::joined);
    if (team.joined && !team.over) sink_.joined(place.team);
  }
  void arrived(WorkerId worker, const FrameHead& head, BytesView body) override {
    teams_.arrived(teams_.places_.at(worker), head, body, sink_);
  }
  void lost(WorkerId worker, const std::string& why) override { teams_.lost(teams_.places_.at(worker), why, sink_); }

 private:
  TeamTransport& teams_;
  Sink& sink_;
};

TeamTransport::TeamTransport(Transport& inner, Teams teams, std::unique_ptr<TeamRules> rules, TeamPatience patience,
                             std::unique_ptr<Clock> clock)
    : inner_(inner), rules_(std::move(rules)), patience_(patience), clock_(std::move(clock)) {
  for (const auto& members : teams) {
    auto& team = teams_.emplace_back();
    for (const auto id : members) {
      if (id >= places_.size()) places_.resize(id + 1);
      places_[id] = {static_cast<WorkerId>(teams_.size() - 1), team.members.size()};
      team.members.emplace_back().id = id;
    }
  }
}

void TeamTransport::send(WorkerId worker, const FrameHead& head, BytesView body) {
  auto& team = teams_.at(worker);
  if (team.over) return;
  if (team.requests.empty()) team.since_s = clock_->now_s();
  team.requests.push_back({head, Bytes(body.begin(), body.end())});
  for (const auto& member : team.members) inner_.send(member.id, head, body);
}

bool TeamTransport::receive(Sink& sink) {
  Joiner joiner(*this, sink);
  const bool any = inner_.receive(joiner);
  return give_up_late(sink) || any;
}

void TeamTransport::sleep(double at_most_s) {
  const auto deadline_s = next_deadline_s();
  inner_.sleep(deadline_s == infinity ? at_most_s : std::min(at_most_s, std::max(0.0, deadline_s - clock_->now_s())));
}

double TeamTransport::look_again_s() const {
  const auto deadline_s = next_deadline_s();
  const auto left_s = deadline_s == infinity ? infinity : std::max(0.0, deadline_s - clock_->now_s());
  return std::min(inner_.look_again_s(), left_s);
}

void TeamTransport::arrived(const Place& place, const FrameHead& head, BytesView body, Sink& sink) {
  auto& team = teams_[place.team];
  if (team.over) return;
  const bool failed = rules_->is_failure(team.members[place.member].id, head, body);
  const auto kept = failed || place.member == 0 ? body : BytesView{};
  team.members[place.member].answers.push_back({arrivals_++, head, Bytes(kept.begin(), kept.end()), failed});
  if (failed) team.trouble_s = std::min(team.trouble_s, clock_->now_s());
  if (is_whole(team)) answer(place.team, sink);
}

/// An answer that this member gave before still counts, once the others have answered, too.
void TeamTransport::lost(const Place& place, const std::string& why, Sink& sink) {
  auto& team = teams_[place.team];
  auto& member = team.members[place.member];
  member.lost = true;
  member.why_lost = why;
  if (team.over) return;
  if (member.answers.empty()) return end(place.team, why, sink);
  team.trouble_s = std::min(team.trouble_s, clock_->now_s());
}

bool TeamTransport::is_whole(const Team& team) const {
  return std::ranges::none_of(team.members, [](const Member& member) { return member.answers.empty(); });
}

const TeamTransport::Answer* TeamTransport::first_failure(const Team& team, WorkerId& member) const {
  const Answer* first = nullptr;
  for (const auto& one : team.members) {
    if (one.answers.empty() || !one.answers.front().failed) continue;
    if (first != nullptr && first->order < one.answers.front().order) continue;
    first = &one.answers.front();
    member = one.id;
  }
  return first;
}

/// All members have answered.
void TeamTransport::answer(WorkerId worker, Sink& sink) {
  auto& team = teams_[worker];
  WorkerId member = 0;
  const auto* failed = first_failure(team, member);
  const auto head = failed != nullptr ? failed->head : team.members[0].answers.front().head;
  const auto body =
      failed != nullptr ? rules_->failure(member, head, failed->body) : std::move(team.members[0].answers.front().body);
  for (auto& one : team.members) one.answers.pop_front();
  const auto now_s = clock_->now_s();
  longest_s_ = std::max(longest_s_, now_s - team.since_s);
  team.since_s = now_s;
  team.trouble_s = infinity;
  if (!team.requests.empty()) team.requests.pop_front();
  if (failed != nullptr && head.kind == FrameKind::result) {
    auto renew = head;
    renew.kind = FrameKind::renew;
    for (const auto& one : team.members) inner_.send(one.id, renew, {});
  }
  sink.arrived(worker, head, body);
  const auto gone =
      std::ranges::find_if(team.members, [](const Member& one) { return one.lost && one.answers.empty(); });
  if (!team.over && gone != team.members.end()) end(worker, gone->why_lost, sink);
}

void TeamTransport::end(WorkerId worker, const std::string& why, Sink& sink) {
  auto& team = teams_[worker];
  team.over = true;
  const auto works = [&](const Member& member) { return !member.lost && member.answers.empty(); };
  some_may_hang_ |= !team.requests.empty() && std::ranges::any_of(team.members, works);
  team.requests.clear();
  if (!std::exchange(team.joined, true)) sink.joined(worker);  // who was never there cannot be lost
  sink.lost(worker, why);
}

/// Its members have not all answered in time.
void TeamTransport::give_up(WorkerId worker, Sink& sink) {
  auto& team = teams_[worker];
  std::optional<TeamRules::Answer> failed;
  WorkerId member = 0;
  if (const auto* first = first_failure(team, member)) failed = {member, first->head, first->body};
  std::vector<WorkerId> silent;
  for (const auto& one : team.members)
    if (one.answers.empty() && !one.lost) silent.push_back(one.id);
  const auto since_s = failed && patience_.time_limit_s == infinity ? team.trouble_s : team.since_s;
  const auto why = rules_->why_given_up(failed, silent, clock_->now_s() - since_s);
  auto head = failed ? failed->head : team.requests.front().head;
  const bool is_candidate = head.kind == FrameKind::evaluate;
  const auto body = failed         ? rules_->failure(member, head, failed->body)
                    : is_candidate ? rules_->overdue(team.requests.front().body)
                                   : Bytes{};
  if (is_candidate) head.kind = FrameKind::result;
  const bool repeatable = std::ranges::any_of(team.members, &Member::lost);
  sink.leaving(worker);
  if (failed || (is_candidate && !repeatable)) sink.arrived(worker, head, body);
  end(worker, why, sink);
}

bool TeamTransport::give_up_late(Sink& sink) {
  bool any = false;
  for (WorkerId worker = 0; worker < teams_.size(); ++worker) {
    const auto deadline_s = this->deadline_s(teams_[worker]);
    if (deadline_s == infinity || clock_->now_s() < deadline_s) continue;
    give_up(worker, sink);
    any = true;
  }
  return any;
}

double TeamTransport::deadline_s(const Team& team) const {
  if (team.over || team.requests.empty()) return infinity;
  const bool is_candidate = team.requests.front().head.kind == FrameKind::evaluate;
  if (is_candidate && patience_.time_limit_s < infinity) return team.since_s + patience_.time_limit_s;
  if (team.trouble_s == infinity) return infinity;
  return team.trouble_s + std::max(patience_.grace_s, 2 * longest_s_);
}

double TeamTransport::next_deadline_s() const {
  double next_s = infinity;
  for (const auto& team : teams_) next_s = std::min(next_s, deadline_s(team));
  return next_s;
}

/// Waits until no member evaluates, except those of teams that are given up meanwhile.
void TeamTransport::settle() {
  Nobody nobody;
  const auto works = [](const Team& team) { return !team.over && !team.requests.empty(); };
  while (std::ranges::any_of(teams_, works))
    if (!receive(nobody)) sleep(infinity);
}

void TeamTransport::close(double grace_s) {
  if (grace_s == infinity) settle();
  inner_.close(some_may_hang_ ? std::min(grace_s, hanging_leave_s) : grace_s);
}

}  // namespace culmen
