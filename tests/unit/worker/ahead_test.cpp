// Requests that wait in the child of a slot while it evaluates another one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <future>
#include <optional>

#include "culmen/evaluation/codec.hpp"
#include "culmen/transport/mailbox/mailbox.hpp"
#include "culmen/worker/worker.hpp"
#include "helpers.hpp"

namespace culmen {
namespace {
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

enum How : int { works = 0, dies = 1, hangs = 2, takes_a_while = 3, dies_before_the_next = 4 };

/// Evaluation i has x = i. samples/ahead.py makes a file when an evaluation begins.
class Ahead : public testing::Test {
 protected:
  Ahead() {
    spec_ = python_spec("");
    spec_.as<PythonSpec>().target = SAMPLES_FOLDER "/ahead.py:f";
    spec_.environment["MARKS"] = marks_;
  }

  void start() {
    evaluator_ = make_evaluator({two_parameters(), spec_});
    evaluator_->prepare();
  }
  static Request request(EvaluationId id, How how) { return {{id, {static_cast<double>(id), double(how)}}, 0}; }
  Outcome evaluate(const Request& request, const std::optional<Request>& next = {}) {
    struct Following : Upcoming {
      const Request* next() override { return request ? &*request : nullptr; }
      std::optional<Request> request;
    } following;
    following.request = next;
    return evaluator_->evaluate_ahead(request.candidate, request.attempt, following);
  }
  bool begins(EvaluationId id) const {
    return holds_within(patience_s, [&] { return std::filesystem::exists(marks_ + "/" + std::to_string(id)); });
  }
  /// The child that evaluated it; 0 if it failed.
  static double child_of(const Outcome& outcome) {
    EXPECT_TRUE(outcome.ok()) << outcome.message;
    return outcome.ok() ? outcome.value : 0;
  }

  std::string marks_ = fresh_folder();
  EvaluatorSpec spec_;
  std::unique_ptr<Evaluator> evaluator_;
};

TEST_F(Ahead, the_child_goes_on_by_itself) {
  start();
  const auto first = child_of(evaluate(request(1, works), request(2, works)));
  EXPECT_TRUE(begins(2));
  const auto second = evaluate(request(2, works), request(3, works));
  EXPECT_EQ(child_of(second), first);
  EXPECT_EQ(second.extras[0].second, 2);
  EXPECT_TRUE(begins(3));
  EXPECT_EQ(child_of(evaluate(request(3, works))), first);
  EXPECT_EQ(child_of(evaluate(request(4, works))), first);
}

TEST_F(Ahead, a_long_run_gives_every_evaluation_its_own_answer) {
  start();
  for (EvaluationId i = 0; i < 9; ++i)
    EXPECT_EQ(evaluate(request(i, works), request(i + 1, works)).extras[0].second, static_cast<double>(i));
}

TEST_F(Ahead, a_death_fails_only_the_evaluation_that_was_running) {
  start();
  const auto first = evaluate(request(1, dies), request(2, works));
  EXPECT_EQ(first.status, Status::crashed);
  EXPECT_THAT(first.message, AllOf(HasSubstr("SIGKILL"), HasSubstr("this is 1")));
  const auto second = child_of(evaluate(request(2, works), request(3, dies)));
  ASSERT_TRUE(begins(3));
  const auto third = evaluate(request(3, dies), request(4, works));
  EXPECT_EQ(third.status, Status::crashed);
  EXPECT_THAT(third.message, AllOf(HasSubstr("this is 3"), Not(HasSubstr("this is 2"))));
  EXPECT_NE(child_of(evaluate(request(4, works))), second);
}

TEST_F(Ahead, a_request_that_the_dying_child_has_not_read_goes_to_a_new_one) {
  start();
  evaluate(request(1, works), request(2, dies_before_the_next));
  ASSERT_TRUE(begins(2));
  const auto second = child_of(evaluate(request(2, dies_before_the_next), request(3, works)));
  EXPECT_NE(child_of(evaluate(request(3, works))), second);
}

TEST_F(Ahead, the_time_limit_of_an_evaluation_begins_after_the_one_before) {
  spec_.time_limit_s = 5;
  start();
  child_of(evaluate(request(1, takes_a_while), request(2, takes_a_while)));
  child_of(evaluate(request(2, takes_a_while), request(3, hangs)));
  ASSERT_TRUE(begins(3));
  EXPECT_EQ(evaluate(request(3, hangs), request(4, works)).status, Status::timed_out);
  child_of(evaluate(request(4, works)));
}

TEST_F(Ahead, an_interrupt_ends_both) {
  start();
  auto running = std::async(std::launch::async, [&] { return evaluate(request(1, hangs), request(2, hangs)); });
  ASSERT_TRUE(begins(1));
  evaluator_->interrupt();
  EXPECT_FALSE(running.get().ok());
  EXPECT_FALSE(evaluate(request(2, hangs)).ok());
  EXPECT_TRUE(holds_within(patience_s, [&] { return processes_of(spec_.run_marker).empty(); }));
  EXPECT_FALSE(std::filesystem::exists(marks_ + "/2"));
}

TEST_F(Ahead, another_candidate_than_the_expected_one_is_evaluated_all_the_same) {
  start();
  evaluate(request(1, works), request(2, hangs));
  EXPECT_EQ(evaluate(request(3, works)).extras[0].second, 3);
}

TEST_F(Ahead, output_is_that_of_its_own_evaluation) {
  spec_.output = Keep::all;
  spec_.working_folder = fresh_folder();
  start();
  evaluate(request(1, works), request(2, works));
  ASSERT_TRUE(begins(2));
  evaluate(request(2, works), request(3, works));
  evaluate(request(3, works));
  for (const char* id : {"1", "2", "3"})
    EXPECT_EQ(read_file(spec_.working_folder + "/" + id + "/stdout.txt"), std::string("this is ") + id + "\n");
}

TEST_F(Ahead, a_library_goes_on_by_itself_too) {
  spec_ = library_spec("sphere", Isolation::process);
  start();
  for (EvaluationId i = 0; i < 9; ++i)
    EXPECT_EQ(evaluate(request(i, works), request(i + 1, works)).value, static_cast<double>(i * i));
}

/// The first evaluation hangs; the second one arrives later. Its child has it all the same.
TEST_F(Ahead, what_arrives_during_an_evaluation_waits_in_the_child_too) {
  const auto memory = MailboxMemory::create({.workers = 1});
  MailboxTransport master(memory);
  Worker worker;
  auto served = std::async(std::launch::async, [&] {
    MailboxEndpoint endpoint(memory, 0);
    return serve(endpoint, worker);
  });
  const auto send = [&](const Request& request) {
    Bytes body;
    encode(request.candidate, body);
    master.send(0, {.evaluation = request.candidate.id, .kind = FrameKind::evaluate}, body);
  };
  master.send(0, {.kind = FrameKind::set_up}, encode(culmen::SetUp{two_parameters(), spec_}));
  send(request(1, dies_before_the_next));
  ASSERT_TRUE(begins(1));
  send(request(2, works));  // the first one ends once this is with its child
  EXPECT_TRUE(begins(2));
  master.close(patience_s);
  EXPECT_EQ(served.get(), "");
}

TEST_F(Ahead, large_requests_and_answers_pass_each_other) {
  spec_.as<PythonSpec>().target = SAMPLES_FOLDER "/ahead.py:many";
  spec_.result = ResultKind::residuals;
  start();
  const std::vector<double> x = {1, 0};
  for (EvaluationId i = 0; i < 4; ++i) {
    const auto outcome = evaluate({{i, x, Bytes(900'000)}, 0}, Request{{i + 1, x, Bytes(900'000)}, 0});
    EXPECT_EQ(outcome.residuals.size(), 200'000U) << outcome.message;
  }
}

}  // namespace
}  // namespace culmen
