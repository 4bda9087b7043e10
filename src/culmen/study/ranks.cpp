#include "culmen/study/ranks.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <sstream>

#include "culmen/base/error.hpp"
#include "culmen/base/exit_after.hpp"
#include "culmen/study/crew.hpp"
#include "culmen/study/local_worker.hpp"
#include "culmen/transport/mailbox/mailbox.hpp"
#include "culmen/transport/mpi/loader.hpp"

namespace culmen {
namespace {
/// MPICH over TCP (UCX) may wait in it for ever, where a set-up has failed on a loaded machine.
constexpr std::chrono::seconds patience_with_finalize{20};

struct World {
  std::unique_ptr<MpiWorld> mpi;
  bool stuck = false;  // a rank did not leave its evaluation: nothing collective can follow
  bool ended = false;
  bool busy = false;       // the ranks work for somebody
  bool dismissed = false;  // the ranks that serve until then have left
  bool last = false;       // they leave with the next result
  bool invited = false;    // the ranks work, or were let go: none waits for an invitation
};

World& world() {
  static World w;
  return w;
}

// Rank 0 -> all: what to attach to, or why there is nothing to do, or that there never will be.
struct Invitation {
  bool dismissed = false;
  std::string refusal;
  std::string mailbox, marker;
  ProcessId master;
};

Bytes encode(const Invitation& i) {
  Bytes out;
  ByteWriter w(out);
  w.u8(i.dismissed);
  w.text(i.refusal);
  w.text(i.mailbox);
  w.text(i.marker);
  w.u64(static_cast<std::uint64_t>(i.master.pid));
  w.u64(i.master.start_ticks);
  return out;
}

Invitation decode_invitation(BytesView in) {
  ByteReader r(in);
  Invitation i;
  i.dismissed = r.u8() != 0;
  i.refusal = r.text();
  i.mailbox = r.text();
  i.marker = r.text();
  i.master.pid = static_cast<pid_t>(r.u64());
  i.master.start_ticks = r.u64();
  return i;
}

std::string describe(const ProcessId& p) { return fmt::format("{} {}", p.pid, p.start_ticks); }

class RankCrew final : public Crew {
 public:
  RankCrew(MpiWorld& mpi, const CrewRequest& request) : mpi_(mpi) {
    if (mpi.size() < 2)
      throw InputError(
          "under MPI at least 2 ranks are needed: one master and its workers; start more ranks, or leave mpiexec out");
    if (world().busy)
      throw InputError("the ranks of this launch work for another study or executor already; let that end first");
    invite(request.run_marker);
  }
  Transport& transport() override { return *transport_; }
  std::size_t workers() const override { return memory_->workers(); }
  void conclude(const StudyResult& result) override {
    if (transport_->remaining() > 0) {
      world().stuck = true;
      return;
    }
    auto bytes = culmen::encode(result);
    bytes.push_back(static_cast<std::byte>(world().last));
    mpi_.broadcast(std::move(bytes));
    world().invited = world().busy = false;
    world().dismissed = world().last;
  }

 private:
  void invite(const std::string& marker) {
    try {
      memory_ = MailboxMemory::create_named({.workers = static_cast<std::size_t>(mpi_.size() - 1)});
    } catch (const Error& e) {
      abandon_ranks(e.what());
      throw;
    }
    world().invited = true;
    mpi_.broadcast(encode(Invitation{false, {}, memory_->name(), marker, this_process()}));
    const auto answers = mpi_.gather("");
    memory_->unlink();
    std::string refusal;
    transport_ = std::make_unique<MailboxTransport>(memory_);
    for (int r = 1; r < mpi_.size() && refusal.empty(); ++r) {
      ProcessId process;
      std::istringstream in(answers[static_cast<std::size_t>(r)]);
      if (in >> process.pid >> process.start_ticks) {
        transport_->watch(static_cast<WorkerId>(r - 1), process, false);
      } else {
        refusal = fmt::format("rank {}: {}", r, answers[static_cast<std::size_t>(r)]);
      }
    }
    world().dismissed = world().last && !refusal.empty();
    mpi_.broadcast(encode(Invitation{world().dismissed, refusal, {}, {}, {}}));
    if (!refusal.empty()) throw TransportError(refusal);
    world().busy = true;
  }

  MpiWorld& mpi_;
  std::shared_ptr<MailboxMemory> memory_;
  std::unique_ptr<MailboxTransport> transport_;
};

void refuse_if(const Invitation& invitation) {
  if (invitation.dismissed) world().dismissed = true;
  if (!invitation.refusal.empty()) throw TransportError(invitation.refusal);
}

}  // namespace

MpiWorld* shared_world() {
  auto& w = world();
  if (w.mpi == nullptr && !w.ended) {
    const auto launch = detect_launch();
    if (!launch.is_rank()) return nullptr;
    w.ended = true;  // unless open() succeeds: a second try would not be collective
    w.mpi = MpiWorld::open(launch);
    w.ended = false;
    std::atexit([] { finalize_world(0); });
  }
  return w.mpi.get();
}

std::string mpi_library() {
  const auto launch = detect_launch();
  if (!launch.is_rank()) return {};
  try {
    return library_name(*load_mpi_module(launch).functions);
  } catch (const TransportError&) {
    return {};
  }
}

void finalize_world(int exit_code) {
  auto& w = world();
  if (w.mpi == nullptr || w.ended) return;
  if (w.stuck) _exit(exit_code);
  w.ended = true;
  const ExitAfter deadline(patience_with_finalize, exit_code);
  w.mpi->finalize();
  w.mpi.reset();
}

void expect_ranks() { world().invited = world().busy; }

void abandon_ranks(const std::string& message) {
  auto* mpi = shared_world();
  if (mpi == nullptr || world().invited) return;
  world().invited = true;
  world().dismissed = world().last;
  mpi->broadcast(encode(Invitation{world().last, message, {}, {}, {}}));
}

namespace {
StudyResult follow(MpiWorld& mpi, const Invitation& invitation, Function function) {
  refuse_if(invitation);
  std::shared_ptr<MailboxMemory> memory;
  std::string answer = describe(this_process());
  try {
    memory = MailboxMemory::attach(invitation.mailbox);
  } catch (const Error& e) {
    answer = e.what();
  }
  mpi.gather(answer);
  refuse_if(decode_invitation(mpi.broadcast({})));
  {
    const WorkerRole role(invitation.master, invitation.marker);
    MailboxEndpoint endpoint(memory, static_cast<WorkerId>(mpi.rank() - 1));
    Worker worker(factory_for(std::move(function)));
    if (const auto why = serve(endpoint, worker); !why.empty())
      fmt::print(stderr, "culmen: rank {}: {}\n", mpi.rank(), why);
  }
  auto bytes = mpi.broadcast({});
  world().dismissed = bytes.back() != std::byte{0};
  bytes.pop_back();
  return decode_result(bytes);
}
}  // namespace

StudyResult serve_as_rank(Function function) {
  auto& mpi = *shared_world();
  const auto invitation = decode_invitation(mpi.broadcast({}));
  if (invitation.dismissed && invitation.refusal.empty())
    throw TransportError("rank 0 has left the program while this rank waits for it");
  return follow(mpi, invitation, std::move(function));
}

void serve_until_dismissed() {
  auto& mpi = *shared_world();
  while (!world().dismissed) {
    const auto invitation = decode_invitation(mpi.broadcast({}));
    if (invitation.dismissed && invitation.refusal.empty()) return mpi.barrier();
    try {
      follow(mpi, invitation, {});
    } catch (const TransportError&) {  // rank 0 has the sentence, and may start another
    }
  }
}

void dismiss_with_result() { world().last = true; }

void dismiss_ranks() {
  auto* mpi = shared_world();
  if (mpi == nullptr || world().busy || world().stuck || world().dismissed) return;
  world().invited = world().dismissed = true;
  mpi->broadcast(encode(Invitation{true, {}, {}, {}, {}}));
  // MPICH over TCP (UCX) may wait for ever in MPI_Finalize for what a rank that has left it was still to acknowledge.
  mpi->barrier();
}

int rank_main() {
  try {
    serve_until_dismissed();
  } catch (const Error&) {
    // Rank 0 says it, and its exit code is the launch's: launchers mix codes.
  }
  finalize_world(0);
  return 0;
}

std::unique_ptr<Crew> make_rank_crew(const CrewRequest& request) {
  auto* mpi = shared_world();
  if (mpi == nullptr)
    throw InputError("this process is no rank of an MPI launch; start it by culmen launch, mpiexec or srun");
  return std::make_unique<RankCrew>(*mpi, request);
}

}  // namespace culmen
