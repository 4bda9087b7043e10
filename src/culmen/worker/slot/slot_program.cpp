#include "culmen/worker/slot/slot_program.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "culmen/base/stops.hpp"
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

void answer_all(Evaluator& evaluator, ChannelReader& reader, pid_t slot, int log) {
  Candidate candidate;
  Bytes reply;
  while (receive(reader)) {
    ByteReader request(reader.frame());
    const Attempt attempt = request.u32();
    decode(request.take(request.left()), candidate);
    const Outcome outcome = evaluator.evaluate(candidate, attempt);
    end_copy_of(slot, outcome.ok());
    std::fflush(stdout);  // the output so far belongs to this evaluation
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
  static const StopSignalsIgnored ignored;  // also while exit() runs what the library has registered
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
