// Damaged stores: every error is a sentence, and what can be read becomes a new store.
#include "culmen/store/rescue.hpp"

#include <filesystem>
#include <fstream>

#include "culmen/store/sqlite.hpp"
#include "everything.hpp"
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

TEST_F(Rescues, an_intact_store_is_copied) {
  const auto found = rescue(path, saved);
  EXPECT_EQ(found.outcomes, 400);
  EXPECT_EQ(found.lost, 0);
  const auto before = Journal::read(path), after = Journal::read(saved);
  EXPECT_EQ(calls_of(after).size(), calls_of(before).size());
  EXPECT_EQ(after.summary().best->evaluation, before.summary().best->evaluation);
  EXPECT_EQ(after.study().fingerprint, before.study().fingerprint);
}

TEST_F(Rescues, what_lies_behind_a_damaged_call_is_saved) {
  execute("UPDATE calls SET data = X'09' WHERE number = 20");  // the eleventh ask
  EXPECT_THAT(error_of([&] { calls_of(Journal::read(path)); }),
              testing::AllOf(HasSubstr("call 20 is damaged"), HasSubstr("culmen rescue")));
  const auto found = rescue(path, saved);
  EXPECT_EQ(found.outcomes, 396);
  EXPECT_EQ(found.behind, 356);
  EXPECT_EQ(found.lost, 4);
  EXPECT_EQ(Journal::resume(saved, Durability::process).summary().told, 40);
}

TEST_F(Rescues, a_damaged_outcome_is_evaluated_again) {
  execute("UPDATE outcomes SET data = X'00' WHERE evaluation = 41");
  const auto found = rescue(path, saved);
  EXPECT_EQ(found.outcomes, 399);
  const auto summary = Journal::read(saved).summary();
  EXPECT_EQ(summary.asked, 44);
  EXPECT_EQ(summary.told, 40);
}

TEST_F(Rescues, a_changed_value_is_a_damaged_outcome) {
  execute("UPDATE outcomes SET value = -5 WHERE evaluation = 41");
  EXPECT_THAT(error_of([&] { outcomes_of(Journal::read(path)); }), HasSubstr("evaluation 41 is damaged"));
  const auto found = rescue(path, saved);
  EXPECT_EQ(found.outcomes, 399);
  EXPECT_EQ(Journal::read(saved).summary().best->evaluation, 39) << "of those before the damage";
}

TEST_F(Rescues, a_description_that_is_no_json_is_read_from_its_copy) {
  execute("UPDATE meta SET value = '{\"budget' WHERE key = 'configuration'");
  rescue(path, saved);
  EXPECT_EQ(Journal::read(saved).study().configuration, some_study().configuration);
  execute("UPDATE description SET configuration = '{'");
  fs::remove(saved);
  EXPECT_THAT(error_of([&] { rescue(path, saved); }), HasSubstr("the description of the study is damaged"));
}

TEST_F(Rescues, a_truncated_store_has_its_first_pages) {
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

TEST_F(Rescues, a_rescued_store_can_be_rescued) {
  execute("UPDATE calls SET data = X'09' WHERE number = 20");
  rescue(path, saved);
  const auto again = rescue(saved, folder.file("again.db"));
  EXPECT_EQ(again.outcomes, 396);
  EXPECT_EQ(again.behind, 356);
  EXPECT_EQ(again.lost, 0);
}

TEST_F(Rescues, a_store_in_use_is_left_alone) {
  const auto master = Journal::resume(path, Durability::process);
  EXPECT_THAT(error_of([&] { rescue(path, saved); }), HasSubstr("belongs to a running master"));
}

TEST_F(Rescues, with_any_page_zeroed_all_readers_end_with_a_sentence) {
  const auto pages = fs::file_size(path) / 4096;
  ASSERT_GT(pages, 8);
  std::uint64_t least = 400;
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
    const auto found = rescue(damaged, saved);
    least = std::min(least, found.outcomes);
    EXPECT_EQ(found.lost.value_or(400 - found.outcomes), 400 - found.outcomes);
    const auto after = Journal::read(saved);
    EXPECT_EQ(after.summary().outcomes, found.outcomes);
    EXPECT_EQ(after.study().configuration, some_study().configuration);
    fs::remove(saved);
  }
  EXPECT_GT(least, 250) << "one page holds fewer than 150 evaluations";
}

TEST_F(Rescues, a_changed_description_is_read_from_its_copy) {
  Journal::resume(path, Durability::process, {}, "{\"changed\": 1}").close();
  execute("UPDATE meta SET value = X'00' WHERE key = 'configuration'");
  rescue(path, saved);
  EXPECT_EQ(Journal::read(saved).study().configuration, "{\"changed\": 1}");
}

TEST_F(Rescues, a_store_without_its_description_is_refused) {
  execute("DELETE FROM meta; DELETE FROM description; VACUUM");
  EXPECT_THAT(error_of([&] { rescue(path, saved); }), HasSubstr("the description of the study is damaged"));
  EXPECT_FALSE(fs::exists(saved));
}

/// A store that was copied while it was in use, so that most of it is in its log.
class Logs : public StoreTest {
 protected:
  void SetUp() override {
    auto journal = make(path);
    for (EvaluationId id = 0; id < evaluations; ++id) {
      journal.append(ask(id, 1));
      journal.append(outcome(id, 1.0 / static_cast<double>(id + 1)));
      journal.append(tell({id}));
      journal.commit();
    }
    fs::copy_file(path, copy);
    fs::copy_file(path + "-wal", copy + "-wal");
    journal.close();
  }
  /// A fresh copy, with zeros in its log.
  std::string with_zeros(std::uintmax_t at, std::size_t bytes) {
    for (const char* ending : {"", "-wal"})
      fs::copy_file(copy + ending, damaged + ending, fs::copy_options::overwrite_existing);
    fs::remove(damaged + "-shm");
    std::fstream file(damaged + "-wal", std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(at));
    file.write(std::string(bytes, '\0').data(), static_cast<std::streamsize>(bytes));
    return damaged;
  }

  static constexpr std::uint64_t evaluations = 60;
  const std::string copy = folder.file("copy.db"), damaged = folder.file("damaged.db"), saved = folder.file("saved.db");
};

TEST_F(Logs, an_intact_log_is_read) { EXPECT_EQ(Journal::read(copy).summary().outcomes, evaluations); }

TEST_F(Logs, a_damaged_log_loses_nothing_in_silence) {
  const auto blocks = fs::file_size(copy + "-wal") / 4096;
  ASSERT_GT(blocks, 100);
  const std::uintmax_t step = tests_everything() ? 1 : 3;
  std::uint64_t tries = 0, refused = 0, least = evaluations;
  for (std::uintmax_t block = 0; block < blocks; block += step, ++tries) {
    with_zeros(block * 4096, 4096);
    try {
      EXPECT_GE(Journal::read(damaged).summary().outcomes, evaluations - 2) << "the torn end of a log is no damage";
      continue;
    } catch (const StoreError& error) {
      EXPECT_THAT(error.what(),
                  testing::AllOf(HasSubstr("its log"), HasSubstr("is damaged"), HasSubstr("culmen rescue")));
    }
    ++refused;
    EXPECT_THAT(error_of([&] { Journal::resume(damaged, Durability::process); }), HasSubstr("its log"));
    const auto found = rescue(damaged, saved);
    EXPECT_GE(found.outcomes + found.lost.value_or(evaluations), evaluations - 1) << "the last count may be damaged";
    least = std::min(least, found.outcomes);
    EXPECT_EQ(Journal::resume(saved, Durability::process).summary().outcomes, found.outcomes);
    fs::remove(saved);
    EXPECT_FALSE(fs::exists(saved + ".part"));
    EXPECT_TRUE(fs::exists(damaged + "-wal")) << "the damaged store stays as it is";
  }
  EXPECT_GE(refused + 12, tries);
  EXPECT_GE(least, evaluations - 10);
}

TEST_F(Logs, an_outcome_of_another_candidate_is_not_taken_from_the_log) {
  auto saved_before = call(CallKind::saved);
  saved_before.candidates = ask(evaluations, 1).candidates;
  saved_before.candidates[0].x[0] += 1;
  auto journal = Journal::resume(path, Durability::process);
  journal.append(saved_before);
  journal.append(outcome(evaluations, 111));
  journal.commit();
  auto asked = ask(evaluations, 1);
  asked.ids = {evaluations};
  journal.append(asked);
  journal.commit();
  journal.append(outcome(evaluations, 222));
  journal.append(tell({evaluations}));
  journal.commit();
  for (EvaluationId id = evaluations + 1; id < evaluations + 5; ++id) {
    journal.append(ask(id, 1));
    journal.commit();
  }
  for (const char* ending : {"", "-wal"})
    fs::copy_file(path + ending, copy + ending, fs::copy_options::overwrite_existing);
  const auto size = fs::file_size(copy + "-wal");
  int found = 0;
  for (std::uintmax_t at = 0; at + 8192 < size; at += 2048) {
    with_zeros(at, 8192);
    rescue(damaged, saved);
    const auto rescued = Journal::read(saved);
    double value = 0;
    for (const auto& record : outcomes_of(rescued, evaluations)) {
      if (record.evaluation == evaluations) value = record.outcome.value;
    }
    for (const auto& each : calls_of(rescued)) {
      for (const auto& candidate : each.candidates) {
        if (candidate.id != evaluations || value == 0) continue;
        EXPECT_EQ(value, candidate == asked.candidates[0] ? 222 : 111) << "zeros at " << at;
        ++found;
      }
    }
    fs::remove(saved);
  }
  EXPECT_GT(found, 0);
}

TEST_F(Logs, one_wrong_bit_near_the_beginning_loses_nothing_in_silence) {
  for (int bit = 0; bit < 72 * 8; ++bit) {
    with_zeros(0, 0);
    std::fstream file(damaged + "-wal", std::ios::in | std::ios::out | std::ios::binary);
    char byte = 0;
    file.seekg(bit / 8).read(&byte, 1);
    byte = static_cast<char>(byte ^ 1 << bit % 8);
    file.seekp(bit / 8).write(&byte, 1);
    file.close();
    try {
      EXPECT_EQ(Journal::read(damaged).summary().outcomes, evaluations) << "bit " << bit;
    } catch (const StoreError& error) {
      EXPECT_THAT(error.what(), HasSubstr("its log"));
      if (bit % 16 != 0) continue;
      EXPECT_GE(rescue(damaged, saved).outcomes, evaluations - 1) << "bit " << bit;
      fs::remove(saved);
    }
  }
}

TEST_F(Logs, without_its_header_a_restarted_log_is_not_taken_for_the_former_one) {
  auto journal = Journal::resume(path, Durability::process);
  const auto add = [&](EvaluationId first, EvaluationId end) {
    for (auto id = first; id < end; ++id) {
      journal.append(ask(id, 1));
      journal.append(outcome(id, 1));
      journal.append(tell({id}));
      journal.commit();
    }
  };
  add(evaluations, 3 * evaluations);
  sql(path, "PRAGMA wal_checkpoint(RESTART)");
  add(3 * evaluations, 4 * evaluations);  // shorter: behind its end are pages of the former log
  for (const char* ending : {"", "-wal"})
    fs::copy_file(path + ending, copy + ending, fs::copy_options::overwrite_existing);
  with_zeros(0, 32);
  EXPECT_THAT(error_of([&] { Journal::read(damaged); }), HasSubstr("its log"));
  const auto found = rescue(damaged, saved);
  EXPECT_EQ(found.outcomes, 4 * evaluations);
  EXPECT_EQ(found.lost, 0);
}

TEST_F(Logs, missing_and_additional_bytes_lose_nothing_in_silence) {
  std::ifstream file(copy + "-wal", std::ios::binary);
  const std::string content(std::istreambuf_iterator<char>(file), {});
  file.close();
  const std::size_t step = tests_everything() ? 7919 : 31667;
  int refused = 0, tries = 0;
  const auto expect_no_loss = [&](const std::string& changed, std::size_t at) {
    with_zeros(0, 0);
    std::ofstream(damaged + "-wal", std::ios::binary) << changed;
    ++tries;
    try {
      EXPECT_GE(Journal::read(damaged).summary().outcomes, evaluations - 2) << "at " << at;
      return;
    } catch (const StoreError& error) {
      EXPECT_THAT(error.what(), testing::AllOf(HasSubstr("its log"), HasSubstr("culmen rescue")));
    }
    if (++refused % 4 != 0) return;
    EXPECT_GE(rescue(damaged, saved).outcomes, evaluations - 4) << "at " << at;
    fs::remove(saved);
  };
  for (std::size_t at = 0; at < content.size(); at += step) {
    for (const std::size_t bytes : {1, 8, 24, 4096, 5000}) {
      expect_no_loss(content.substr(0, at) + content.substr(std::min(at + bytes, content.size())), at);
      expect_no_loss(content.substr(0, at) + std::string(bytes, 'x') + content.substr(at), at);
    }
  }
  EXPECT_GT(refused, tries * 9 / 10);
}

TEST_F(Logs, the_torn_end_of_a_log_is_no_damage) {
  const auto size = fs::file_size(copy + "-wal");
  for (const std::uintmax_t missing : {1, 24, 100, 4096, 4120, 5000, 9000}) {
    with_zeros(size - 1, 1);
    fs::resize_file(damaged + "-wal", size - missing);
    EXPECT_GE(Journal::read(damaged).summary().outcomes, evaluations - 2);
  }
}

TEST_F(Logs, the_pages_of_an_earlier_log_behind_the_end_are_no_damage) {
  auto journal = Journal::resume(path, Durability::process);
  for (EvaluationId id = evaluations; id < 5 * evaluations; ++id) {
    journal.append(ask(id, 1));
    journal.append(outcome(id, 1));
    journal.append(tell({id}));
    journal.commit();
    if (id % 7 == 0) sql(path, "PRAGMA wal_checkpoint(RESTART)");
    EXPECT_EQ(Journal::read(path).summary().outcomes, id + 1);
  }
}

}  // namespace
}  // namespace culmen
