#include "culmen/base/descriptors.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstring>
#include <mutex>
#include <utility>

#include "culmen/base/error.hpp"

namespace culmen {
namespace {
constexpr rlim_t of_everything_else = 256;  // for the store, MPI, Python, and the user's own files

std::mutex mutex;  // protects reserved and the limit
rlim_t reserved = 0;
std::atomic<rlim_t> former = 0;  // soft limit before it was raised; 0: it was not raised

void raise_to(rlim_t wanted) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || wanted <= limit.rlim_cur) return;
  if (wanted > limit.rlim_max) {
    throw InputError(fmt::format(
        "the workers of this process need {} open files, but the system allows {} (ulimit -Hn); use fewer workers",
        wanted, limit.rlim_max));
  }
  const auto before = limit.rlim_cur;
  limit.rlim_cur = std::min(limit.rlim_max, 2 * wanted);  // so that it is raised rarely
  if (setrlimit(RLIMIT_NOFILE, &limit) == 0 && former == 0) former = before;
}

void give_back() noexcept {
  rlimit limit{};
  if (former == 0 || getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = former.exchange(0);
  setrlimit(RLIMIT_NOFILE, &limit);
}
}  // namespace

DescriptorRoom::DescriptorRoom(std::size_t descriptors) : descriptors_(descriptors) {
  const std::lock_guard lock(mutex);
  raise_to(reserved + descriptors_ + of_everything_else);
  reserved += descriptors_;
}

DescriptorRoom::~DescriptorRoom() {
  const std::lock_guard lock(mutex);
  reserved -= descriptors_;
  if (reserved == 0) give_back();
}

std::size_t childs_descriptor_limit() noexcept { return former; }

int exec_main(int argc, char** argv) {
  if (argc < 4) return 127;
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  std::from_chars(argv[1], argv[1] + std::strlen(argv[1]), limit.rlim_cur);
  setrlimit(RLIMIT_NOFILE, &limit);
  const char* const program = std::exchange(argv[3], argv[2]);
  execvp(program, argv + 3);
  fmt::print(stderr, "culmen: cannot start '{}': {}\n", program, std::strerror(errno));
  return 127;
}

}  // namespace culmen
