#include "culmen/transport/mpi/world.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "culmen/base/error.hpp"
#include "culmen/transport/mpi/loader.hpp"

namespace culmen {
namespace {

constexpr std::size_t largest_piece = std::size_t{1} << 30;  // MPI counts are int
constexpr std::size_t text_bytes = 256;

/// CULMEN_VERSION_SHOWN lets a test play a rank of another version.
std::string own_version() {
  const char* shown = std::getenv("CULMEN_VERSION_SHOWN");
  return shown != nullptr ? shown : CULMEN_VERSION;
}

Bytes bytes_of(const std::string& text) {
  const auto* first = reinterpret_cast<const std::byte*>(text.data());
  return {first, first + text.size()};
}

std::string text_of(const Bytes& bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

/// Collective; the same sentence, or none, on every rank.
std::string unequal_versions(MpiWorld& world) {
  const auto versions = world.gather(own_version());
  const auto other = std::find_if(versions.begin(), versions.end(), [&](const auto& v) { return v != versions[0]; });
  std::string sentence;
  if (other != versions.end()) {
    sentence = fmt::format("rank {} runs culmen {}, rank 0 runs culmen {}; all ranks must run the same version",
                           other - versions.begin(), *other, versions[0]);
  }
  return text_of(world.broadcast(bytes_of(sentence)));
}

}  // namespace

struct MpiWorld::Impl {
  const culmen_mpi_module& mpi;
  int rank = 0;
  int size = 0;

  void check(int error, const char* what) const {
    if (error == 0) return;
    char text[512] = "";
    mpi.error_text(error, text, sizeof text);
    throw TransportError(fmt::format("MPI failed {}: {}", what, text));
  }
};

MpiWorld::MpiWorld(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
MpiWorld::~MpiWorld() = default;

std::unique_ptr<MpiWorld> MpiWorld::open(const Launch& launch) {
  const auto module = load_mpi_module(launch);
  auto impl = std::make_unique<Impl>(Impl{*module.functions});
  impl->check(impl->mpi.init(), "at its start");
  impl->check(impl->mpi.rank(&impl->rank, &impl->size), "asking for its rank");
  std::unique_ptr<MpiWorld> world(new MpiWorld(std::move(impl)));
  if (const auto fault = world->fault(launch, module.why); !fault.empty()) {
    world->finalize();
    throw TransportError(fault);
  }
  return world;
}

std::string MpiWorld::fault(const Launch& launch, const std::string& why) {
  if (size() != launch.size) {
    return fmt::format(
        "started by {} with {} ranks, but the MPI in use ({}: {}) sees {}; start with culmen launch, or with that "
        "MPI's own mpiexec{}",
        launcher_name(launch.kind), launch.size, why, library(), size(),
        launch.kind == LauncherKind::slurm ? " (srun: --mpi=pmix for Open MPI, --mpi=pmi2 for MPICH)" : "");
  }
  if (auto sentence = unequal_versions(*this); !sentence.empty()) return sentence;
  int node_rank = 0, node_size = 0;
  impl_->check(impl_->mpi.node(&node_rank, &node_size), "looking for the ranks of this node");
  if (node_size == size()) return "";
  return fmt::format(
      "only {} of the {} ranks are on this node; ranks on several nodes come with a later version of culmen: start all "
      "of them on one node",
      node_size, size());
}

int MpiWorld::rank() const { return impl_->rank; }

int MpiWorld::size() const { return impl_->size; }

std::string MpiWorld::library() const {
  std::array<char, 1024> text{};
  impl_->check(impl_->mpi.library_version(text.data(), text.size()), "asking for its version");
  std::string line(text.data());
  line.resize(std::min(line.size(), line.find_first_of(",\r\n")));
  std::replace(line.begin(), line.end(), '\t', ' ');
  return line;
}

Bytes MpiWorld::broadcast(Bytes bytes) {
  std::uint64_t size = bytes.size();
  impl_->check(impl_->mpi.broadcast(&size, sizeof size), "in a broadcast");
  bytes.resize(size);
  for (std::size_t at = 0; at < size; at += largest_piece) {
    impl_->check(impl_->mpi.broadcast(bytes.data() + at, std::min(largest_piece, size - at)), "in a broadcast");
  }
  return bytes;
}

std::vector<std::string> MpiWorld::gather(const std::string& text) {
  std::array<char, text_bytes> mine{};
  std::copy_n(text.begin(), std::min(text.size(), mine.size() - 1), mine.begin());
  std::vector<std::array<char, text_bytes>> all(rank() == 0 ? static_cast<std::size_t>(size()) : 0);
  impl_->check(impl_->mpi.gather(mine.data(), mine.size(), all.data()), "in a gather");
  std::vector<std::string> texts;
  for (const auto& one : all) texts.emplace_back(one.data());
  return texts;
}

void MpiWorld::barrier() { impl_->check(impl_->mpi.barrier(), "in a barrier"); }

void MpiWorld::finalize() { impl_->check(impl_->mpi.finalize(), "at its end"); }

}  // namespace culmen
