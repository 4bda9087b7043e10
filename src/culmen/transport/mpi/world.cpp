#include "culmen/transport/mpi/world.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <cstring>

#include "culmen/base/error.hpp"
#include "culmen/base/machine.hpp"
#include "culmen/transport/mpi/gift.hpp"
#include "culmen/transport/mpi/loader.hpp"
#include "culmen/transport/mpi/mpi_line.hpp"

namespace culmen {
namespace {

constexpr std::size_t largest_piece = std::size_t{1} << 30;  // MPI counts are int
constexpr std::size_t first_piece = 4096;
constexpr std::size_t text_bytes = 256;

/// With this variable a test plays a rank of another version or on another node, or a launch on many nodes.
std::string shown(const char* variable, std::string otherwise) {
  const char* value = std::getenv(variable);
  return value != nullptr ? value : otherwise;
}

/// Ranks with the same text see the same shared memory and the same process ids: one host, one boot of it, one /dev/shm
/// and one process namespace (containers may each have their own). Asking MPI_Comm_split_type instead costs 0.4 s for 9
/// ranks of MPICH on 2 cores.
std::string this_node() {
  struct stat memory {};
  stat("/dev/shm", &memory);
  return fmt::format("{} {} {} {}", host_name(), boot_id(), memory.st_dev, process_namespace());
}

/// Facts of every rank for rank 0, one line each.
struct Introduction {
  std::string version, node;
  explicit Introduction(const std::string& text)
      : version(text.substr(0, text.find('\n'))), node(text.substr(version.size() + 1)) {}
};

/// The information that rank 0 collects from all ranks.
struct Meeting {
  std::string misfit;  // empty if all ranks fit together
  std::vector<std::size_t> nodes;
  std::size_t flat_nodes = most_flat_nodes;
};

void read_flat_nodes(Meeting& meeting) {
  const auto text = shown("CULMEN_FLAT_NODES", std::to_string(most_flat_nodes));
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), meeting.flat_nodes);
  if (text.empty() || error != std::errc() || end != text.data() + text.size())
    meeting.misfit = fmt::format("CULMEN_FLAT_NODES={}: this must be a whole number from 0 on", text);
}

Meeting meeting_of(const std::vector<std::string>& texts) {
  Meeting meeting;
  read_flat_nodes(meeting);
  std::vector<std::string> nodes;
  for (std::size_t r = 0; r < texts.size(); ++r) {
    const Introduction rank(texts[r]), master(texts[0]);
    if (rank.version != master.version && meeting.misfit.empty())
      meeting.misfit =
          fmt::format("rank {} runs culmen {}, but rank 0 runs culmen {}; all ranks must run the same version", r,
                      rank.version, master.version);
    const auto at = std::ranges::find(nodes, rank.node);
    meeting.nodes.push_back(static_cast<std::size_t>(at - nodes.begin()));
    if (at == nodes.end()) nodes.push_back(rank.node);
  }
  return meeting;
}

Bytes bytes_of(const Meeting& meeting) {
  Bytes out;
  ByteWriter w(out);
  w.text(meeting.misfit);
  w.u64(meeting.nodes.size());
  for (const auto node : meeting.nodes) w.u64(node);
  w.u64(meeting.flat_nodes);
  return out;
}

Meeting meeting_in(BytesView bytes) {
  ByteReader r(bytes);
  Meeting meeting;
  meeting.misfit = r.text();
  for (auto n = r.u64(); n > 0; --n) meeting.nodes.push_back(r.u64());
  meeting.flat_nodes = r.u64();
  return meeting;
}

std::string advice(LauncherKind kind, const std::string& why) {
  if (kind == LauncherKind::slurm)
    return "start with culmen launch, or with that MPI's own mpiexec (srun: --mpi=pmix for Open MPI, --mpi=pmi2 for "
           "MPICH)";
  if (why == loaded_before) {
    // MPICH's library may have another name than mpi4py's wheel looks for.
    const auto* own = kind == LauncherKind::openmpi ? ", or set MPI4PY_MPIABI=openmpi" : "";
    return fmt::format("if mpi4py loaded it, start with culmen launch, which makes mpi4py load the right one{}", own);
  }
  return "start with culmen launch, or with that MPI's own mpiexec";
}

void check(const culmen_mpi_module& mpi, int error, const char* what) {
  if (error == 0) return;
  char text[512] = "";
  mpi.error_text(error, text, sizeof text);
  throw TransportError(fmt::format("MPI failed {}: {}", what, text));
}

class MpiTeam final : public RankTeam {
 public:
  MpiTeam(const culmen_mpi_module& mpi, int communicator) : mpi_(mpi), communicator_(communicator) {}
  int communicator() const override { return communicator_; }
  void renew() override { check(mpi_, mpi_.renew_team(&communicator_), "giving a team another communicator"); }
  void leave() override { check(mpi_, mpi_.leave_team(), "at the end of a team"); }

 private:
  const culmen_mpi_module& mpi_;
  int communicator_;
};

}  // namespace

struct MpiWorld::Impl {
  const culmen_mpi_module& mpi;
  int rank = 0;
  int size = 0;
  std::vector<std::size_t> nodes = {};
  std::size_t flat_nodes = most_flat_nodes;

  void check(int error, const char* what) const { culmen::check(mpi, error, what); }
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
    return fmt::format("started by {} with {} ranks, but the MPI in use ({}: {}) sees {}; {}",
                       launcher_name(launch.kind), launch.size, why, library(), size(), advice(launch.kind, why));
  }
  const auto introductions = gather(
      fmt::format("{}\n{}", shown("CULMEN_VERSION_SHOWN", CULMEN_VERSION), shown("CULMEN_NODE_SHOWN", this_node())));
  auto meeting = meeting_in(broadcast(bytes_of(meeting_of(introductions))));
  impl_->nodes = std::move(meeting.nodes);
  impl_->flat_nodes = meeting.flat_nodes;
  if (!meeting.misfit.empty()) return meeting.misfit;
  const bool several = std::ranges::any_of(impl_->nodes, [](auto node) { return node > 0; });
  if (several) impl_->check(impl_->mpi.open_line(), "opening a line between nodes");
  return {};
}

std::vector<std::size_t> MpiWorld::nodes() const { return impl_->nodes; }

std::size_t MpiWorld::flat_nodes() const { return impl_->flat_nodes; }

std::unique_ptr<RankTeam> MpiWorld::team(int number) {
  int communicator = 0;
  impl_->check(impl_->mpi.form_team(number, &communicator), "forming teams");
  return number < 0 ? nullptr : std::make_unique<MpiTeam>(impl_->mpi, communicator);
}

std::unique_ptr<Line> MpiWorld::line(std::vector<int> ranks, LineEnd end) {
  return std::make_unique<MpiLine>(impl_->mpi, std::move(ranks), end);
}

void MpiWorld::give(BytesView bytes, const std::vector<int>& ranks) { culmen::give(impl_->mpi, bytes, ranks); }

Bytes MpiWorld::taken() { return take_gift(impl_->mpi); }

int MpiWorld::rank() const { return impl_->rank; }

int MpiWorld::size() const { return impl_->size; }

std::string MpiWorld::library() const { return library_name(impl_->mpi); }

Bytes MpiWorld::broadcast(Bytes bytes) {
  // Size and beginning travel together: if ranks outnumber cores, the cost of a broadcast is its waiting.
  std::array<std::byte, first_piece> head;
  std::uint64_t size = bytes.size();
  constexpr auto room = head.size() - sizeof size;
  std::memcpy(head.data(), &size, sizeof size);
  std::copy_n(bytes.begin(), std::min(room, bytes.size()), head.begin() + sizeof size);
  impl_->check(impl_->mpi.broadcast(head.data(), head.size()), "in a broadcast");
  std::memcpy(&size, head.data(), sizeof size);
  bytes.resize(size);
  std::copy_n(head.begin() + sizeof size, std::min(room, bytes.size()), bytes.begin());
  for (std::size_t at = room; at < size; at += largest_piece) {
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
