#include "store_test.hpp"

namespace culmen {
namespace {
using testing::HasSubstr;

class NoteTest : public StoreTest {};

TEST_F(NoteTest, a_note_is_kept_and_the_next_one_takes_its_place) {
  make(path).close();
  EXPECT_EQ(Journal::read(path).note("errors"), "");
  Journal::keep_note(path, "errors", "first");
  Journal::keep_note(path, "errors", "second");
  Journal::keep_note(path, "other", "third");
  const auto journal = Journal::read(path);
  EXPECT_EQ(journal.note("errors"), "second");
  EXPECT_EQ(journal.note("other"), "third");
}

TEST_F(NoteTest, a_note_is_no_start_of_a_master_and_leaves_the_study_as_it_is) {
  {
    auto journal = make(path);
    journal.append(ask(0, 2));
    journal.append(outcome(0, 3));
    journal.append(tell({0}));
    journal.append(call(CallKind::finish, "evaluations"));
    journal.close();
  }
  Journal::keep_note(path, "errors", "text");
  const auto journal = Journal::read(path);
  EXPECT_EQ(journal.study().configuration, some_study().configuration);
  EXPECT_EQ(journal.summary().epoch, 1U);
  EXPECT_EQ(journal.summary().finished, "evaluations");
  EXPECT_FALSE(journal.summary().owned);
  EXPECT_EQ(calls_of(journal).size(), 3U);
  auto again = Journal::resume(path, Durability::process);
  EXPECT_EQ(again.epoch(), 2U);
  EXPECT_EQ(again.note("errors"), "text");
}

TEST_F(NoteTest, a_store_that_a_master_holds_takes_none) {
  auto master = make(path);
  EXPECT_THAT(error_of([&] { Journal::keep_note(path, "errors", "text"); }), HasSubstr("belongs to a running master"));
  master.append(ask(0, 1));
  master.close();
  EXPECT_EQ(Journal::read(path).note("errors"), "");
}

}  // namespace
}  // namespace culmen
