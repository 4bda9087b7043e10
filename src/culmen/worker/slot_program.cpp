#include "culmen/worker/slot_program.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>

#include "culmen/base/process.hpp"
#include "culmen/evaluation/codec.hpp"
#include "culmen/worker/channel.hpp"
#include "culmen/worker/evaluators.hpp"

namespace culmen {
namespace {
bool receive(ChannelReader& reader) {
  auto progress = ChannelReader::Progress::more;
  while (progress == ChannelReader::Progress::more) progress = reader.step(slot_descriptor, 0);
  return progress == ChannelReader::Progress::complete;
}

bool send_text(std::string_view text) { return send_frame(slot_descriptor, std::as_bytes(std::span(text))); }

void answer_all(Evaluator& evaluator, ChannelReader& reader) {
  Candidate candidate;
  Bytes reply;
  while (receive(reader)) {
    ByteReader request(reader.frame());
    const Attempt attempt = request.u32();
    decode(request.take(request.left()), candidate);
    reply.clear();
    encode(evaluator.evaluate(candidate, attempt), reply);
    if (!send_frame(slot_descriptor, reply)) return;
  }
}
}  // namespace

int slot_main() {
  fcntl(slot_descriptor, F_SETFD, FD_CLOEXEC);  // whatever the function starts must not hold the socket open
  // Stopping is the master's to decide, though the signal may reach every process. A handler, unlike SIG_IGN, is not
  // handed on to what the function starts.
  for (const int stop : stop_signals) {
    struct sigaction nothing {};
    nothing.sa_handler = [](int) {};
    nothing.sa_flags = SA_RESTART;
    sigaction(stop, &nothing, nullptr);
  }
  ChannelReader reader;
  if (!receive(reader)) return 1;
  std::unique_ptr<Evaluator> evaluator;
  try {
    evaluator = make_library_evaluator(decode_set_up(reader.frame()));
  } catch (const std::exception& error) {
    return send_text(error.what()) ? 0 : 1;
  }
  try {
    if (send_text("")) answer_all(*evaluator, reader);
  } catch (const std::exception& error) {
    fmt::print(stderr, "culmen: slot: {}\n", error.what());
    return 1;
  }
  return 0;
}

}  // namespace culmen
