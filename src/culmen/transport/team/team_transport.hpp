// The workers of another transport in teams: the members of a team evaluate the same candidate together, as one worker.
#pragma once
#include <cstddef>
#include <deque>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "culmen/base/clock.hpp"
#include "culmen/transport/transport.hpp"

namespace culmen {

/// The meaning of the frames, which a transport cannot know.
class TeamRules {
 public:
  virtual ~TeamRules() = default;
  /// Whether this is the answer of a member that failed. The others may then wait for it for ever.
  virtual bool is_failure(WorkerId member, const FrameHead& head, BytesView body) const = 0;
  /// The answer of a team, made of that of its member that failed first.
  virtual Bytes failure(WorkerId member, const FrameHead& head, BytesView body) const = 0;
  /// The answer of a team whose members took longer than the time limit for the candidate in `request`.
  virtual Bytes overdue(BytesView request) const = 0;
  /// For messages: why a team gets no more work. `failed`: the answer of the member that failed, if one did.
  struct Answer {
    WorkerId member;
    FrameHead head;
    Bytes body;
  };
  virtual std::string why_given_up(const std::optional<Answer>& failed, const std::vector<WorkerId>& silent,
                                   double waited_s) const = 0;
};

struct TeamPatience {
  /// Seconds for which members may evaluate a candidate; infinity: no limit.
  double time_limit_s = std::numeric_limits<double>::infinity();
  /// Without a limit: seconds for which the others may continue after a member has failed. It is twice the time of the
  /// longest evaluation if that is more.
  double grace_s = 30;
};

/// Every frame goes to all members of a team, in the same order. A team answers once all of its members have: with the
/// answer of the first member, or with that of the member that failed first. After a failed evaluation the members get
/// a frame `renew`. The next candidate must be sent after the answer to the former one, so that no member begins it
/// before the others have ended that one.
///
/// A team whose members do not all answer in time gets no more work: leaving(), the answer, lost().
class TeamTransport final : public Transport {
 public:
  using Teams = std::vector<std::vector<WorkerId>>;
  /// `teams`: the members of every team, workers of `inner`, which outlives this object.
  TeamTransport(Transport& inner, Teams teams, std::unique_ptr<TeamRules> rules, TeamPatience patience,
                std::unique_ptr<Clock> clock = std::make_unique<SteadyClock>());
  void send(WorkerId team, const FrameHead& head, BytesView body) override;
  bool receive(Sink& sink) override;
  void sleep(double at_most_s) override;
  double look_again_s() const override;
  void wake() noexcept override { inner_.wake(); }
  /// If there is no limit to the grace, all evaluations end first. Members that remain in one that was given up are
  /// waited for no longer than a second.
  void close(double grace_s) override;

 private:
  struct Answer {
    std::size_t order;  // of its arrival
    FrameHead head;
    Bytes body;
    bool failed;
  };
  struct Member {
    WorkerId id;
    bool joined = false, lost = false;
    std::string why_lost;
    std::deque<Answer> answers;  // to which another member has not answered yet
  };
  struct Request {
    FrameHead head;
    Bytes body;
  };
  struct Team {
    std::vector<Member> members;
    std::deque<Request> requests;                                // not answered yet
    double since_s = 0;                                          // the first of them is at the members
    double trouble_s = std::numeric_limits<double>::infinity();  // when the first member failed or was lost
    bool joined = false, over = false;
  };
  struct Place {
    WorkerId team;
    std::size_t member;
  };
  class Joiner;

  void arrived(const Place& place, const FrameHead& head, BytesView body, Sink& sink);
  void lost(const Place& place, const std::string& why, Sink& sink);
  void answer(WorkerId team, Sink& sink);
  void end(WorkerId team, const std::string& why, Sink& sink);
  void give_up(WorkerId team, Sink& sink);
  bool give_up_late(Sink& sink);
  bool is_whole(const Team& team) const;
  double deadline_s(const Team& team) const;
  double next_deadline_s() const;
  void settle();
  const Answer* first_failure(const Team& team, WorkerId& member) const;

  Transport& inner_;
  std::vector<Team> teams_;
  std::vector<Place> places_;  // of the workers of inner_
  std::unique_ptr<TeamRules> rules_;
  TeamPatience patience_;
  std::unique_ptr<Clock> clock_;
  std::size_t arrivals_ = 0;
  double longest_s_ = 0;
  bool some_may_hang_ = false;
};

}  // namespace culmen
