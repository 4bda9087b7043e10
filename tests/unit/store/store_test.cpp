#include "store_test.hpp"

#include <poll.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

#include "culmen/base/clock.hpp"

namespace culmen {
namespace {
constexpr std::uint64_t batch = 8;
constexpr std::uint64_t records_of_batch = batch + 2;
constexpr int patience_ms = 20'000;
}  // namespace

TemporaryFolder::TemporaryFolder() {
  std::string name = std::filesystem::temp_directory_path() / "culmen-store-XXXXXX";
  if (!mkdtemp(name.data())) throw Error("no temporary folder");
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code none;
  std::filesystem::remove_all(path_, none);
}

ForkedChild::ForkedChild(const std::function<void(int)>& body) {
  int ends[2];
  if (pipe(ends) != 0) throw Error("no pipe");
  pid_ = fork();
  if (pid_ == 0) {
    ::close(ends[0]);
    try {
      body(ends[1]);
    } catch (const std::exception& error) {
      fprintf(stderr, "child: %s\n", error.what());
      _exit(1);
    }
    _exit(0);
  }
  ::close(ends[1]);
  pipe_ = ends[0];
}

ForkedChild::~ForkedChild() {
  kill();
  ::close(pipe_);
}

bool ForkedChild::receive(std::uint64_t& number) {
  pollfd waiting{pipe_, POLLIN, 0};
  EXPECT_EQ(poll(&waiting, 1, patience_ms), 1) << "the child has said nothing for " << patience_ms << " ms";
  return read(pipe_, &number, sizeof number) == sizeof number;
}

void ForkedChild::kill() {
  if (pid_ < 0) return;
  ::kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

StudyRecord some_study() { return {"pion", R"({"budget": 100})", "5f2a", "culmen 0.1 (g++ 12)", 1234.5, 100}; }

Journal make(const std::string& path, Durability durability) { return Journal::create(path, some_study(), durability); }

CallRecord ask(EvaluationId first, std::size_t n, std::size_t dimension) {
  CallRecord record;
  record.wanted = n;
  for (std::size_t k = 0; k < n; ++k) {
    Candidate candidate{first + k, {}};
    for (std::size_t i = 0; i < dimension; ++i)
      candidate.x.push_back(static_cast<double>(first + k) + 0.125 * static_cast<double>(i));
    record.candidates.push_back(candidate);
  }
  return record;
}

CallRecord tell(std::vector<EvaluationId> ids) {
  CallRecord record;
  record.kind = CallKind::tell;
  record.ids = std::move(ids);
  return record;
}

CallRecord call(CallKind kind, std::string note) {
  CallRecord record;
  record.kind = kind;
  record.note = std::move(note);
  return record;
}

OutcomeRecord outcome(EvaluationId id, double value) {
  return {id, 1, 0, 3, 1000.0 + static_cast<double>(id), Outcome::of_value(value)};
}

std::vector<CallRecord> calls_of(const Journal& journal) {
  std::vector<CallRecord> out;
  journal.replay([&](const CallRecord& record) { out.push_back(record); });
  return out;
}

std::vector<OutcomeRecord> outcomes_of(const Journal& journal, EvaluationId first) {
  std::vector<OutcomeRecord> out;
  journal.outcomes(first, [&](const OutcomeRecord& record) { out.push_back(record); });
  return out;
}

std::string error_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  ADD_FAILURE() << "an error was expected";
  return {};
}

void sql(const std::string& path, const std::string& statements) {
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &database), SQLITE_OK);
  sqlite3_busy_timeout(database, patience_ms);
  char* message = nullptr;
  EXPECT_EQ(sqlite3_exec(database, statements.c_str(), nullptr, nullptr, &message), SQLITE_OK) << message;
  sqlite3_close(database);
}

void push_numbered(std::uint64_t index, const std::function<void(const CallRecord&)>& call,
                   const std::function<void(const OutcomeRecord&)>& outcome_of) {
  const auto first = index / records_of_batch * batch;
  const auto place = index % records_of_batch;
  if (place == 0) return call(ask(first, batch));
  if (place <= batch) return outcome_of(outcome(first + place - 1, static_cast<double>(first + place)));
  std::vector<EvaluationId> ids;
  for (std::uint64_t k = 0; k < batch; ++k) ids.push_back(first + k);
  call(tell(ids));
}

std::uint64_t numbered_prefix(const Journal& journal) {
  const auto calls = calls_of(journal);
  const auto outcomes = outcomes_of(journal);
  const auto total = calls.size() + outcomes.size();
  std::size_t c = 0, o = 0, wrong = 0;
  for (std::uint64_t index = 0; index < total; ++index) {
    push_numbered(
        index,
        [&](const CallRecord& expected) {
          wrong += c >= calls.size() || calls[c].kind != expected.kind || calls[c].candidates != expected.candidates ||
                   calls[c].ids != expected.ids;
          ++c;
        },
        [&](const OutcomeRecord& expected) {
          wrong += o >= outcomes.size() || outcomes[o].evaluation != expected.evaluation ||
                   outcomes[o].outcome.value != expected.outcome.value;
          ++o;
        });
  }
  EXPECT_EQ(wrong, 0U) << calls.size() << " calls and " << outcomes.size()
                       << " outcomes are not the beginning of what was written";
  const auto summary = journal.summary();
  EXPECT_EQ(summary.outcomes, outcomes.size());
  std::uint64_t told = 0, asked = 0;
  for (const auto& record : calls) {
    told += record.ids.size();
    asked += record.candidates.size();
  }
  EXPECT_EQ(summary.told, told);
  EXPECT_EQ(summary.asked, asked);
  return total;
}

bool eventually(const std::function<bool()>& condition) {
  const SteadyClock clock;
  const double end = clock.now_s() + patience_ms / 1000.0;
  while (!condition()) {
    if (clock.now_s() > end) return false;
    std::this_thread::yield();
  }
  return true;
}

}  // namespace culmen
