// A slot whose start hangs: an interpreter, an import, the constructor of a library.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "culmen/base/error.hpp"
#include "culmen/evaluation/codec.hpp"
#include "culmen/worker/slot/slot_evaluator.hpp"
#include "culmen/worker/worker.hpp"
#include "helpers.hpp"

namespace culmen {
namespace {
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

EvaluatorSpec hanging_import(double time_limit_s) {
  auto spec = python_spec("");
  spec.as<PythonSpec>().target = SAMPLES_FOLDER "/hangs_at_import.py:f";
  spec.time_limit_s = time_limit_s;
  return spec;
}

EvaluatorFactory with_start_limit(double start_limit_s) {
  return [start_limit_s](const SetUp& set_up) { return make_slot_evaluator(set_up, start_limit_s); };
}

/// A worker's answer to its master about a set-up.
std::string hello(const EvaluatorSpec& spec, double start_limit_s) {
  Worker worker(with_start_limit(start_limit_s));
  const auto& reply = worker.on({11, 7, 3, 2, FrameKind::set_up, 0}, encode(SetUp{two_parameters(), spec}));
  EXPECT_EQ(reply.head.kind, FrameKind::hello);
  EXPECT_TRUE(holds_within(patience_s, [&] { return processes_of(spec.run_marker).empty(); }));
  return {reinterpret_cast<const char*>(reply.body.data()), reply.body.size()};
}

TEST(StartLimit, ends_an_import_that_hangs_with_a_sentence_in_the_hello) {
  EXPECT_EQ(
      hello(hanging_import(0.1), 0.5),
      "starting the evaluator (importing " SAMPLES_FOLDER
      "/hangs_at_import.py) took longer than 0.5 s and was killed; time_limit_s = 0.1 sets this limit, which is at "
      "least 0.5 s");
}

TEST(StartLimit, is_the_time_limit_where_that_is_longer) {
  EXPECT_THAT(hello(hanging_import(0.5), 0.1),
              testing::EndsWith("took longer than 0.5 s and was killed; time_limit_s = 0.5 sets this limit"));
}

TEST(StartLimit, is_a_minute_for_every_evaluator_that_has_a_time_limit) {
  EXPECT_EQ(shortest_start_limit_s, 60);
  auto quick = python_spec("sphere");
  quick.time_limit_s = 0.01;  // shorter than any start of Python
  const auto evaluator = make_evaluator({two_parameters(), quick});
  EXPECT_NO_THROW(evaluator->prepare());
}

TEST(StartLimit, ends_the_loading_of_a_library_that_hangs) {
  auto spec = library_spec("noop", Isolation::process);
  spec.as<LibrarySpec>().target = HANGS_WHEN_LOADED ":f";
  spec.time_limit_s = 0.1;
  EXPECT_THAT(hello(spec, 0.2), StartsWith("starting the evaluator (loading the library " HANGS_WHEN_LOADED
                                           ") took longer than 0.2 s and was killed"));
}

TEST(StartLimit, holds_though_the_interpreter_never_reads_what_it_is_to_do) {
  auto spec = python_spec("");
  const auto script = fresh_folder() + "/python";
  std::ofstream(script) << "#!/bin/sh\necho looking for a licence\nexec sleep 3600\n";
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  spec.as<PythonSpec>().interpreter = script;
  spec.as<PythonSpec>().pickle = Bytes(8 << 20);  // more than the socket holds
  spec.time_limit_s = 0.1;
  EXPECT_THAT(hello(spec, 0.3), AllOf(StartsWith("starting the evaluator (unpickling the function) took longer than"),
                                      HasSubstr("\nlooking for a licence")));
}

TEST(StartLimit, makes_an_evaluation_timed_out_where_the_slot_has_to_start_again) {
  auto spec = python_spec("");
  const auto folder = fresh_folder();
  std::ofstream(folder + "/hangs_the_second_time.py") << "import os, time\n"
                                                         "if os.path.exists(__file__ + '.was_here'):\n"
                                                         "    time.sleep(3600)\n"
                                                         "open(__file__ + '.was_here', 'w').close()\n"
                                                         "def f(p):\n"
                                                         "    os.abort()\n";
  spec.as<PythonSpec>().target = folder + "/hangs_the_second_time.py:f";
  spec.time_limit_s = 0.5;
  const auto evaluator = make_slot_evaluator({two_parameters(), spec}, 2);
  evaluator->prepare();
  EXPECT_EQ(evaluator->evaluate(some_candidate(), 0).status, Status::crashed);
  const auto outcome = evaluator->evaluate(some_candidate(), 1);
  EXPECT_EQ(outcome.status, Status::timed_out);
  EXPECT_THAT(outcome.message, HasSubstr("took longer than 2 s and was killed"));
  EXPECT_TRUE(holds_within(patience_s, [&] { return processes_of(spec.run_marker).empty(); }));
}

}  // namespace
}  // namespace culmen
