#include "culmen/worker/slot/slot_evaluator.hpp"

#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "culmen/base/clock.hpp"
#include "culmen/base/descriptors.hpp"
#include "culmen/base/error.hpp"
#include "culmen/evaluation/codec.hpp"
#include "culmen/worker/core/guarded.hpp"
#include "culmen/worker/process/child.hpp"
#include "culmen/worker/process/evaluation_folders.hpp"
#include "culmen/worker/process/modules.hpp"
#include "culmen/worker/slot/slot_connection.hpp"
#include "culmen/worker/slot/slot_start.hpp"

namespace culmen {
namespace {
constexpr double log_check_s = 1;  // interval of looking at the log during a long evaluation
constexpr double dying_s = 1;
constexpr std::size_t most_ahead_bytes = 1024 * 1024;  // of a request that is held twice, here and in the worker
constexpr std::size_t descriptors_of_a_slot = 4;       // socket (both ends at the start), log, pidfd

/// A slot that was killed because its start took too long.
class StartTimedOut : public Error {
 public:
  using Error::Error;
};

bool takes_batches(const EvaluatorSpec& spec) {
  const auto* python = std::get_if<PythonSpec>(&spec.how);
  return python != nullptr && python->batch > 0;
}

class SlotEvaluator final : public Evaluator {
 public:
  SlotEvaluator(const SetUp& set_up, double start_limit_s)
      : set_up_(set_up),
        spec_(set_up_.evaluator),
        time_limit_s_(set_up.evaluator.time_limit_s),
        start_limit_s_(std::max(time_limit_s_, start_limit_s)),
        what_starts_(describe_start(set_up.evaluator)),
        request_(slot_request(set_up.evaluator)) {
    if (spec_.modules.empty()) set_environment();
  }

  void prepare() override {
    if (child_.started() && !died()) return;
    child_.end(true);
    if (!has_environment_) set_environment();
    start();
    const auto received = exchange(encode(set_up_), deadline_after(clock_.now_s(), start_limit_s_));
    if (received == Received::too_late) throw StartTimedOut(end_of_start());
    if (received != Received::frame) {
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
    return evaluated(candidate, attempt, nullptr);
  }

  Outcome evaluate_ahead(const Candidate& candidate, Attempt attempt, Upcoming& upcoming) override {
    return evaluated(candidate, attempt, &upcoming);
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
  /// `nothing`: the child is gone. `unread`: it is gone, and has not read everything.
  enum class Received : unsigned char { frame, nothing, unread, too_late };

  Outcome evaluated(const Candidate& candidate, Attempt attempt, Upcoming* upcoming) {
    const Request request{candidate, attempt};
    if (takes_batches(spec_)) return std::move(evaluate_batch({&request, 1}).front());
    const SlotLabel label{candidate.id, attempt};
    if (was_sent_ahead(label)) {
      if (auto outcome = collect(label, upcoming)) return *std::move(outcome);
    }
    if (auto failed = start_failure()) return *std::move(failed);
    return timed(clock_.now_s(), [&] { return ask(request, upcoming); });
  }

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
    auto [ours, theirs] = SlotSocket::make_pair();
    connection_.emplace(std::move(ours));
    const int log = connection_->log.fd();
    request_.descriptors = {{null_device(), 0}, {log, 1}, {log, 2}, {theirs.fd(), slot_descriptor}};
    if (!child_.start(request_)) throw Error("interrupted");
  }

  bool died() const {
    pollfd child{child_.pidfd(), POLLIN, 0};
    return poll(&child, 1, 0) != 0;
  }

  /// `limit_s` counts only if there is a time limit.
  double deadline_after(double begin_s, double limit_s) const {
    return time_limit_s_ > 0 ? begin_s + limit_s : std::numeric_limits<double>::infinity();
  }

  /// Sends a frame and waits for the answer.
  Received exchange(Bytes frame, double deadline_s) {
    connection_->outbox.add(std::move(frame));
    return receive(deadline_s, nullptr);
  }

  /// Waits for the next answer, and meanwhile sends what is not sent yet and what is upcoming.
  Received receive(double deadline_s, Upcoming* upcoming) {
    auto& [socket, log, reader, outbox, ahead] = *connection_;
    bool unread = false;
    for (;;) {
      if (upcoming != nullptr && send_ahead(*upcoming)) upcoming = nullptr;
      unread |= outbox.write_some(socket) == ChannelProgress::reset;
      const short wanted = outbox.empty() ? POLLIN : POLLIN | POLLOUT;
      const int arrivals = upcoming != nullptr ? upcoming->arrivals() : -1;
      pollfd wakers[3] = {{socket.fd(), wanted, 0}, {child_.pidfd(), POLLIN, 0}, {arrivals, POLLIN, 0}};
      const double slice_end_s = clock_.now_s() + log_check_s;
      if (!reader.holds_more() && !wait_for(wakers, std::min(deadline_s, slice_end_s))) {
        if (deadline_s <= slice_end_s) return Received::too_late;
        keep_log(std::numeric_limits<std::uint64_t>::max());
        log.trim();
        continue;
      }
      const bool only_arrivals = wakers[2].revents != 0 && wakers[0].revents == 0 && wakers[1].revents == 0;
      if (only_arrivals) continue;
      const auto progress = reader.step(socket.fd(), MSG_DONTWAIT);
      if (progress == ChannelProgress::complete) return Received::frame;
      unread |= progress == ChannelProgress::reset;
      const bool dead_and_silent = wakers[1].revents != 0 && (wakers[0].revents & POLLIN) == 0;
      if (progress != ChannelProgress::more || dead_and_silent) return unread ? Received::unread : Received::nothing;
    }
  }

  bool was_sent_ahead(const SlotLabel& label) {
    if (!child_.started() || !connection_->ahead) return false;
    if (*connection_->ahead == label) return true;
    child_.end(true);
    return false;
  }

  /// True if no further candidate can be sent before the next call.
  bool send_ahead(Upcoming& upcoming) {
    const auto* next = upcoming.next();
    if (next == nullptr) return false;
    auto frame = request_frame(*next);
    if (frame.size() > most_ahead_bytes) return true;
    connection_->ahead = {next->candidate.id, next->attempt};
    connection_->outbox.add(std::move(frame));
    return true;
  }

  /// The outcome of the candidate that was sent ahead; empty if the child died before reading it.
  std::optional<Outcome> collect(const SlotLabel& label, Upcoming* upcoming) {
    connection_->ahead.reset();
    auto received = Received::nothing;
    auto outcome = timed(answered_s_, [&] {
      return asked(label.evaluation, answered_s_, died() ? nullptr : upcoming, received,
                   [&] { return answer(connection_->reader.frame(), label); });
    });
    if (received == Received::unread && !connection_->ahead) return {};  // it is this request that was not read
    return outcome;
  }

  Outcome ask(const Request& request, Upcoming* upcoming) {
    const SlotLabel label{request.candidate.id, request.attempt};
    connection_->log.mark();
    connection_->outbox.add(request_frame(request));
    auto received = Received::nothing;
    return asked(label.evaluation, clock_.now_s(), upcoming, received,
                 [&] { return answer(connection_->reader.frame(), label); });
  }

  /// The outcome of a call that is with the child or among the outgoing frames.
  template <class Read>
  Outcome asked(EvaluationId evaluation, double begin_s, Upcoming* upcoming, Received& received, Read&& read) {
    logged_ = evaluation;
    log_end_ = std::numeric_limits<std::uint64_t>::max();
    received = receive(deadline_after(begin_s, time_limit_s_), upcoming);
    answered_s_ = clock_.now_s();
    const bool unasked = connection_->reader.holds_more() && !connection_->ahead;
    auto outcome = received == Received::frame && !unasked ? read() : no_answer(received);
    connection_->reader.release();
    keep_log(log_end_);
    if (connection_->ahead) connection_->log.mark(log_end_);
    return outcome;
  }

  template <class Evaluate>
  Outcome timed(double begin_s, Evaluate&& evaluate) {
    auto outcome = guarded(evaluate);
    outcome.duration_s = clock_.now_s() - begin_s;
    return outcome;
  }

  Outcome no_answer(Received received) {
    if (received != Received::too_late)
      return failure(Status::crashed,
                     fmt::format("the process that evaluates {} before it returned a result", end_of_child()));
    child_.end(true);
    return failure(Status::timed_out, describe_time_out(time_limit_s_));
  }

  /// If a batch ends its process or exceeds the time limit, each of its candidates is tried alone.
  std::vector<Outcome> ask_together(std::span<const Request> requests) {
    if (auto failed = start_failure()) return std::vector<Outcome>(requests.size(), *failed);
    connection_->log.mark();
    connection_->outbox.add(batch_frame(requests));
    std::vector<Outcome> outcomes;
    auto received = Received::nothing;
    const auto whole =
        asked(requests[0].candidate.id, clock_.now_s(), nullptr, received, [&] { return answers(requests, outcomes); });
    if (whole.ok()) return outcomes;
    if (requests.size() == 1) return {whole};
    outcomes.clear();
    for (const auto& request : requests) outcomes.push_back(std::move(ask_together({&request, 1}).front()));
    return outcomes;
  }

  /// Keeps what is in the log's first `end` bytes.
  void keep_log(std::uint64_t end) {
    if (spec_.output != Keep::all || spec_.working_folder.empty()) return;
    if (const auto text = connection_->log.take(end); !text.empty())
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

  Outcome answer(BytesView bytes, const SlotLabel& wanted) {
    Outcome outcome;
    try {
      ByteReader frame(bytes);
      SlotLabel label;
      label.attempt = frame.u32();
      label.evaluation = frame.u64();
      if (label != wanted) return stray(label);
      log_end_ = frame.u64();
      const auto payload = decode_without_payload(frame.take(frame.left()), outcome);
      outcome.payload =
          takes_batches(spec_) ? Bytes(payload.begin(), payload.end()) : connection_->reader.take(payload);
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
      for (const auto& [candidate, attempt] : requests)
        outcomes.push_back(answer(frame.blob(), {candidate.id, attempt}));
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
  Outcome stray(const SlotLabel& label) {
    child_.end(true);
    return failure(Status::crashed,
                   fmt::format("the evaluator's process answered for another evaluation ({}, attempt {})",
                               label.evaluation, label.attempt));
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
  EvaluationId logged_ = 0;    // the evaluation whose folder gets the log; in a batch the first
  std::uint64_t log_end_ = 0;  // of the last evaluation
  double answered_s_ = 0;      // when it ended
  std::optional<SlotConnection> connection_;
};
}  // namespace

std::unique_ptr<Evaluator> make_slot_evaluator(const SetUp& set_up, double start_limit_s) {
  return std::make_unique<SlotEvaluator>(set_up, start_limit_s);
}

}  // namespace culmen
