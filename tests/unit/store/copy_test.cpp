// Copies of stores: of one in use, of one without its log, and of one that was deleted while it was used.
#include <filesystem>
#include <fstream>

#include "culmen/store/sqlite.hpp"
#include "store_test.hpp"

namespace culmen {
namespace {
namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

class Copies : public StoreTest {
 protected:
  void write(Journal& journal) {
    journal.append(ask(0, 3));
    for (EvaluationId id = 0; id < 3; ++id) journal.append(outcome(id, 1.5));
    journal.append(tell({0, 1, 2}));
    journal.commit();
  }
  const std::string other = folder.file("other.db");
};

TEST_F(Copies, a_copy_of_a_store_in_use_has_all_and_can_be_resumed) {
  auto journal = make(path);
  write(journal);
  Journal::copy(path, other);
  EXPECT_TRUE(Journal::read(path).summary().owned);
  {
    const auto copied = Journal::read(other);
    EXPECT_EQ(copied.summary().told, 3);
    EXPECT_FALSE(copied.summary().owned);
    EXPECT_FALSE(copied.log_is_missing());
    EXPECT_EQ(calls_of(copied).size(), calls_of(Journal::read(path)).size());
  }
  EXPECT_FALSE(fs::exists(other + "-wal"));
  EXPECT_EQ(Journal::resume(other, Durability::process).epoch(), 2);
}

TEST_F(Copies, a_copy_never_replaces_a_file) {
  make(path).close();
  make(other).close();
  EXPECT_THAT(error_of([&] { Journal::copy(path, other); }), HasSubstr("exists already"));
}

TEST_F(Copies, a_file_without_its_log_is_not_resumed_from_nothing) {
  auto journal = make(path);
  write(journal);
  fs::copy_file(path, other);
  EXPECT_TRUE(Journal::read(other).log_is_missing());
  EXPECT_THAT(error_of([&] { Journal::resume(other, Durability::process); }),
              AllOf(HasSubstr("other.db-wal is missing"), HasSubstr("culmen export")));
  fs::copy_file(path + "-wal", other + "-wal");
  EXPECT_FALSE(Journal::read(other).log_is_missing());
  EXPECT_EQ(Journal::resume(other, Durability::process).epoch(), 2);
}

TEST_F(Copies, after_a_kill_a_reader_keeps_the_log) {
  ForkedChild child([this](int) {
    auto journal = make(path);
    write(journal);
    ::kill(getpid(), SIGKILL);
  });
  std::uint64_t none = 0;
  EXPECT_FALSE(child.receive(none));
  child.kill();
  for (int i = 0; i < 2; ++i) {
    const auto read = Journal::read(path);
    EXPECT_EQ(read.summary().told, 3);
    EXPECT_FALSE(read.log_is_missing());
  }
  auto resumed = Journal::resume(path, Durability::process);
  EXPECT_EQ(resumed.epoch(), 2);
  EXPECT_EQ(resumed.summary().told, 3);
  resumed.close();
  EXPECT_FALSE(Journal::read(path).log_is_missing());
}

TEST_F(Copies, after_a_kill_at_the_beginning_the_study_can_be_resumed) {
  ForkedChild child([this](int) {
    const auto journal = make(path);
    ::kill(getpid(), SIGKILL);
  });
  std::uint64_t none = 0;
  EXPECT_FALSE(child.receive(none));
  child.kill();
  EXPECT_FALSE(Journal::read(path).log_is_missing());
  EXPECT_EQ(Journal::resume(path, Durability::process).epoch(), 2);
}

TEST_F(Copies, a_deleted_store_is_noticed_and_saved) {
  auto journal = make(path);
  write(journal);
  for (const char* ending : {"", "-wal", "-shm"}) fs::remove(path + ending);
  const auto saved = folder.file("study.saved.db");
  EXPECT_THAT(error_of([&] { journal.append(ask(3, 1)); }),
              AllOf(HasSubstr("study.db: was deleted while"), HasSubstr(saved)));
  EXPECT_EQ(Journal::read(saved).summary().told, 3);
}

TEST_F(Copies, a_store_that_is_deleted_again_is_saved_under_another_name) {
  for (const char* name : {"study.saved.db", "study.saved-2.db"}) {
    auto journal = make(path);
    write(journal);
    for (const char* ending : {"", "-wal", "-shm"}) fs::remove(path + ending);
    EXPECT_THAT(error_of([&] { journal.append(ask(3, 1)); }), HasSubstr(folder.file(name)));
    EXPECT_EQ(Journal::read(folder.file(name)).summary().told, 3);
  }
}

TEST_F(Copies, a_replaced_store_is_noticed) {
  auto journal = make(path);
  write(journal);
  fs::rename(path, other);
  fs::copy_file(other, path);
  EXPECT_THAT(error_of([&] { journal.renew_ownership(); }), HasSubstr("study.db: was moved to " + other + " while"));
  EXPECT_TRUE(fs::exists(folder.file("study.saved.db")));
}

TEST_F(Copies, a_store_into_which_another_one_is_copied_stays_that_one) {
  for (const bool at_the_end : {false, true}) {
    {
      auto third = make(other);
      write(third);
      third.close();
      Database(other, Database::Mode::write).execute("UPDATE description SET created_s = created_s + 1");
    }
    auto journal = make(path);
    write(journal);
    std::ofstream(path, std::ios::binary | std::ios::in | std::ios::out)
        << std::ifstream(other, std::ios::binary).rdbuf();
    EXPECT_THAT(error_of([&] { at_the_end ? journal.close() : journal.renew_ownership(); }),
                HasSubstr("study.db: another program has overwritten it while this study used it"));
    journal = Journal::read(other);  // the former one is destroyed
    const auto read_all = [](const std::string& file) {
      std::ifstream in(file, std::ios::binary);
      return std::string(std::istreambuf_iterator<char>(in), {});
    };
    EXPECT_EQ(read_all(path).substr(0, read_all(other).size()), read_all(other));
    for (const char* ending : {"", "-wal", "-shm"}) fs::remove(path + ending);
    fs::remove(other);
  }
}

TEST_F(Copies, a_reader_during_a_resume_is_not_taken_for_another_program_that_writes) {
  auto journal = make(path);
  write(journal);
  journal.close();
  Database reader(path, Database::Mode::read);
  Statement all(reader, "SELECT * FROM outcomes");
  auto again = [&] {
    auto rows = all.rows();
    rows.next();  // it holds the state before the resume
    return Journal::resume(path, Durability::process, "another build", "another configuration");
  }();
  again.checkpoint();
  EXPECT_NO_THROW(again.renew_ownership());
  EXPECT_NO_THROW(again.close());
}

TEST_F(Copies, an_emptied_store_is_noticed) {
  auto journal = make(path);
  write(journal);
  fs::resize_file(path, 0);
  EXPECT_THAT(error_of([&] { journal.renew_ownership(); }), HasSubstr("another program has overwritten it"));
}

TEST_F(Copies, a_store_that_only_its_master_writes_is_not_taken_for_an_overwritten_one) {
  auto journal = make(path);
  write(journal);
  for (int k = 0; k < 3; ++k) {
    EXPECT_NO_THROW(journal.renew_ownership());
    journal.checkpoint();
  }
  EXPECT_NO_THROW(journal.close());
  auto again = Journal::resume(path, Durability::process, "another build", "another configuration");
  EXPECT_NO_THROW(again.renew_ownership());
  again.checkpoint();
  EXPECT_NO_THROW(again.renew_ownership());
  EXPECT_NO_THROW(again.close());
}

TEST_F(Copies, a_store_whose_log_is_deleted_is_saved) {
  auto journal = make(path);
  write(journal);
  fs::remove(path + "-wal");
  EXPECT_THAT(error_of([&] { journal.renew_ownership(); }),
              AllOf(HasSubstr("study.db: lost its log"), HasSubstr("study.saved.db")));
  EXPECT_EQ(Journal::read(folder.file("study.saved.db")).summary().told, 3);
}

TEST_F(Copies, a_store_that_another_file_replaces_is_noticed) {
  auto journal = make(path);
  write(journal);
  fs::copy_file(path, other);
  fs::rename(other, path);
  EXPECT_THAT(error_of([&] { journal.renew_ownership(); }), HasSubstr("study.db: was replaced by another file while"));
}

}  // namespace
}  // namespace culmen
