// Who is better than whom.
#pragma once
#include <vector>

#include "culmen/optimizer/evolution/individual.hpp"

namespace culmen::evolution {

/// Sorts, best first; the order of equals is kept. What did not fail comes before what did, less violation before more
/// (Deb, Comput. Methods Appl. Mech. Eng. 186 (2000) 311); among the feasible the lesser value, or with several
/// objectives the lower front, and within a front the less crowded (NSGA-II: Deb, Pratap, Agarwal and Meyarivan, IEEE
/// Trans. Evol. Comput. 6 (2002) 182).
void rank(std::vector<Individual>& members);

}  // namespace culmen::evolution
