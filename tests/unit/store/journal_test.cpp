#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>

#include "culmen/base/clock.hpp"
#include "culmen/base/error.hpp"
#include "culmen/store/call_codec.hpp"
#include "store_test.hpp"

namespace culmen {
namespace {
using testing::HasSubstr;

using JournalTest = StoreTest;

TEST_F(JournalTest, the_study_comes_back_as_it_was_written) {
  make(path).close();
  const auto journal = Journal::read(path);
  const auto& study = journal.study();
  EXPECT_EQ(study.name, "pion");
  EXPECT_EQ(study.configuration, R"({"budget": 100})");
  EXPECT_EQ(study.fingerprint, "5f2a");
  EXPECT_EQ(study.build, "culmen 0.1 (g++ 12)");
  EXPECT_EQ(study.created_s, 1234.5);
  EXPECT_EQ(study.budget, 100U);
  EXPECT_EQ(journal.epoch(), 1U);
}

TEST_F(JournalTest, every_kind_of_call_comes_back_in_order) {
  auto journal = make(path);
  auto awkward = ask(0, 3, 3);
  awkward.wanted = 5;
  awkward.candidates[1].x = {-0.0, std::numeric_limits<double>::denorm_min(), -1e308};
  auto resize = call(CallKind::resize);
  resize.wanted = 17;
  auto cancel = tell({1, 2, 0});
  cancel.kind = CallKind::cancel;
  auto adopt = call(CallKind::adopt);
  adopt.wanted = 3;
  const std::vector<CallRecord> written{awkward,
                                        ask(3, 0),
                                        ask(3, 1, 1),
                                        adopt,
                                        tell({2, 0, 1, 7, 8, 9}),
                                        cancel,
                                        tell({}),
                                        resize,
                                        call(CallKind::finish, "budget of 4 reached: 'ok'\n")};
  for (const EvaluationId id : {0, 1, 2, 7, 8, 9}) journal.append(outcome(id, 1));
  for (const auto& record : written) journal.append(record);
  journal.commit();
  const auto read = calls_of(Journal::read(path));
  ASSERT_EQ(read.size(), written.size());
  for (std::size_t k = 0; k < read.size(); ++k) {
    EXPECT_EQ(read[k].kind, written[k].kind) << k;
    EXPECT_EQ(read[k].wanted, written[k].wanted) << k;
    EXPECT_EQ(read[k].candidates, written[k].candidates) << k;
    EXPECT_EQ(read[k].ids, written[k].ids) << k;
    EXPECT_EQ(read[k].note, written[k].note) << k;
  }
  EXPECT_TRUE(std::signbit(read[0].candidates[1].x[0]));
}

TEST_F(JournalTest, an_outcome_comes_back_whole) {
  auto journal = make(path);
  OutcomeRecord record{7, 2, 1, 5, 99.25, Outcome::of_residuals({1, -2})};
  record.outcome.extras = {{"chi", 0.5}};
  record.outcome.duration_s = 0.25;
  journal.append(record);
  journal.append(OutcomeRecord{8, 2, 0, 6, 99.5, Outcome::failure(Status::crashed, "signal 11")});
  journal.commit();
  const auto reader = Journal::read(path);
  const auto good = reader.outcome(7), bad = reader.outcome(8);
  ASSERT_TRUE(good && bad);
  EXPECT_EQ(good->evaluation, 7U);
  EXPECT_EQ(good->epoch, 2U);
  EXPECT_EQ(good->attempt, 1U);
  EXPECT_EQ(good->worker, 5U);
  EXPECT_EQ(good->at_s, 99.25);
  EXPECT_EQ(good->outcome.value, 5.0);
  EXPECT_EQ(good->outcome.residuals, (std::vector<double>{1, -2}));
  EXPECT_EQ(good->outcome.extras, record.outcome.extras);
  EXPECT_EQ(good->outcome.duration_s, 0.25);
  EXPECT_EQ(bad->outcome.status, Status::crashed);
  EXPECT_EQ(bad->outcome.message, "signal 11");
  EXPECT_TRUE(std::isnan(bad->outcome.value));
  EXPECT_FALSE(reader.outcome(9));
}

TEST_F(JournalTest, the_first_outcome_of_an_evaluation_wins) {
  auto journal = make(path);
  journal.append(outcome(0, 5));
  journal.append(outcome(0, 1));
  journal.append(CallRecord{CallKind::tell, 0, {}, {0}, {}});
  journal.commit();
  EXPECT_EQ(journal.outcome(0)->outcome.value, 5);
  EXPECT_EQ(journal.summary().outcomes, 1U);
  EXPECT_EQ(journal.summary().best->outcome.value, 5);
}

TEST_F(JournalTest, outcomes_stream_from_where_asked_in_order_of_evaluation) {
  auto journal = make(path);
  for (EvaluationId id : {4, 0, 9, 2}) journal.append(outcome(id, 1));
  journal.commit();
  std::vector<EvaluationId> all, some;
  for (const auto& record : outcomes_of(journal)) all.push_back(record.evaluation);
  journal.outcomes(
      1, [&](const OutcomeRecord& record) { some.push_back(record.evaluation); }, 2);
  EXPECT_EQ(all, (std::vector<EvaluationId>{0, 2, 4, 9}));
  EXPECT_EQ(some, (std::vector<EvaluationId>{2, 4}));
}

TEST_F(JournalTest, an_outcome_can_be_looked_up_while_others_stream) {
  auto journal = make(path);
  for (EvaluationId id = 0; id < 5; ++id) journal.append(outcome(id, 1));
  journal.commit();
  std::size_t seen = 0;
  journal.outcomes(0, [&](const OutcomeRecord& record) { seen += journal.outcome(4 - record.evaluation).has_value(); });
  EXPECT_EQ(seen, 5U);
}

TEST_F(JournalTest, what_was_not_committed_is_gone) {
  {
    auto journal = make(path);
    journal.append(ask(0, 2));
    journal.commit();
    journal.append(ask(2, 2));
    EXPECT_EQ(Journal::read(path).summary().asked, 2U);
  }
  auto journal = Journal::resume(path, Durability::process);
  EXPECT_EQ(journal.summary().asked, 2U);
  journal.append(ask(2, 1));
  journal.commit();
  EXPECT_EQ(calls_of(journal).size(), 2U);
}

TEST_F(JournalTest, the_summary_counts) {
  auto journal = make(path);
  journal.append(ask(0, 4));
  journal.append(ask(4, 4));
  journal.append(outcome(2, 3));
  journal.append(outcome(6, -1));
  journal.append(outcome(5, -1));
  journal.append(outcome(7, -9));
  journal.append(OutcomeRecord{0, 1, 0, 0, 1500, Outcome::failure(Status::failed, "no")});
  journal.append(OutcomeRecord{1, 1, 0, 0, 2000, Outcome::failure(Status::failed, "no")});
  journal.append(tell({1, 2, 5}));
  journal.commit();
  journal = [&] {
    journal.close();
    return Journal::resume(path, Durability::power);
  }();
  journal.append(tell({6}));
  journal.append(call(CallKind::cancel, ""));
  journal.commit();
  const auto summary = journal.summary();
  EXPECT_EQ(summary.asked, 8U);
  EXPECT_EQ(summary.outcomes, 6U);
  EXPECT_EQ(summary.failed, 1U) << "what was not told is no result of the study";
  EXPECT_EQ(summary.told, 4U);
  EXPECT_EQ(summary.epoch, 2U);
  EXPECT_EQ(summary.last_outcome_s, 2000);
  EXPECT_EQ(summary.finished, "");
  ASSERT_TRUE(summary.best && summary.best_candidate);
  EXPECT_EQ(summary.best->evaluation, 5U);
  EXPECT_EQ(summary.best_candidate->id, 5U);
  EXPECT_EQ(summary.best_candidate->x, ask(5, 1).candidates[0].x);
}

OutcomeRecord failure(EvaluationId id, Status status, std::string message) {
  return {id, 1, 0, 3, 1000, Outcome::failure(status, std::move(message))};
}

TEST_F(JournalTest, the_summary_counts_failures_by_status_with_the_first_ones_message) {
  auto journal = make(path);
  journal.append(failure(9, Status::timed_out, "9"));
  journal.append(failure(7, Status::crashed, "7"));
  journal.append(failure(8, Status::crashed, "8"));
  journal.append(outcome(1, 1));
  journal.append(tell({9, 7, 8, 1}));
  journal.commit();
  journal.append(failure(3, Status::crashed, "lost"));
  journal.append(OutcomeRecord{9, 1, 1, 3, 1000, Outcome::failure(Status::failed, "answered twice")});
  EXPECT_THAT(error_of([&] {
                journal.append(CallRecord{CallKind::ask, 0, {{0, {1}}, {5, {1}}}, {}, {}});
              }),
              HasSubstr("candidate 5"))
      << "which takes the open transaction back";
  journal.close();
  journal = Journal::resume(path, Durability::process);
  journal.append(failure(5, Status::crashed, "5"));
  journal.append(failure(6, Status::crashed, "6"));
  journal.append(tell({5}));
  journal.commit();
  const auto failures = Journal::read(path).summary().failures;
  ASSERT_EQ(failures.size(), 2U);
  EXPECT_EQ(failures[0].status, Status::crashed);
  EXPECT_EQ(failures[0].count, 3U);
  EXPECT_EQ(failures[0].first, 5U);
  EXPECT_EQ(failures[0].message, "5");
  EXPECT_EQ(failures[1].status, Status::timed_out);
  EXPECT_EQ(failures[1].count, 1U);
  EXPECT_EQ(failures[1].first, 9U);
  EXPECT_EQ(failures[1].message, "9");
}

TEST_F(JournalTest, a_study_that_is_asked_again_is_no_longer_finished) {
  auto journal = make(path);
  journal.append(call(CallKind::finish, "budget reached"));
  journal.commit();
  EXPECT_EQ(Journal::read(path).summary().finished, "budget reached");
  journal.append(ask(0, 1));
  journal.commit();
  EXPECT_EQ(Journal::read(path).summary().finished, "");
}

TEST_F(JournalTest, an_ask_with_gaps_is_refused_and_the_transaction_taken_back) {
  auto journal = make(path);
  journal.append(ask(0, 2));
  auto gap = ask(2, 2);
  gap.candidates[1].id = 9;
  EXPECT_THAT(error_of([&] { journal.append(gap); }), HasSubstr("candidate 9"));
  journal.commit();
  EXPECT_EQ(journal.summary().asked, 0U);
  journal.append(ask(0, 2));
  journal.commit();
  EXPECT_EQ(Journal::read(path).summary().asked, 2U);
}

TEST_F(JournalTest, a_tell_without_an_outcome_is_refused) {
  auto journal = make(path);
  journal.append(ask(0, 2));
  EXPECT_THAT(error_of([&] { journal.append(tell({1})); }), HasSubstr("evaluation 1 was told, but has no outcome"));
}

TEST_F(JournalTest, a_damaged_row_is_named) {
  auto journal = make(path);
  journal.append(ask(0, 2));
  journal.append(outcome(0, 1));
  journal.append(tell({0}));
  journal.commit();
  journal.close();
  sql(path, "UPDATE calls SET data = substr(data, 1, 20) WHERE number = 0; UPDATE outcomes SET data = x'01ff'");
  const auto reader = Journal::read(path);
  EXPECT_THAT(error_of([&] { calls_of(reader); }), testing::AllOf(HasSubstr(path), HasSubstr("call 0 is damaged")));
  EXPECT_THAT(error_of([&] { reader.outcome(0); }), HasSubstr("the outcome of evaluation 0 is damaged"));
  sql(path, "DELETE FROM calls WHERE number = 0");
  EXPECT_THAT(error_of([&] { calls_of(reader); }), HasSubstr("call 0 is missing"));
}

TEST_F(JournalTest, a_run_of_more_ids_than_memory_holds_is_an_error) {
  Bytes bytes;
  ByteWriter writer(bytes);
  writer.u8(1);
  for (const std::uint64_t number : {std::uint64_t{1}, std::uint64_t{0}, std::uint64_t{1} << 63}) writer.u64(number);
  auto told = call(CallKind::tell);
  EXPECT_THAT(error_of([&] { decode(bytes, told); }), HasSubstr("a run of"));
}

TEST_F(JournalTest, a_closed_study_is_one_file) {
  {
    auto journal = make(path);
    journal.append(ask(0, 2));
    journal.close();
    EXPECT_THAT(error_of([&] { journal.append(ask(2, 1)); }), HasSubstr("closed"));
  }
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) files.push_back(entry.path().filename());
  EXPECT_EQ(files, std::vector<std::string>{"study.db"});
  EXPECT_EQ(Journal::read(path).summary().asked, 2U);
  files.clear();
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) files.push_back(entry.path().filename());
  EXPECT_EQ(files, std::vector<std::string>{"study.db"}) << "a reader leaves nothing either";
}

TEST_F(JournalTest, a_reader_cannot_write) {
  make(path).close();
  auto reader = Journal::read(path);
  EXPECT_THAT(error_of([&] { reader.append(ask(0, 1)); }), HasSubstr(path));
  EXPECT_THAT(error_of([&] { reader.close(); }), HasSubstr(path));
}

long resident_bytes() {
  long total = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> total >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

TEST_F(JournalTest, a_hundred_thousand_evaluations_stream_in_bounded_memory_and_count_at_once) {
  constexpr EvaluationId n = 128'000;
  {
    auto journal = make(path);
    for (EvaluationId first = 0; first < n; first += 64) {
      journal.append(ask(first, 64, 20));
      for (EvaluationId id = first; id < first + 64; ++id)
        journal.append(outcome(id, static_cast<double>((id * 7919) % 1'000'003)));
      CallRecord told{CallKind::tell, 0, {}, {}, {}};
      for (EvaluationId id = first; id < first + 64; ++id) told.ids.push_back(id);
      journal.append(told);
      if (first % 1024 == 0) journal.commit();
    }
    journal.close();
  }
  const auto journal = Journal::read(path);
  const SteadyClock clock;
  const double before_s = clock.now_s();
  const auto summary = journal.summary();
  const double counted_s = clock.now_s() - before_s;
  EXPECT_EQ(summary.outcomes, n);
  EXPECT_EQ(summary.best->evaluation, 0U);

  std::uint64_t candidates = 0, outcomes = 0;
  const long start = resident_bytes();
  long most = 0;
  const auto look = [&] { most = std::max(most, resident_bytes() - start); };
  journal.replay([&](const CallRecord& record) {
    candidates += record.candidates.size();
    if (candidates % 6400 == 0) look();
  });
  journal.outcomes(0, [&](const OutcomeRecord&) {
    if (++outcomes % 1000 == 0) look();
  });
  const double streamed_s = clock.now_s() - before_s - counted_s;
  EXPECT_LT(counted_s, streamed_s / 4) << "it counts them one by one";
  EXPECT_EQ(candidates, n);
  EXPECT_EQ(outcomes, n);
#ifndef __SANITIZE_ADDRESS__  // which keeps freed memory for a while
  EXPECT_LT(most, 8 << 20) << "the file has more than 30 MB";
#endif
}

TEST(CallCodec, a_damaged_ask_takes_no_memory_for_candidates_without_numbers) {
  Bytes damaged;
  ByteWriter out(damaged);
  out.u8(1);
  for (const std::uint64_t head : {0U, 1U << 26, 0U}) out.u64(head);
  CallRecord call;
  call.kind = CallKind::ask;
  EXPECT_THROW(decode(damaged, call), Error);
  EXPECT_EQ(call.candidates.capacity(), 0U);
}

}  // namespace
}  // namespace culmen
