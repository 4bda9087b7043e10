// How one start of a master runs a study.
#pragma once
#include <cstddef>
#include <string>

#include "culmen/store/journal.hpp"
#include "culmen/study/crew/workplace.hpp"

namespace culmen {

/// None of this changes the candidates of a generational optimizer.
struct RunOptions : WorkersWanted {
  bool prefetch = true;
  std::string store;    ///< the study's file; empty: no journal
  bool resume = false;  ///< continue the store instead of making it
  Durability durability = Durability::process;
  std::size_t history_bytes = 0;  ///< memory for StudyResult::history; 0: none

  /// As StopRules::each_setting.
  template <class Visit>
  static void each_setting(Visit visit) {
    visit("workers", &RunOptions::workers);
    visit("team_size", &RunOptions::team_size);
    visit("team_placement", &RunOptions::team_placement);
    visit("prefetch", &RunOptions::prefetch);
    visit("durability", &RunOptions::durability);
  }
};

}  // namespace culmen
