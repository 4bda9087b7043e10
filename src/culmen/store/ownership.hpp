// A journal's hold on its study: the one row of the table `owner`.
#pragma once
#include <optional>
#include <string>

#include "culmen/store/owner.hpp"
#include "culmen/store/sqlite.hpp"

namespace culmen {

class Ownership {
 public:
  explicit Ownership(Database& database);
  ~Ownership();
  Ownership(const Ownership&) = delete;

  /// The master that holds the study now, if one lives (or cannot be looked at and is not silent yet).
  std::optional<Owner> live();
  /// Throws StoreError that names the master which holds the study, if one does.
  void refuse_if_held();
  /// Takes the study for a new epoch, which it returns. Within a write transaction. Throws like refuse_if_held().
  Epoch take(const std::string& build);
  /// Throws StoreError unless the study is still ours. Within a write transaction.
  void check();
  void renew();
  void give_up();

 private:
  std::optional<Owner> row();
  void forget();

  Database& database_;
  Statement select_, renew_, remove_;
  Epoch epoch_ = 0;  // 0: not ours
};

}  // namespace culmen
