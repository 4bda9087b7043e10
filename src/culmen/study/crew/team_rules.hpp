// The meaning of the answers of a team's members.
#pragma once
#include <memory>

#include "culmen/study/crew/team_layout.hpp"
#include "culmen/transport/team/team_transport.hpp"

namespace culmen {

/// Messages name ranks as `layout` does.
std::unique_ptr<TeamRules> make_team_rules(const TeamLayout& layout, double time_limit_s);

}  // namespace culmen
