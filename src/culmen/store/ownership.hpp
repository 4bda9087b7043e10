// A journal's ownership of its study: the one row of the table `owner`.
#pragma once
#include <sys/types.h>

#include <optional>
#include <string>
#include <tuple>

#include "culmen/store/owner.hpp"
#include "culmen/store/sqlite.hpp"

namespace culmen {

class Ownership {
 public:
  explicit Ownership(Database& database);
  ~Ownership();
  Ownership(const Ownership&) = delete;

  /// The master that holds the study now, if it is alive (or cannot be examined and is not silent yet).
  std::optional<Owner> live();
  /// Whether a former master, which has ended, did not give up the study.
  bool left_behind() { return row() && !live(); }
  /// Throws StoreError that names the master which holds the study, if there is one.
  void refuse_if_held();
  /// Takes the study for a new epoch, which it returns. Within a write transaction. Throws like refuse_if_held().
  Epoch take(const std::string& build);
  /// The absolute path of the file when it was opened.
  const std::string& place() const { return place_; }
  /// Whether the file, or its log, is no longer in its place: it was deleted, moved or replaced.
  bool has_moved() const;
  /// From now on, the log that is there belongs to the study, and so does the page with its description, which does not
  /// change any more. Outside a transaction.
  void watch_file();
  /// Whether another program wrote another study into the file, as `cp` does. has_moved() must be false.
  bool is_overwritten();
  /// "was deleted" or the like, if has_moved().
  std::string fate() const;
  /// Throws StoreError unless this journal still owns the study. Within a write transaction.
  void check();
  bool held() const { return epoch_ != 0; }
  /// Both within a write transaction, after check().
  void renew();
  void give_up();
  /// Without a word in the file.
  void forget();

 private:
  using Key = std::tuple<dev_t, ino_t, Epoch>;  // a file of this machine, and the start of a master
  std::optional<Owner> row();
  Key key(Epoch epoch) const { return {device_, file_, epoch}; }
  bool log_has_gone() const;

  Database& database_;
  const std::string place_;  // absolute: the program may change its folder
  Statement select_, renew_, remove_;
  dev_t device_ = 0;
  ino_t file_ = 0, log_ = 0;           // 0: there is none yet
  std::int64_t description_page_ = 0;  // 0: it is not watched
  std::string description_;            // that page
  Epoch epoch_ = 0;                    // 0: not the owner
};

}  // namespace culmen
