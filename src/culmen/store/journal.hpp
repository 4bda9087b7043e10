// The study's file: one SQLite database in WAL mode. Synchronous; Writer puts a thread around it.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "culmen/base/file_system.hpp"
#include "culmen/store/records.hpp"

namespace culmen {

enum class Durability {
  process,  ///< a committed row survives kill -9 of the master
  power,    ///< it also survives a power failure (SQLite: synchronous = FULL)
};

/// Returns the network file system on which a path lies, "" for a local one: network_file_system of base, or that of
/// a test.
using NetworkProbe = std::string (*)(const std::string& path);

/// One open study file. Not thread-safe. Every error names the file: InputError for a path that is not a study, or
/// cannot become one; StoreError for damage, a full disk (which is named) and the like.
class Journal {
 public:
  struct Failures {  ///< number of failures of one status
    Status status = Status::failed;
    std::uint64_t count = 0;
    EvaluationId first = 0;  ///< its lowest evaluation
    std::string message;     ///< the message of that one
  };
  struct Summary {  ///< of the committed rows; kept by each commit, so cheap at any size
    std::uint64_t asked = 0, outcomes = 0, told = 0, failed = 0;
    Epoch epoch = 0;
    std::string finished;  ///< why the study ended (the finish call's note); empty before the end, or if it was
                           ///< asked again after it
    bool owned = false;    ///< a running master holds it
    std::string owner;     ///< host and process of the owner, if there is one
    double last_outcome_s = 0;
    std::optional<OutcomeRecord> best;  ///< the least value that was told
    std::optional<Candidate> best_candidate;
    std::vector<Failures> failures;  ///< the most frequent one first
    std::optional<Recommendation> recommended;
    std::optional<Running> running;  ///< the evaluation that has run longest, while a master holds the study
  };

  struct Start {  ///< of the master
    Epoch epoch = 0;
    double started_s = 0;  ///< seconds since 1970
    std::string host;
    std::int64_t pid = 0;
    std::string build;  ///< version and compiler of its culmen
  };

  /// Makes a new study file and becomes its owner (epoch 1). Throws if the file exists, or lies on a network file
  /// system (names a local path to use instead).
  static Journal create(const std::string& path, const StudyRecord& study, Durability durability,
                        NetworkProbe network = network_file_system);
  /// Opens to resume: becomes the owner with the next epoch. Throws if another running master owns it (names host and
  /// process), if it is not a study file, or if it has no evaluation and its write-ahead log is missing. `build` is
  /// noted with the epoch; `configuration`, unless empty, replaces that of the study, so that limits given to one
  /// resume apply to the next one too.
  static Journal resume(const std::string& path, Durability durability, const std::string& build = {},
                        const std::string& configuration = {}, NetworkProbe network = network_file_system);
  /// Opens for reading, while a master may be writing, or after it was killed.
  static Journal read(const std::string& path, NetworkProbe network = network_file_system);
  /// Copies a store to a new file, while a master may be writing: with SQLite's backup interface, and without the
  /// owner. Throws InputError if the new file exists.
  static void copy(const std::string& from, const std::string& to, NetworkProbe network = network_file_system);
  /// Keeps a text beside the study that is not part of it, such as the errors of its parameters. The next one of
  /// that name replaces it. It is not a start of a master: there is no epoch for it. Throws as resume() does.
  static void keep_note(const std::string& path, const std::string& name, const std::string& text,
                        NetworkProbe network = network_file_system);
  ~Journal();
  Journal(Journal&&) noexcept;
  Journal& operator=(Journal&&) noexcept;

  const StudyRecord& study() const;
  const std::string& path() const;
  Epoch epoch() const;
  /// Opened for reading: the last master did not close the store, and its write-ahead log is not beside the file. So
  /// the file is a copy without its log, which may lack the latest evaluations.
  bool log_is_missing() const;

  /// Appends go into one open transaction until commit(), which makes them durable together. If one of them throws,
  /// everything since the last commit is rolled back.
  void append(const CallRecord& call);
  void append(const OutcomeRecord& outcome);
  void commit();
  /// Renews the owner record (call at least every 10 s; another host counts an owner as dead after 60 s of silence).
  void renew_ownership();
  /// Summary::running from now on.
  void show_running(const std::optional<Running>& oldest);
  /// From now on commits do not checkpoint the write-ahead log, which may take this many pages (of 4 KiB). The caller
  /// calls checkpoint(), or does the same over another connection.
  void defer_checkpoints(std::uint64_t log_pages);
  /// Pages in the log after the last commit since defer_checkpoints().
  std::uint64_t log_pages() const;
  /// Copies the log into the file, as far as readers allow; waits for the disk.
  void checkpoint();
  /// Commits, checkpoints the WAL, gives up ownership. The destructor without close() drops what was not
  /// committed, and gives up the ownership if it can.
  void close();

  /// Calls `visit` for every call row in order, streaming. `visit` must not append.
  void replay(const std::function<void(const CallRecord&)>& visit) const;
  /// The outcome of one evaluation, or none. The first one of an epoch wins; a later epoch, which evaluates it again,
  /// replaces it.
  std::optional<OutcomeRecord> outcome(EvaluationId id) const;
  /// Outcomes in order of evaluation, starting at `first`, one at a time; stops after at_most.
  void outcomes(EvaluationId first, const std::function<void(const OutcomeRecord&)>& visit,
                std::uint64_t at_most = UINT64_MAX) const;
  /// The text that keep_note() kept, or none.
  std::string note(const std::string& name) const;
  Summary summary() const;
  std::vector<Start> starts() const;

 private:
  struct Impl;
  explicit Journal(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace culmen
