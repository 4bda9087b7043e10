#include "culmen/study/crew/ranks_states.hpp"

#include <algorithm>
#include <array>

namespace culmen {
namespace {
using State = RanksState;
using Event = RanksEvent;

struct Transition {
  Event event;
  State from, to;
  bool may_be_last = false;  // of the last study: to dismissed
};

constexpr std::array transitions{
    Transition{Event::open, State::closed, State::waiting},
    Transition{Event::expect, State::refused, State::waiting},
    Transition{Event::expect, State::invited, State::waiting},
    Transition{Event::abandon, State::waiting, State::refused, true},
    Transition{Event::invite, State::waiting, State::invited},
    Transition{Event::invite, State::refused, State::invited},
    Transition{Event::accept, State::invited, State::working},
    Transition{Event::decline, State::invited, State::refused, true},
    Transition{Event::conclude, State::working, State::waiting, true},
    Transition{Event::lose, State::working, State::stuck},
    Transition{Event::dismiss, State::waiting, State::dismissed},
    Transition{Event::dismiss, State::invited, State::dismissed},
    Transition{Event::dismiss, State::refused, State::dismissed},
    Transition{Event::end, State::closed, State::ended},
    Transition{Event::end, State::waiting, State::ended},
    Transition{Event::end, State::invited, State::ended},
    Transition{Event::end, State::working, State::ended},
    Transition{Event::end, State::refused, State::ended},
    Transition{Event::end, State::dismissed, State::ended},
};
}  // namespace

bool RanksStates::on(RanksEvent event) {
  const auto* found =
      std::ranges::find_if(transitions, [&](const auto& t) { return t.event == event && t.from == state_; });
  if (found == transitions.end()) return false;
  state_ = found->may_be_last && is_last_ ? State::dismissed : found->to;
  return true;
}

}  // namespace culmen
