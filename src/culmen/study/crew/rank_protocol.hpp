// How rank 0 hires the other ranks of a group as workers. The group carries invitations, the mailboxes' names and, at
// the end, the result. Everything else goes through a mailbox on each node, and between nodes over lines to
// relays.
#pragma once
#include <memory>
#include <string>

#include "culmen/study/config/result.hpp"
#include "culmen/study/crew/crew.hpp"
#include "culmen/study/crew/rank_layout.hpp"
#include "culmen/study/crew/ranks_states.hpp"
#include "culmen/study/crew/refusal.hpp"
#include "culmen/transport/mpi/world.hpp"
#include "culmen/worker/core/evaluator.hpp"
#include "culmen/worker/core/team.hpp"

namespace culmen {

class WorkerRole;
struct RankCall;

/// Evaluators of a rank that an EvaluatorSpec cannot describe.
struct OwnEvaluators {
  Function function;                                   ///< EvaluatorKind::function
  TeamEvaluatorFactory in_team = make_team_evaluator;  ///< of a member of a team
};

/// The side of rank 0. `group` and `states` must outlive it and its crews.
class RankMaster {
 public:
  RankMaster(RankGroup& group, RanksStates& states) : group_(group), states_(states) {}
  /// Nothing can start: the other ranks get this error. Does nothing if none waits for an invitation.
  void abandon(const Refusal& why);
  /// Throws InputError if there are no ranks to hire, and TransportError if one of them cannot work.
  std::unique_ptr<Crew> hire(const CrewRequest& request);
  /// There is no further study. Does nothing if the ranks work or have left.
  void dismiss();

 private:
  RankGroup& group_;
  RanksStates& states_;
};

/// The side of any other rank.
class RankWorker {
 public:
  RankWorker(RankGroup& group, RanksStates& states)
      : group_(group), states_(states), layout_(group.nodes(), group.flat_nodes()) {}
  /// Works for one study and returns its result. If it cannot start, throws the error of rank 0.
  StudyResult serve(const OwnEvaluators& own);
  /// Works for all studies and executors until rank 0 dismisses its ranks.
  void serve_until_dismissed(const OwnEvaluators& own = {});

 private:
  /// Of a rank that has evaluated, until it has the result.
  struct Work {
    std::unique_ptr<RankTeam> team;    ///< it leaves it once all others have ended their work, too
    std::unique_ptr<WorkerRole> role;  ///< it ends with the process that serves it
  };
  StudyResult follow(const RankCall& call, const OwnEvaluators& own);
  Work work(const RankCall& call, const OwnEvaluators& own);
  bool relay(const RankCall& call);
  Bytes result_bytes();
  RankCall receive();
  RankCall decision();
  RankGroup& group_;
  RanksStates& states_;
  RankLayout layout_;
};

}  // namespace culmen
