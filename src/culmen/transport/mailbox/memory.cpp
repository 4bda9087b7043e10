#include <fcntl.h>
#include <fmt/format.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <cstring>
#include <utility>

#include "culmen/base/error.hpp"
#include "culmen/transport/mailbox/layout.hpp"

namespace culmen {

namespace {
constexpr std::size_t most_workers = 65536;
constexpr std::size_t least_ring_bytes = 4096, most_ring_bytes = std::size_t{1} << 30;

/// A descriptor that closes itself.
class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

std::string reason(int error) { return std::strerror(error); }

bool sizes_are_allowed(std::size_t workers, std::size_t ring_bytes) {
  return workers >= 1 && workers <= most_workers && std::has_single_bit(ring_bytes) && ring_bytes >= least_ring_bytes &&
         ring_bytes <= most_ring_bytes;
}

void check(const MailboxOptions& options) {
  if (sizes_are_allowed(options.workers, options.ring_bytes)) return;
  throw InputError(
      fmt::format("a mailbox for {} workers with rings of {} bytes: there must be 1 to {} workers, and a power of two "
                  "from {} to {} bytes",
                  options.workers, options.ring_bytes, most_workers, least_ring_bytes, most_ring_bytes));
}

/// Free bytes of the file system that holds fd; 0 if unknown (memfd).
std::uint64_t free_bytes(int fd) {
  struct statvfs state {};
  return fstatvfs(fd, &state) == 0 ? state.f_bavail * state.f_frsize : 0;
}

/// Reserves every page now: a later store to a missing page would be a SIGBUS.
void reserve(int fd, const MailboxMemory::Layout& layout, bool named) {
  int error;
  do error = posix_fallocate(fd, 0, static_cast<off_t>(layout.total_bytes()));
  while (error == EINTR);
  if (error == 0) return;
  const auto fewer = fmt::format("use fewer workers than {}", layout.workers);
  if (!named)
    throw TransportError(fmt::format("the mailbox could not get {} bytes of shared memory ({}): {}",
                                     layout.total_bytes(), reason(error), fewer));
  const auto there = free_bytes(fd);
  throw TransportError(
      fmt::format("the mailbox needs {} bytes in /dev/shm, but {} are free ({}): {}, or make /dev/shm larger (mount "
                  "option size=, in containers --shm-size)",
                  layout.total_bytes(), there, reason(error), fewer));
}

std::byte* map(int fd, std::size_t bytes) {
  void* base = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (base == MAP_FAILED)
    throw TransportError(fmt::format("cannot map {} bytes of shared memory: {}", bytes, reason(errno)));
  return static_cast<std::byte*>(base);
}
}  // namespace

PollBell::~PollBell() {
  if (fd >= 0) close(fd);
}

int PollBell::listen() {
  if (fd < 0) fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  std::uint64_t rings = 0;
  if (fd >= 0 && !listens.load()) (void)!read(fd, &rings, sizeof rings);
  listens.store(true, std::memory_order_seq_cst);
  return fd;
}

void PollBell::ring() noexcept {
  const std::uint64_t one = 1;
  if (listens.load(std::memory_order_seq_cst) && listens.exchange(false)) (void)!write(fd, &one, sizeof one);
}

struct MailboxMemory::Impl {
  ~Impl() {
    if (layout.base) munmap(layout.base, layout.total_bytes());
    if (created) remove_name();
  }
  void remove_name() noexcept {
    if (!name.empty()) shm_unlink(name.c_str());
  }
  void make(const MailboxOptions& options) {
    layout.workers = options.workers;
    layout.ring_bytes = static_cast<std::uint32_t>(options.ring_bytes);
    created = true;
    poll_bells = std::make_unique<PollBell[]>(options.workers);
    layout.poll_bells = poll_bells.get();
    reserve(fd.get(), layout, !name.empty());
    layout.base = map(fd.get(), layout.total_bytes());
    auto& hub = layout.hub();
    hub.version = Layout::version;
    hub.ring_bytes = layout.ring_bytes;
    hub.workers = layout.workers;
    hub.total_bytes = layout.total_bytes();
    hub.magic = Layout::magic;
  }
  /// Checks every value before its use.
  void adopt(int from, const std::string& what) {
    struct stat state {};
    if (fstat(from, &state) != 0) throw TransportError(fmt::format("{} cannot be opened: {}", what, reason(errno)));
    const auto bytes = static_cast<std::size_t>(state.st_size);
    if (bytes < sizeof(Hub)) throw TransportError(fmt::format("{} is not a mailbox: it has {} bytes", what, bytes));
    std::byte* base = map(from, bytes);
    const auto& hub = *reinterpret_cast<const Hub*>(base);
    const auto magic = hub.magic;
    const auto version = hub.version;
    Layout found{nullptr, hub.workers, hub.ring_bytes};
    const bool sizes =
        sizes_are_allowed(found.workers, found.ring_bytes) && found.total_bytes() == bytes && hub.total_bytes == bytes;
    if (magic == Layout::magic && version == Layout::version && sizes) {
      layout = found;
      layout.base = base;
      return;
    }
    munmap(base, bytes);
    if (magic != Layout::magic)
      throw TransportError(fmt::format("{} is not a mailbox: its first bytes are wrong", what));
    if (version != Layout::version)
      throw TransportError(fmt::format(
          "{} has layout {}, but this build of culmen has {}: master and workers must have the same version", what,
          version, Layout::version));
    throw TransportError(fmt::format("{} is damaged: its sizes do not agree", what));
  }

  Layout layout;
  std::unique_ptr<PollBell[]> poll_bells;
  Descriptor fd;
  std::string name;
  bool created = false;
};

MailboxMemory::MailboxMemory(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
MailboxMemory::~MailboxMemory() = default;

std::shared_ptr<MailboxMemory> MailboxMemory::create(const MailboxOptions& options) {
  check(options);
  auto impl = std::make_unique<Impl>();
  impl->fd = Descriptor(memfd_create("culmen", MFD_CLOEXEC));
  if (impl->fd.get() < 0) throw TransportError(fmt::format("cannot create shared memory: {}", reason(errno)));
  impl->make(options);
  return std::shared_ptr<MailboxMemory>(new MailboxMemory(std::move(impl)));
}

std::shared_ptr<MailboxMemory> MailboxMemory::create_named(const MailboxOptions& options) {
  check(options);
  auto impl = std::make_unique<Impl>();
  std::uint64_t random = 0;
  if (getrandom(&random, sizeof random, 0) != sizeof random)
    throw TransportError("the system returned no random number for the name of a mailbox");
  impl->name = fmt::format("/culmen.{}.{:016x}", getpid(), random);
  impl->fd = Descriptor(shm_open(impl->name.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600));
  if (impl->fd.get() < 0)
    throw TransportError(fmt::format("cannot create {} in /dev/shm: {}", impl->name, reason(errno)));
  impl->make(options);
  return std::shared_ptr<MailboxMemory>(new MailboxMemory(std::move(impl)));
}

std::shared_ptr<MailboxMemory> MailboxMemory::attach(int fd) {
  auto impl = std::make_unique<Impl>();
  impl->adopt(fd, fmt::format("the inherited descriptor {}", fd));
  return std::shared_ptr<MailboxMemory>(new MailboxMemory(std::move(impl)));
}

std::shared_ptr<MailboxMemory> MailboxMemory::attach(const std::string& name) {
  auto impl = std::make_unique<Impl>();
  const Descriptor fd(shm_open(name.c_str(), O_RDWR | O_CLOEXEC, 0));
  if (fd.get() < 0)
    throw TransportError(fmt::format("cannot open the mailbox {} in /dev/shm: {}", name, reason(errno)));
  impl->adopt(fd.get(), fmt::format("{} in /dev/shm", name));
  impl->name = name;
  return std::shared_ptr<MailboxMemory>(new MailboxMemory(std::move(impl)));
}

int MailboxMemory::fd() const { return impl_->fd.get(); }
const std::string& MailboxMemory::name() const { return impl_->name; }
void MailboxMemory::unlink() noexcept {
  impl_->remove_name();
  impl_->created = false;
}
std::size_t MailboxMemory::workers() const { return impl_->layout.workers; }
MailboxMemory::Layout& MailboxMemory::layout() const { return impl_->layout; }

}  // namespace culmen
