// Damaged stores: every error is a sentence, and what can be read becomes a new store.
#include "culmen/store/rescue.hpp"

#include <filesystem>
#include <fstream>

#include "culmen/store/sqlite.hpp"
#include "store_test.hpp"

namespace culmen {
namespace {
namespace fs = std::filesystem;
using testing::HasSubstr;

class Rescues : public StoreTest {
 protected:
  void SetUp() override {
    auto journal = make(path);
    for (EvaluationId first = 0; first < 400; first += 4) {
      journal.append(ask(first, 4));
      for (EvaluationId id = first; id < first + 4; ++id)
        journal.append(outcome(id, 1.0 / static_cast<double>(id + 1)));
      journal.append(tell({first, first + 1, first + 2, first + 3}));
    }
    journal.close();
  }
  void execute(const std::string& sql) { Database(path, Database::Mode::write).execute(sql.c_str()); }

  const std::string saved = folder.file("saved.db");
};

TEST_F(Rescues, AnIntactStoreIsCopied) {
  const auto found = rescue(path, saved);
  EXPECT_EQ(found.outcomes, 400);
  EXPECT_EQ(found.lost, 0);
  const auto before = Journal::read(path), after = Journal::read(saved);
  EXPECT_EQ(calls_of(after).size(), calls_of(before).size());
  EXPECT_EQ(after.summary().best->evaluation, before.summary().best->evaluation);
  EXPECT_EQ(after.study().fingerprint, before.study().fingerprint);
}

TEST_F(Rescues, WhatLiesBehindADamagedCallIsSaved) {
  execute("UPDATE calls SET data = X'09' WHERE number = 20");  // the eleventh ask
  EXPECT_THAT(error_of([&] { calls_of(Journal::read(path)); }),
              testing::AllOf(HasSubstr("call 20 is damaged"), HasSubstr("culmen rescue")));
  const auto found = rescue(path, saved);
  EXPECT_EQ(found.outcomes, 396);
  EXPECT_EQ(found.behind, 356);
  EXPECT_EQ(found.lost, 4);
  EXPECT_EQ(Journal::resume(saved, Durability::process).summary().told, 40);
}

TEST_F(Rescues, ADamagedOutcomeIsEvaluatedAgain) {
  execute("UPDATE outcomes SET data = X'00' WHERE evaluation = 41");
  const auto found = rescue(path, saved);
  EXPECT_EQ(found.outcomes, 399);
  const auto summary = Journal::read(saved).summary();
  EXPECT_EQ(summary.asked, 44);
  EXPECT_EQ(summary.told, 40);
}

TEST_F(Rescues, ATruncatedStoreHasItsFirstPages) {
  fs::resize_file(path, fs::file_size(path) * 3 / 4);
  const auto found = rescue(path, saved);
  EXPECT_GT(found.outcomes, 20);
  EXPECT_LT(found.outcomes, 400);
  EXPECT_EQ(Journal::read(saved).summary().outcomes, found.outcomes);
  fs::resize_file(path, 5000);
  fs::remove(saved);
  EXPECT_THAT(error_of([&] { rescue(path, saved); }), HasSubstr("nothing can be rescued"));
  EXPECT_FALSE(fs::exists(saved + ".part"));
}

TEST_F(Rescues, ARescuedStoreCanBeRescued) {
  execute("UPDATE calls SET data = X'09' WHERE number = 20");
  rescue(path, saved);
  const auto again = rescue(saved, folder.file("again.db"));
  EXPECT_EQ(again.outcomes, 396);
  EXPECT_EQ(again.behind, 356);
  EXPECT_EQ(again.lost, 0);
}

TEST_F(Rescues, AStoreInUseIsLeftAlone) {
  const auto master = Journal::resume(path, Durability::process);
  EXPECT_THAT(error_of([&] { rescue(path, saved); }), HasSubstr("belongs to a running master"));
}

TEST_F(Rescues, WithAnyPageZeroedAllReadersEndWithASentence) {
  const auto pages = fs::file_size(path) / 4096;
  ASSERT_GT(pages, 8);
  std::uint64_t least = 400;
  int rescued = 0;
  for (std::uintmax_t page = 0; page < pages; ++page) {
    const auto damaged = folder.file("damaged.db");
    fs::copy_file(path, damaged, fs::copy_options::overwrite_existing);
    {
      std::fstream file(damaged, std::ios::in | std::ios::out | std::ios::binary);
      file.seekp(static_cast<std::streamoff>(page * 4096));
      file.write(std::string(4096, '\0').data(), 4096);
    }
    try {
      const auto journal = Journal::read(damaged);
      journal.summary();
      calls_of(journal);
      outcomes_of(journal);
    } catch (const Error&) {
    }
    try {
      const auto found = rescue(damaged, saved);
      least = std::min(least, found.outcomes);
      ++rescued;
      EXPECT_EQ(found.lost.value_or(400 - found.outcomes), 400 - found.outcomes);
      EXPECT_EQ(Journal::read(saved).summary().outcomes, found.outcomes);
      fs::remove(saved);
    } catch (const Error&) {
      EXPECT_FALSE(fs::exists(saved));
    }
  }
  EXPECT_GT(rescued, 8);  // all but the file's head and the description of the study
  EXPECT_GT(least, 250) << "one page holds fewer than 150 evaluations";
}

}  // namespace
}  // namespace culmen
