#include "culmen/study/crew/rank_protocol.hpp"

#include <fmt/format.h>

#include <sstream>

#include "culmen/base/error.hpp"
#include "culmen/base/process.hpp"
#include "culmen/study/crew/local_worker.hpp"
#include "culmen/transport/mailbox/mailbox.hpp"
#include "culmen/worker/worker.hpp"

namespace culmen {

/// From rank 0 to all: the mailbox to attach to, or why nothing starts, or that nothing will start any more.
struct RankCall {
  bool dismissed = false;
  std::string refusal;
  std::string mailbox, marker;
  ProcessId master;

  bool is_dismissal() const { return dismissed && refusal.empty(); }
};

namespace {

Bytes bytes_of(const RankCall& call) {
  Bytes out;
  ByteWriter w(out);
  w.u8(call.dismissed);
  w.text(call.refusal);
  w.text(call.mailbox);
  w.text(call.marker);
  w.u64(static_cast<std::uint64_t>(call.master.pid));
  w.u64(call.master.start_ticks);
  return out;
}

RankCall call_of(BytesView in) {
  ByteReader r(in);
  RankCall call;
  call.dismissed = r.u8() != 0;
  call.refusal = r.text();
  call.mailbox = r.text();
  call.marker = r.text();
  call.master.pid = static_cast<pid_t>(r.u64());
  call.master.start_ticks = r.u64();
  return call;
}

std::string describe(const ProcessId& p) { return fmt::format("{} {}", p.pid, p.start_ticks); }

class RankCrew final : public Crew {
 public:
  RankCrew(RankGroup& group, RanksStates& states, std::shared_ptr<MailboxMemory> memory)
      : group_(group), states_(states), memory_(std::move(memory)), transport_(memory_) {}
  Transport& transport() override { return transport_; }
  std::size_t workers() const override { return memory_->workers(); }
  void conclude(const StudyResult& result) override {
    if (transport_.remaining() > 0) {
      states_.on(RanksEvent::lose);
      return;
    }
    auto bytes = encode(result);
    bytes.push_back(static_cast<std::byte>(states_.is_last()));
    group_.broadcast(std::move(bytes));
    states_.on(RanksEvent::conclude);
  }

  /// Sends the invitation and watches the processes that answer. Returns why one of them cannot work, or nothing.
  std::string invite(const std::string& marker) {
    states_.on(RanksEvent::invite);
    group_.broadcast(bytes_of({false, {}, memory_->name(), marker, this_process()}));
    const auto answers = group_.gather("");
    memory_->unlink();
    for (std::size_t r = 1; r < answers.size(); ++r) {
      ProcessId process;
      std::istringstream in(answers[r]);
      if (!(in >> process.pid >> process.start_ticks)) return fmt::format("rank {}: {}", r, answers[r]);
      transport_.watch(static_cast<WorkerId>(r - 1), process, false);
    }
    return {};
  }

 private:
  RankGroup& group_;
  RanksStates& states_;
  std::shared_ptr<MailboxMemory> memory_;
  MailboxTransport transport_;
};

void check_ranks(int size, RanksState state) {
  if (size < 2)
    throw InputError("MPI needs at least 2 ranks, a master and a worker; start more ranks, or run without mpiexec");
  if (state == RanksState::working || state == RanksState::stuck)
    throw InputError("the ranks of this launch already work for another study or executor; end that one first");
  if (state == RanksState::dismissed)
    throw InputError("the ranks of this launch have left the program; start all studies and executors before that");
}

}  // namespace

void RankMaster::abandon(const std::string& message) {
  const bool last = states_.is_last();
  if (states_.on(RanksEvent::abandon)) group_.broadcast(bytes_of({last, message, {}, {}, {}}));
}

std::unique_ptr<Crew> RankMaster::hire(const CrewRequest& request) {
  check_ranks(group_.size(), states_.state());
  std::shared_ptr<MailboxMemory> memory;
  try {
    memory = MailboxMemory::create_named({.workers = static_cast<std::size_t>(group_.size() - 1)});
  } catch (const Error& e) {
    abandon(e.what());
    throw;
  }
  auto crew = std::make_unique<RankCrew>(group_, states_, std::move(memory));
  const auto refusal = crew->invite(request.run_marker);
  group_.broadcast(bytes_of({states_.is_last() && !refusal.empty(), refusal, {}, {}, {}}));
  states_.on(refusal.empty() ? RanksEvent::accept : RanksEvent::decline);
  if (!refusal.empty()) throw TransportError(refusal);
  return crew;
}

void RankMaster::dismiss() {
  if (!states_.on(RanksEvent::dismiss)) return;
  group_.broadcast(bytes_of({true, {}, {}, {}, {}}));
  // In MPI_Finalize, MPICH over TCP (UCX) may wait for ever for an acknowledgement of a rank that has already left it.
  group_.barrier();
}

RankCall RankWorker::receive() {
  auto call = call_of(group_.broadcast({}));
  if (call.dismissed) states_.on(RanksEvent::dismiss);
  return call;
}

StudyResult RankWorker::follow(const RankCall& call, Function function) {
  if (!call.refusal.empty()) throw TransportError(call.refusal);
  std::shared_ptr<MailboxMemory> memory;
  std::string answer = describe(this_process());
  try {
    memory = MailboxMemory::attach(call.mailbox);
  } catch (const Error& e) {
    answer = e.what();
  }
  group_.gather(answer);
  if (const auto decision = receive(); !decision.refusal.empty()) throw TransportError(decision.refusal);
  {
    const WorkerRole role(call.master, call.marker);
    MailboxEndpoint endpoint(memory, static_cast<WorkerId>(group_.rank() - 1));
    Worker worker(factory_for(std::move(function)));
    if (const auto why = culmen::serve(endpoint, worker); !why.empty())
      fmt::print(stderr, "culmen: rank {}: {}\n", group_.rank(), why);
  }
  auto bytes = group_.broadcast({});
  if (bytes.back() != std::byte{0}) states_.on(RanksEvent::dismiss);
  bytes.pop_back();
  return decode_result(bytes);
}

StudyResult RankWorker::serve(Function function) {
  const auto call = receive();
  if (call.is_dismissal()) throw TransportError("rank 0 has left the program while this rank waits for it");
  return follow(call, std::move(function));
}

void RankWorker::serve_until_dismissed() {
  while (states_.state() != RanksState::dismissed) {
    const auto call = receive();
    if (call.is_dismissal()) return group_.barrier();
    try {
      follow(call, {});
    } catch (const TransportError&) {  // rank 0 has the sentence, and may start another
    }
  }
}

}  // namespace culmen
