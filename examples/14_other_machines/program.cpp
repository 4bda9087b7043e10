// Without arguments, this program runs a study and waits for workers. With the address and the fingerprint of a run,
// the program evaluates for this run.
#include <cmath>
#include <culmen/culmen.hpp>
#include <iostream>

int main(int argc, char** argv) {
  const auto misfit = [](const std::vector<double>& p) {
    return std::pow(p[0] - 1, 2) + 100 * std::pow(p[1] - p[0] * p[0], 2);
  };
  culmen::OtherMachines machines;
  machines.token_file = "token.txt";
  if (argc > 2) {
    machines.join = argv[1];
    machines.fingerprint = argv[2];
  } else {
    machines.listen = "wss://127.0.0.1:7443";
  }
  try {
    const culmen::Space space{culmen::real("x", -5, 5), culmen::real("y", -5, 5)};
    const auto found = culmen::minimize(misfit, space, {.evaluations = 3000, .machines = machines});
    if (found.is_master) std::cout << "the least misfit is " << found.value << '\n';
    std::cout << found.message << '\n';
  } catch (const culmen::Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
