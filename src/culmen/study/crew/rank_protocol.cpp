#include "culmen/study/crew/rank_protocol.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <sstream>

#include "culmen/base/error.hpp"
#include "culmen/base/exit_after.hpp"
#include "culmen/base/process.hpp"
#include "culmen/study/crew/cpus.hpp"
#include "culmen/study/crew/local_worker.hpp"
#include "culmen/study/crew/reached_workers.hpp"
#include "culmen/study/crew/team_rules.hpp"
#include "culmen/study/crew/thread_share.hpp"
#include "culmen/transport/mailbox/mailbox.hpp"
#include "culmen/transport/mpi/launcher.hpp"
#include "culmen/transport/relay/relay.hpp"
#include "culmen/transport/team/team_endpoint.hpp"
#include "culmen/worker/process/child_table.hpp"
#include "culmen/worker/process/guard.hpp"
#include "culmen/worker/worker.hpp"

namespace culmen {

/// From rank 0 to all: the mailboxes to attach to, or why nothing starts, or that nothing will start any more.
struct RankCall {
  /// For the workers of a node: its mailbox, and the process that serves it.
  struct Node {
    std::string mailbox, marker;
    ProcessId server;
  };
  bool dismissed = false;
  Refusal refusal;
  bool starts_processes = false;       // workers do
  std::vector<Node> nodes;             // first that of rank 0 alone
  std::vector<std::string> processes;  // of all ranks, once they are known
  std::vector<int> teams;              // the team of each rank, below 0: none; empty: no teams

  bool is_dismissal() const { return dismissed && refusal.empty(); }
};

namespace {

/// If a launcher lets the others live when a rank dies, and rank 0 never sends the result, a relay does not wait for
/// ever. A worker ends with the process that serves it.
constexpr std::chrono::seconds patience_with_result{60};

Bytes bytes_of(const RankCall& call) {
  Bytes out;
  ByteWriter w(out);
  w.u8(call.dismissed);
  w.u8(static_cast<std::uint8_t>(call.refusal.kind));
  w.text(call.refusal.why);
  w.u8(call.starts_processes);
  w.u64(call.nodes.size());
  for (const auto& node : call.nodes) {
    w.text(node.mailbox);
    w.text(node.marker);
    w.u64(static_cast<std::uint64_t>(node.server.pid));
    w.u64(node.server.start_ticks);
  }
  w.u64(call.processes.size());
  for (const auto& process : call.processes) w.text(process);
  w.u64(call.teams.size());
  for (const auto team : call.teams) w.u64(static_cast<std::uint64_t>(team + 1));
  return out;
}

RankCall refusal_of(Refusal why, bool dismissed) {
  RankCall call;
  call.dismissed = dismissed;
  call.refusal = std::move(why);
  return call;
}

RankCall call_of(BytesView in) {
  ByteReader r(in);
  RankCall call;
  call.dismissed = r.u8() != 0;
  call.refusal.kind = static_cast<Refusal::Kind>(r.u8());
  call.refusal.why = r.text();
  call.starts_processes = r.u8() != 0;
  for (auto n = r.u64(); n > 0; --n) {
    auto& node = call.nodes.emplace_back();
    node.mailbox = r.text();
    node.marker = r.text();
    node.server.pid = static_cast<pid_t>(r.u64());
    node.server.start_ticks = r.u64();
  }
  for (auto n = r.u64(); n > 0; --n) call.processes.push_back(r.text());
  for (auto n = r.u64(); n > 0; --n) call.teams.push_back(static_cast<int>(r.u64()) - 1);
  return call;
}

// A rank's answer: its process, or the node that it serves, or else a sentence.

std::string describe(const ProcessId& p) { return fmt::format("{} {}", p.pid, p.start_ticks); }

std::string describe(const RankCall::Node& node) {
  return fmt::format("{} {} {}", node.mailbox, node.marker, describe(node.server));
}

std::optional<ProcessId> process_in(const std::string& answer) {
  std::istringstream in(answer);
  ProcessId process;
  if (in >> process.pid >> process.start_ticks) return process;
  return {};
}

std::optional<RankCall::Node> node_in(const std::string& answer) {
  std::istringstream in(answer);
  RankCall::Node node;
  if (in >> node.mailbox >> node.marker >> node.server.pid >> node.server.start_ticks) return node;
  return {};
}

std::shared_ptr<MailboxMemory> mailbox_for(const RankLayout& layout, std::size_t node) {
  return MailboxMemory::create_named({.workers = std::max<std::size_t>(1, layout.workers_of(node).size())});
}

class RankCrew final : public Crew {
 public:
  RankCrew(RankGroup& group, RanksStates& states, const RankLayout& layout, std::optional<TeamLayout> teams)
      : group_(group),
        states_(states),
        layout_(layout),
        teams_(std::move(teams)),
        memory_(mailbox_for(layout, 0)),
        here_(memory_) {}
  Transport& transport() override { return in_teams_ ? static_cast<Transport&>(*in_teams_) : of_ranks(); }
  std::size_t workers() const override { return teams_ ? teams_->teams().size() : layout_.workers(); }
  std::size_t nodes() const override { return layout_.nodes(); }
  void conclude(const StudyResult& result) override {
    if (reached_) reached_->hang_up();  // this object may live on
    if ((reached_ ? reached_->remaining() : here_.remaining()) > 0) {
      states_.on(RanksEvent::lose);
      return;
    }
    auto bytes = encode(result);
    bytes.push_back(static_cast<std::byte>(states_.is_last()));
    if (layout_.nodes() == 1) group_.broadcast(std::move(bytes));
    else group_.give(bytes, layout_.served_by(0));
    states_.on(RanksEvent::conclude);
  }

  /// Sends the invitation and watches the processes that answer. Returns the decision, which all ranks wait for.
  RankCall invite(const CrewRequest& request) {
    states_.on(RanksEvent::invite);
    RankCall call;
    call.starts_processes = request.starts_processes;
    call.nodes = {{memory_->name(), request.run_marker, this_process()}};
    group_.broadcast(bytes_of(call));
    if (layout_.nodes() > 1) {
      if (auto refusal = call_relays(call); !refusal.empty())
        return refusal_of({std::move(refusal)}, states_.is_last());
      group_.broadcast(bytes_of(call));
    }
    RankCall decision;
    decision.processes = group_.gather("");
    memory_->unlink();
    for (std::size_t r = 1; r < decision.processes.size(); ++r)
      if (!process_in(decision.processes[r]))
        return refusal_of({fmt::format("rank {}: {}", r, decision.processes[r])}, states_.is_last());
    for (const auto r : layout_.workers_of(0))
      here_.watch(layout_.box_of(r), *process_in(decision.processes[static_cast<std::size_t>(r)]), false);
    if (layout_.nodes() == 1) decision.processes.clear();
    else reached_.emplace(group_, layout_, 0, here_);  // the relays have agreed: they answer from now on
    if (teams_) decision.teams = teams_->team_of_rank();
    return decision;
  }

  /// After the decision, which all ranks follow.
  void form_teams(const TeamsWanted& wanted) {
    if (!teams_) return;
    group_.team(-1);
    TeamPatience patience;
    if (wanted.time_limit_s > 0) patience.time_limit_s = wanted.time_limit_s;
    in_teams_.emplace(of_ranks(), teams_->teams(), make_team_rules(*teams_, wanted.time_limit_s), patience);
  }

 private:
  Transport& of_ranks() { return reached_ ? reached_->transport() : here_; }
  /// Every relay makes the mailbox of its node. Returns why one of them cannot.
  std::string call_relays(RankCall& call) {
    const auto answers = group_.gather("");
    for (const auto r : layout_.relays()) {
      const auto& answer = answers[static_cast<std::size_t>(r)];
      const auto node = node_in(answer);
      if (!node) return fmt::format("rank {}: {}", r, answer);
      call.nodes.push_back(*node);
    }
    return {};
  }
  RankGroup& group_;
  RanksStates& states_;
  const RankLayout layout_;
  const std::optional<TeamLayout> teams_;
  std::shared_ptr<MailboxMemory> memory_;
  MailboxTransport here_;
  std::optional<ReachedWorkers> reached_;
  std::optional<TeamTransport> in_teams_;
};

void check_ranks(const RankLayout& layout, RanksState state) {
  if (const auto fault = layout.fault(); !fault.empty()) throw InputError(fault);
  if (state == RanksState::stuck)
    throw InputError("a rank of this launch still hangs in an evaluation of the former study; start another launch");
  if (state == RanksState::working)
    throw InputError("the ranks of this launch already work for another study or executor; end that one first");
  if (state == RanksState::dismissed)
    throw InputError("the ranks of this launch have left the program; start all studies and executors before that");
}

/// Evaluators of a node belong to the process that serves it. Only this rank knows its CPUs.
EvaluatorFactory factory_with(Function function, const std::string& marker) {
  return [make = factory_for(std::move(function)), marker](const SetUp& given) {
    auto set_up = given;
    auto& evaluator = set_up.evaluator;
    evaluator.run_marker = marker;
    const auto ranks = static_cast<std::size_t>(std::max(1, detect_launch().here));
    evaluator.environment.merge(thread_share(ranks_on_these_cpus(ranks), evaluator));
    return make(set_up);
  };
}

std::string serve_alone(Endpoint& endpoint, Function function, const std::string& marker) {
  Worker worker(factory_with(std::move(function), marker));
  return serve(endpoint, worker);
}

/// Only this thread calls MPI: in the evaluator, and for another communicator.
std::string serve_in_team(Endpoint& endpoint, RankTeam& ranks, const TeamEvaluatorFactory& make,
                          const std::vector<int>& teams, int rank) {
  Team team{ranks.communicator(), 0};
  team.size = static_cast<int>(std::ranges::count(teams, teams[static_cast<std::size_t>(rank)]));
  TeamEndpoint of_member(endpoint, [&] {
    ranks.renew();
    team.communicator = ranks.communicator();
  });
  Worker worker([&](const SetUp& set_up) { return make(set_up, team); });
  return serve(of_member, worker);
}

}  // namespace

void RankMaster::abandon(const Refusal& why) {
  const bool last = states_.is_last();
  if (states_.on(RanksEvent::abandon)) group_.broadcast(bytes_of(refusal_of(why, last)));
}

std::unique_ptr<Crew> RankMaster::hire(const CrewRequest& request) {
  const RankLayout layout(group_.nodes(), group_.flat_nodes());
  check_ranks(layout, states_.state());
  std::unique_ptr<RankCrew> crew;
  try {
    const auto teams = request.teams ? std::optional(TeamLayout(layout, request.teams)) : std::nullopt;
    crew = std::make_unique<RankCrew>(group_, states_, layout, teams);
  } catch (const Error& e) {
    abandon(Refusal::of(e));
    throw;
  }
  const auto decision = crew->invite(request);
  group_.broadcast(bytes_of(decision));
  states_.on(decision.refusal.empty() ? RanksEvent::accept : RanksEvent::decline);
  if (!decision.refusal.empty()) decision.refusal.raise();
  crew->form_teams(request.teams);
  return crew;
}

void RankMaster::dismiss() {
  if (!states_.on(RanksEvent::dismiss)) return;
  group_.broadcast(bytes_of(refusal_of({}, true)));
  // In MPI_Finalize, MPICH over TCP (UCX) may wait for ever for an acknowledgement of a rank that has already left it.
  group_.barrier();
}

RankCall RankWorker::receive() {
  auto call = call_of(group_.broadcast({}));
  if (call.dismissed) states_.on(RanksEvent::dismiss);
  return call;
}

RankCall RankWorker::decision() {
  auto call = receive();
  if (!call.refusal.empty()) call.refusal.raise();
  return call;
}

StudyResult RankWorker::follow(const RankCall& call, const OwnEvaluators& own) {
  if (!call.refusal.empty()) call.refusal.raise();
  Work done;
  std::optional<ExitAfter> deadline;
  if (!layout_.is_relay(group_.rank())) done = work(call, own);
  else if (relay(call)) deadline.emplace(patience_with_result, 0);
  auto bytes = result_bytes();
  deadline.reset();
  done.role.reset();
  if (done.team) done.team->leave();
  if (bytes.back() != std::byte{0}) states_.on(RanksEvent::dismiss);
  bytes.pop_back();
  return decode_result(bytes);
}

/// On several nodes from the process that serves this rank: a dead rank keeps them from its own node only.
Bytes RankWorker::result_bytes() {
  if (layout_.nodes() == 1) return group_.broadcast({});
  auto bytes = group_.taken();
  if (layout_.is_relay(group_.rank())) group_.give(bytes, layout_.served_by(layout_.node_of(group_.rank())));
  return bytes;
}

RankWorker::Work RankWorker::work(const RankCall& call, const OwnEvaluators& own) {
  auto node = call.nodes[0];
  if (layout_.nodes() > 1) {
    group_.gather("");
    node = decision().nodes[layout_.node_of(group_.rank())];
  }
  std::shared_ptr<MailboxMemory> memory;
  std::string answer = describe(this_process());
  try {
    memory = MailboxMemory::attach(node.mailbox);
  } catch (const Error& e) {
    answer = e.what();
  }
  group_.gather(answer);
  const auto decided = decision();
  auto ranks = decided.teams.empty() ? nullptr : group_.team(decided.teams[static_cast<std::size_t>(group_.rank())]);
  auto role = std::make_unique<WorkerRole>(node.server, node.marker);
  MailboxEndpoint endpoint(memory, layout_.box_of(group_.rank()));
  const auto why = ranks ? serve_in_team(endpoint, *ranks, own.in_team, decided.teams, group_.rank())
                         : serve_alone(endpoint, own.function, node.marker);
  if (!why.empty()) fmt::print(stderr, "culmen: rank {}: {}\n", group_.rank(), why);
  return {std::move(ranks), std::move(role)};
}

/// Whether a rank was lost.
bool RankWorker::relay(const RankCall& call) {
  const auto node = layout_.node_of(group_.rank());
  const auto workers = layout_.workers_of(node);
  const auto children = ChildTable::create(make_run_marker());
  std::shared_ptr<MailboxMemory> memory;
  std::unique_ptr<Guard> guard;
  std::string answer;
  try {
    memory = mailbox_for(layout_, node);
    if (call.starts_processes) guard = std::make_unique<Guard>(children->marker());
    answer = describe(RankCall::Node{memory->name(), children->marker(), this_process()});
  } catch (const Error& e) {
    answer = e.what();
  }
  group_.gather(answer);
  decision();
  group_.gather(describe(this_process()));
  const auto decided = decision();  // all have attached; a gather alone does not mean that
  const auto& processes = decided.processes;
  memory->unlink();
  if (!decided.teams.empty()) group_.team(-1);
  const StopSignalsIgnored role;
  MailboxTransport mailbox(memory, layout_.first_worker(node));
  for (const auto r : workers)
    mailbox.watch(layout_.box_of(r), *process_in(processes[static_cast<std::size_t>(r)]), false);
  const auto& tree = layout_.tree();
  ReachedWorkers reached(group_, layout_, node, mailbox);
  const auto line = group_.line({layout_.server(tree.parent(node))}, LineEnd::lower);
  Relay relay(*line, reached.transport(), layout_.workers_through(node), [&] { return reached.remaining(); },
              {reached.behind(), tree.relays_on_way(node)});
  try {
    relay.run();
  } catch (const Error& e) {
    fmt::print(stderr, "culmen: rank {}: {}\n", group_.rank(), e.what());
    relay.fail();
  }
  return relay.any_lost();
}

StudyResult RankWorker::serve(const OwnEvaluators& own) {
  const auto call = receive();
  if (call.is_dismissal()) throw TransportError("rank 0 has left the program while this rank waits for it");
  return follow(call, own);
}

void RankWorker::serve_until_dismissed(const OwnEvaluators& own) {
  while (states_.state() != RanksState::dismissed) {
    const auto call = receive();
    if (call.is_dismissal()) return group_.barrier();
    if (!call.refusal.empty()) continue;  // rank 0 has the sentence, and may start another study
    try {
      follow(call, own);
    } catch (const TransportError&) {  // the same
    }
  }
}

}  // namespace culmen
