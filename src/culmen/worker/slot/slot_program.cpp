#include "culmen/worker/slot/slot_program.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>

#include "culmen/base/process.hpp"
#include "culmen/evaluation/codec.hpp"
#include "culmen/worker/core/library_evaluator.hpp"
#include "culmen/worker/slot/channel.hpp"

namespace culmen {
namespace {
bool receive(ChannelReader& reader) {
  auto progress = ChannelReader::Progress::more;
  while (progress == ChannelReader::Progress::more) progress = reader.step(slot_descriptor, 0);
  return progress == ChannelReader::Progress::complete;
}

bool send_text(std::string_view text) { return send_frame(slot_descriptor, std::as_bytes(std::span(text))); }

/// Ends this process at once if the user's code forked it and returned here: only the slot itself may answer. Buffers
/// are not flushed, because the slot will write their contents.
void end_copy_of(pid_t slot, bool went_well) {
  if (getpid() != slot) _exit(went_well ? 0 : 1);
}

thread_local sigset_t former_mask;

void block_stops() {
  sigset_t stops;
  sigemptyset(&stops);
  for (const int stop : stop_signals) sigaddset(&stops, stop);
  pthread_sigmask(SIG_BLOCK, &stops, &former_mask);
}

void unblock_stops() { pthread_sigmask(SIG_SETMASK, &former_mask, nullptr); }

/// The master decides when to stop, although the signal may reach every process. Unlike SIG_IGN, a program that the
/// function starts does not inherit a handler. A fork does, so it gets the default action. The signals are blocked
/// until then, so that none is lost in between.
void ignore_stops() {
  for (const int stop : stop_signals) {
    struct sigaction nothing {};
    nothing.sa_handler = [](int) {};
    nothing.sa_flags = SA_RESTART;
    sigaction(stop, &nothing, nullptr);
  }
  pthread_atfork(block_stops, unblock_stops, [] {
    for (const int stop : stop_signals) signal(stop, SIG_DFL);
    unblock_stops();
  });
}

void answer_all(Evaluator& evaluator, ChannelReader& reader, pid_t slot, int log) {
  Candidate candidate;
  Bytes reply;
  while (receive(reader)) {
    ByteReader request(reader.frame());
    const Attempt attempt = request.u32();
    decode(request.take(request.left()), candidate);
    const Outcome outcome = evaluator.evaluate(candidate, attempt);
    end_copy_of(slot, outcome.ok());
    std::fflush(stdout);  // what it printed is this evaluation's
    reply.clear();
    ByteWriter head(reply);
    head.u32(attempt);
    head.u64(candidate.id);
    head.u64(static_cast<std::uint64_t>(lseek(log, 0, SEEK_END)));
    encode(outcome, reply);
    if (!send_frame(slot_descriptor, reply)) return;
  }
}
}  // namespace

int slot_main() {
  const pid_t slot = getpid();
  fcntl(slot_descriptor, F_SETFD, FD_CLOEXEC);  // processes that the function starts must not hold the socket open
  const int log = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, slot_descriptor + 1);  // the function may close stdout
  ignore_stops();
  ChannelReader reader;
  if (!receive(reader)) return 1;
  std::unique_ptr<Evaluator> evaluator;
  try {
    evaluator = make_library_evaluator(decode_set_up(reader.frame()));
  } catch (const std::exception& error) {
    end_copy_of(slot, false);
    return send_text(error.what()) ? 0 : 1;
  }
  end_copy_of(slot, true);
  try {
    if (send_text("")) answer_all(*evaluator, reader, slot, log);
  } catch (const std::exception& error) {
    fmt::print(stderr, "culmen: slot: {}\n", error.what());
    return 1;
  }
  return 0;
}

}  // namespace culmen
