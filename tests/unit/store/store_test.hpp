// Common helpers of the store's tests.
#pragma once
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "culmen/base/error.hpp"
#include "culmen/store/journal.hpp"

namespace culmen {

/// A fresh folder, removed at the end.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

/// A test with a folder and a path for a study.
class StoreTest : public testing::Test {
 protected:
  TemporaryFolder folder;
  std::string path = folder.file("study.db");
};

/// A child made by fork that runs `body` and exits; killed at the end of the test if it still runs.
class ForkedChild {
 public:
  explicit ForkedChild(const std::function<void(int pipe)>& body);
  ~ForkedChild();
  ForkedChild(const ForkedChild&) = delete;
  pid_t pid() const { return pid_; }
  /// Waits up to 20 s for one number that the child wrote to its pipe; false at its end.
  bool receive(std::uint64_t& number);
  /// SIGKILL, and waits for the end.
  void kill();

 private:
  pid_t pid_ = -1;
  int pipe_ = -1;
};

StudyRecord some_study();
Journal make(const std::string& path, Durability durability = Durability::process);
CallRecord ask(EvaluationId first, std::size_t n, std::size_t dimension = 2);
CallRecord tell(std::vector<EvaluationId> ids);
CallRecord call(CallKind kind, std::string note = {});
OutcomeRecord outcome(EvaluationId id, double value);
std::vector<CallRecord> calls_of(const Journal& journal);
std::vector<OutcomeRecord> outcomes_of(const Journal& journal, EvaluationId first = 0);
/// The message of the StoreError (or another Error) that f throws; fails the test and gives "" if there is none.
std::string error_of(const std::function<void()>& f);
/// The same where only this kind of error is right.
template <class Wanted>
std::string error_of_kind(const std::function<void()>& f) {
  return error_of([&] {
    try {
      f();
    } catch (const Wanted&) {
      throw;
    } catch (const Error& error) {
      ADD_FAILURE() << "an error of another kind: " << error.what();
      throw;
    }
  });
}
/// Runs SQL on a file, beside culmen.
void sql(const std::string& path, const std::string& statements);

/// An endless, always equal sequence of records: ask of 8, their 8 outcomes, tell of 8, ask of 8, …
void push_numbered(std::uint64_t index, const std::function<void(const CallRecord&)>& call,
                   const std::function<void(const OutcomeRecord&)>& outcome);
/// How many records of that sequence the journal holds; fails the test unless they are exactly its beginning.
std::uint64_t numbered_prefix(const Journal& journal);

/// Looks until it is true, at most 20 s.
bool eventually(const std::function<bool()>& condition);

}  // namespace culmen
