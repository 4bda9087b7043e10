// A store with a wrong byte anywhere: what is read is what was written, or an error says where.
#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include <map>
#include <random>

#include "culmen/evaluation/codec.hpp"
#include "culmen/store/call_codec.hpp"
#include "culmen/store/rescue.hpp"
#include "store_test.hpp"

namespace culmen {
namespace {
namespace fs = std::filesystem;

/// All that a reader can learn of a study, by kind and number.
using Content = std::map<std::string, Bytes>;

void add_rows(const Journal& journal, Content& to) {
  journal.outcomes(0, [&](const OutcomeRecord& record) {
    auto& bytes = to[fmt::format("outcome {}", record.evaluation)];
    encode(record.outcome, bytes);
    ByteWriter(bytes).f64(record.at_s);
    ByteWriter(bytes).u32(record.worker);
  });
  std::uint64_t number = 0;
  journal.replay([&](const CallRecord& call) {
    auto& bytes = to[fmt::format("call {}", number++)];
    encode(call, bytes);
    ByteWriter(bytes).u64(call.wanted);
  });
}

Content content_of(const std::string& path) {
  const auto journal = Journal::read(path);
  Content out;
  add_rows(journal, out);
  const auto summary = journal.summary();
  ByteWriter counts(out["summary"]);
  for (const auto number : {summary.asked, summary.outcomes, summary.told, summary.failed}) counts.u64(number);
  for (const auto& failures : summary.failures) counts.u64(failures.count);
  counts.text(summary.finished);
  if (summary.best) encode(summary.best->outcome, out["best"]);
  if (summary.best_candidate) encode(*summary.best_candidate, out["best"]);
  ByteWriter study(out["study"]);
  for (const auto* text : {&journal.study().name, &journal.study().configuration, &journal.study().fingerprint})
    study.text(*text);
  return out;
}

class Damage : public StoreTest {
 protected:
  /// `dimension`: with 700, an ask takes overflow pages.
  void fill(std::size_t dimension, std::uint64_t evaluations) {
    auto journal = make(path);
    for (EvaluationId id = 0; id < evaluations; id += 2) {
      journal.append(ask(id, 2, dimension));
      for (const auto each : {id, id + 1}) {
        auto record = outcome(each, 1.0 / static_cast<double>(each + 1));
        record.outcome.residuals.assign(dimension, 0.5);
        if (each % 5 == 0) record.outcome = Outcome::failure(Status::failed, "broke");
        journal.append(record);
      }
      journal.append(tell({id, id + 1}));
    }
    journal.close();
  }

  std::string with_wrong_byte(std::uintmax_t at, char by) {
    fs::copy_file(path, damaged, fs::copy_options::overwrite_existing);
    std::fstream file(damaged, std::ios::in | std::ios::out | std::ios::binary);
    char byte = 0;
    file.seekg(static_cast<std::streamoff>(at)).read(&byte, 1);
    byte = static_cast<char>(byte ^ by);
    file.seekp(static_cast<std::streamoff>(at)).write(&byte, 1);
    return damaged;
  }

  void expect_no_silent_change(std::uintmax_t every) {
    const auto before = content_of(path);
    std::mt19937 random(7);
    int noticed = 0;
    for (std::uintmax_t at = random() % every; at < fs::file_size(path); at += 1 + random() % (2 * every)) {
      with_wrong_byte(at, static_cast<char>(1 << random() % 8));
      try {
        EXPECT_TRUE(content_of(damaged) == before) << "byte " << at;
        continue;
      } catch (const Error&) {
        ++noticed;
      }
      if (noticed % 8 != 0) continue;
      try {
        rescue(damaged, saved);
        Content after;
        Journal::read(saved).outcomes(0, [&](const OutcomeRecord& record) {
          encode(record.outcome, after[fmt::format("outcome {}", record.evaluation)]);
        });
        for (const auto& [key, bytes] : after) {
          const auto& wanted = before.at(key);
          EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), wanted.begin())) << key << ", byte " << at;
        }
      } catch (const Error& error) {
        ADD_FAILURE() << "byte " << at << ": " << error.what();
      }
      fs::remove(saved);
    }
    EXPECT_GT(noticed, 50);
  }

  const std::string damaged = folder.file("damaged.db"), saved = folder.file("saved.db");
};

TEST_F(Damage, of_one_bit_is_noticed_or_harmless) {
  fill(2, 60);
  expect_no_silent_change(41);
}

TEST_F(Damage, of_one_bit_in_overflow_pages_is_noticed_or_harmless) {
  fill(700, 12);
  expect_no_silent_change(149);
}

}  // namespace
}  // namespace culmen
