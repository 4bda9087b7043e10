#include "culmen/worker/slot/slot_evaluator.hpp"

#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>

#include "culmen/base/clock.hpp"
#include "culmen/base/descriptors.hpp"
#include "culmen/base/error.hpp"
#include "culmen/evaluation/codec.hpp"
#include "culmen/worker/core/guarded.hpp"
#include "culmen/worker/process/child.hpp"
#include "culmen/worker/process/evaluation_folders.hpp"
#include "culmen/worker/process/modules.hpp"
#include "culmen/worker/slot/channel.hpp"

namespace culmen {
namespace {
constexpr double log_check_s = 1;  // interval of looking at the log during a long evaluation
constexpr double dying_s = 1;
constexpr std::size_t descriptors_of_a_slot = 4;  // socket (both ends at the start), log, pidfd

class Socket {
 public:
  explicit Socket(int fd) : fd_(fd) {}
  ~Socket() { close(fd_); }
  Socket(const Socket&) = delete;
  int fd() const { return fd_; }

 private:
  int fd_;
};

/// A slot that was killed because its start took too long.
class StartTimedOut : public Error {
 public:
  using Error::Error;
};

/// For messages: the steps of a slot before its first evaluation.
std::string describe_start(const EvaluatorSpec& spec) {
  const auto place_of = [](const std::string& target) { return target.substr(0, target.rfind(':')); };
  if (spec.kind() == EvaluatorKind::items) return "its interpreter and initializer";
  if (spec.kind() == EvaluatorKind::library) return "loading the library " + place_of(spec.as<LibrarySpec>().target);
  const auto& python = spec.as<PythonSpec>();
  return python.pickle.empty() ? "importing " + place_of(python.target) : "unpickling the function";
}

/// For a Python slot; nullptr for a library, whose slot is native.
const std::string* interpreter_of(const EvaluatorSpec& spec) {
  if (const auto* python = std::get_if<PythonSpec>(&spec.how)) return &python->interpreter;
  if (const auto* items = std::get_if<ItemsSpec>(&spec.how)) return &items->interpreter;
  return nullptr;
}

bool takes_batches(const EvaluatorSpec& spec) {
  const auto* python = std::get_if<PythonSpec>(&spec.how);
  return python != nullptr && python->batch > 0;
}

/// The state that belongs to one child.
struct Connection {
  Connection(int ours) : socket(ours) {}
  Socket socket;
  ChildLog log;
  ChannelReader reader;
};

class SlotEvaluator final : public Evaluator {
 public:
  SlotEvaluator(const SetUp& set_up, double start_limit_s)
      : set_up_(set_up),
        spec_(set_up_.evaluator),
        time_limit_s_(set_up.evaluator.time_limit_s),
        start_limit_s_(std::max(time_limit_s_, start_limit_s)),
        what_starts_(describe_start(set_up.evaluator)) {
    const auto& spec = set_up.evaluator;
    request_.environment = {{"CULMEN_RUN", spec.run_marker}};
    if (const auto* interpreter = interpreter_of(spec)) {
      if (interpreter->empty()) throw InputError("a Python evaluator needs the path of its interpreter");
      request_.command = {*interpreter, "-u", "-X", "faulthandler", "-m", "culmen.slot"};
      request_.environment.emplace("PYTHONSAFEPATH",
                                   "1");  // modules in the current folder must not shadow Python's own
    } else {
      request_.command = {find_executable(), "__slot"};
    }
    if (spec.modules.empty()) set_environment();
  }

  void prepare() override {
    if (child_.started() && !died()) return;
    child_.end(true);
    if (!has_environment_) set_environment();
    start();
    const auto received = exchange(encode(set_up_), start_limit_s_);
    if (received == Received::too_late) throw StartTimedOut(end_of_start());
    if (received == Received::nothing) {
      throw Error(with_tail(
          fmt::format("the evaluator's process ({}) {} before it was ready", request_.command[0], end_of_child()),
          connection_->log.tail()));
    }
    const auto frame = connection_->reader.frame();
    if (frame.empty()) return;
    child_.end(true);
    throw InputError(text_in(frame));
  }

  Outcome evaluate(const Candidate& candidate, Attempt attempt) override {
    const Request request{candidate, attempt};
    if (takes_batches(spec_)) return std::move(evaluate_batch({&request, 1}).front());
    if (auto failed = start_failure()) return *std::move(failed);
    return guarded([&] { return ask(candidate, attempt); });
  }

  std::size_t batch() const override { return batch_of(spec_); }

  std::vector<Outcome> evaluate_batch(std::span<const Request> requests) override {
    const double start_s = clock_.now_s();
    auto outcomes = ask_together(requests);
    const double share_s = (clock_.now_s() - start_s) / static_cast<double>(requests.size());
    for (auto& outcome : outcomes) {
      outcome.check_finite();
      outcome.duration_s = share_s;
    }
    return outcomes;
  }

  void interrupt() noexcept override {
    modules_.interrupt();
    child_.interrupt();
  }

 private:
  enum class Received : unsigned char { frame, nothing, too_late };

  void set_environment() {
    for (auto& [name, value] : load_modules(spec_.modules, spec_.run_marker, modules_))
      request_.environment[name] = value;
    for (const auto& [name, value] : spec_.environment) request_.environment[name] = value;
    has_environment_ = true;
  }

  /// Why there is no slot to ask; empty if there is one.
  std::optional<Outcome> start_failure() {
    try {
      prepare();
      return {};
    } catch (const ResourceError&) {
      throw;
    } catch (const StartTimedOut& error) {
      return Outcome::failure(Status::timed_out, error.what());
    } catch (const std::exception& error) {
      return Outcome::failure(Status::failed, error.what());
    }
  }

  void start() {
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
      throw Error(fmt::format("cannot make a socket for a slot: {}", std::strerror(errno)));
    const Socket theirs(pair[1]);
    connection_.emplace(pair[0]);
    const int log = connection_->log.fd();
    request_.descriptors = {{null_device(), 0}, {log, 1}, {log, 2}, {theirs.fd(), slot_descriptor}};
    if (!child_.start(request_)) throw Error("interrupted");
  }

  bool died() const {
    pollfd child{child_.pidfd(), POLLIN, 0};
    return poll(&child, 1, 0) != 0;
  }

  /// Sends a frame and waits for the answer; `limit_s` counts only if there is a time limit.
  Received exchange(BytesView frame, double limit_s) {
    const double deadline_s = time_limit_s_ > 0 ? clock_.now_s() + limit_s : std::numeric_limits<double>::infinity();
    const auto sent = send(frame, deadline_s);
    return sent == Received::frame ? receive(deadline_s) : sent;
  }

  /// `frame`: the one that was sent.
  Received send(BytesView frame, double deadline_s) {
    ChannelWriter writer(frame);
    for (;;) {
      const auto progress = writer.step(connection_->socket.fd(), MSG_DONTWAIT);
      if (progress == ChannelProgress::complete) return Received::frame;
      pollfd wakers[2] = {{connection_->socket.fd(), POLLOUT, 0}, {child_.pidfd(), POLLIN, 0}};
      if (progress == ChannelProgress::more && !wait_for(wakers, deadline_s)) return Received::too_late;
      if (progress == ChannelProgress::ended || wakers[1].revents != 0) return Received::nothing;
    }
  }

  Received receive(double deadline_s) {
    pollfd wakers[2] = {{connection_->socket.fd(), POLLIN, 0}, {child_.pidfd(), POLLIN, 0}};
    for (;;) {
      const double slice_end_s = clock_.now_s() + log_check_s;
      if (!wait_for(wakers, std::min(deadline_s, slice_end_s))) {
        if (deadline_s <= slice_end_s) return Received::too_late;
        keep_log();
        connection_->log.trim();
        continue;
      }
      const auto progress = connection_->reader.step(wakers[0].fd, MSG_DONTWAIT);
      if (progress == ChannelReader::Progress::complete) return Received::frame;
      const bool dead_and_silent = wakers[1].revents != 0 && (wakers[0].revents & POLLIN) == 0;
      if (progress == ChannelReader::Progress::ended || dead_and_silent) return Received::nothing;
    }
  }

  Outcome ask(const Candidate& candidate, Attempt attempt) {
    clear(frame_);
    write_request({candidate, attempt}, frame_);
    return asked(candidate.id, [&] { return answer(connection_->reader.frame(), candidate.id, attempt); });
  }

  /// The outcome of a single call, or of a batch of one.
  template <class Read>
  Outcome asked(EvaluationId evaluation, Read&& read) {
    logged_ = evaluation;
    connection_->log.mark();
    const auto received = exchange(frame_, time_limit_s_);
    auto outcome = received == Received::frame ? read() : no_answer(received);
    keep_log();
    return outcome;
  }

  Outcome no_answer(Received received) {
    if (received == Received::nothing)
      return failure(Status::crashed, fmt::format("the evaluator's process {} without an answer", end_of_child()));
    child_.end(true);
    return failure(Status::timed_out, describe_time_out(time_limit_s_));
  }

  /// If a batch ends its process or exceeds the time limit, each of its candidates is tried alone.
  std::vector<Outcome> ask_together(std::span<const Request> requests) {
    if (auto failed = start_failure()) return std::vector<Outcome>(requests.size(), *failed);
    write_batch(requests);
    std::vector<Outcome> outcomes;
    const auto whole = asked(requests[0].candidate.id, [&] { return answers(requests, outcomes); });
    if (whole.ok()) return outcomes;
    if (requests.size() == 1) return {whole};
    outcomes.clear();
    for (const auto& request : requests) outcomes.push_back(std::move(ask_together({&request, 1}).front()));
    return outcomes;
  }

  static void write_request(const Request& request, Bytes& out) {
    ByteWriter(out).u32(request.attempt);
    encode(request.candidate, out);
  }

  void write_batch(std::span<const Request> requests) {
    clear(frame_);
    ByteWriter frame(frame_);
    frame.u32(static_cast<std::uint32_t>(requests.size()));
    Bytes one;
    for (const auto& request : requests) {
      one.clear();
      write_request(request, one);
      frame.blob(one);
    }
  }

  void keep_log() {
    if (spec_.output != Keep::all || spec_.working_folder.empty()) return;
    if (const auto text = connection_->log.take(); !text.empty())
      add_text(fmt::format("{}/{}/stdout.txt", spec_.working_folder, logged_), text);
  }

  /// The socket of a dying process closes slightly before the process ends.
  std::string end_of_child() {
    pollfd child{child_.pidfd(), POLLIN, 0};
    const bool by_itself = wait_for({&child, 1}, clock_.now_s() + dying_s);
    const int status = child_.end(true);
    if (by_itself) child_.expect_interrupt_after(status);
    return by_itself ? describe_end(status) : "closed its channel";
  }

  std::string end_of_start() {
    child_.end(true);
    const auto why = fmt::format(
        "starting the evaluator ({}) took longer than {} s and was killed; time_limit_s = {} sets this limit",
        what_starts_, start_limit_s_, time_limit_s_);
    return with_tail(
        start_limit_s_ > time_limit_s_ ? fmt::format("{}, which is at least {} s", why, start_limit_s_) : why,
        connection_->log.tail());
  }

  Outcome answer(BytesView bytes, EvaluationId evaluation, Attempt attempt) {
    Outcome outcome;
    try {
      ByteReader frame(bytes);
      const Attempt of_attempt = frame.u32();
      const EvaluationId of_evaluation = frame.u64();
      if (of_evaluation != evaluation || of_attempt != attempt) return stray(of_evaluation, of_attempt);
      decode(frame.take(frame.left()), outcome);
    } catch (const Error& error) {
      return nonsense(error);
    }
    if (outcome.ok() && !outcome.residuals.empty()) outcome.value = Outcome::of_residuals(outcome.residuals).value;
    return outcome;
  }

  /// Ok, or why the answer to a batch is invalid.
  Outcome answers(std::span<const Request> requests, std::vector<Outcome>& outcomes) {
    try {
      ByteReader frame(connection_->reader.frame());
      if (frame.u32() != requests.size()) throw Error("it is for another number of candidates");
      for (const auto& [candidate, attempt] : requests) outcomes.push_back(answer(frame.blob(), candidate.id, attempt));
    } catch (const Error& error) {
      return nonsense(error);
    }
    return {};
  }

  Outcome nonsense(const Error& error) {
    child_.end(true);
    return failure(Status::crashed,
                   fmt::format("the evaluator's process sent an answer that is not an outcome: {}", error.what()));
  }

  /// Anything else on this channel cannot be distinguished from answers, so the channel ends.
  Outcome stray(EvaluationId evaluation, Attempt attempt) {
    child_.end(true);
    return failure(
        Status::crashed,
        fmt::format("the evaluator's process answered for another evaluation ({}, attempt {})", evaluation, attempt));
  }

  Outcome failure(Status status, std::string what) const {
    const auto log = spec_.output == Keep::none ? std::string() : connection_->log.tail();
    return Outcome::failure(status, with_tail(std::move(what), log));
  }

  const SetUp set_up_;
  const EvaluatorSpec& spec_;
  double time_limit_s_;
  double start_limit_s_;
  std::string what_starts_;
  DescriptorRoom room_{descriptors_of_a_slot};
  SpawnRequest request_;
  SteadyClock clock_;
  ProgramRun modules_;
  bool has_environment_ = false;
  Child child_;
  EvaluationId logged_ = 0;  // the evaluation whose folder gets the log; in a batch the first
  std::optional<Connection> connection_;
  Bytes frame_;
};
}  // namespace

std::unique_ptr<Evaluator> make_slot_evaluator(const SetUp& set_up, double start_limit_s) {
  return std::make_unique<SlotEvaluator>(set_up, start_limit_s);
}

}  // namespace culmen
