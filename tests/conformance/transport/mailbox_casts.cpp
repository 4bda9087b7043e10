#include "conformance/transport/mailbox_casts.hpp"

#include <cstring>
#include <filesystem>
#include <thread>

#include "culmen/transport/mailbox/mailbox.hpp"

namespace culmen::conformance {

namespace {
constexpr const char* worker_argument = "--mailbox-worker";
constexpr int worker_fd = 3;

class Threads final : public Cast {
 public:
  Threads(std::size_t workers, std::size_t ring_bytes)
      : memory_(MailboxMemory::create({.workers = workers, .ring_bytes = ring_bytes})), transport_(memory_) {
    for (WorkerId worker = 0; worker < workers; ++worker)
      threads_.emplace_back([memory = memory_, worker] {
        MailboxEndpoint endpoint(memory, worker);
        play_worker(endpoint);
      });
  }
  ~Threads() override {
    transport_.close(10);
    for (auto& thread : threads_) thread.join();
  }
  Transport& transport() override { return transport_; }
  bool has_processes() const override { return false; }

 private:
  std::shared_ptr<MailboxMemory> memory_;
  MailboxTransport transport_;
  std::vector<std::thread> threads_;
};

class Processes final : public Cast {
 public:
  Processes(std::size_t workers, std::size_t ring_bytes)
      : memory_(MailboxMemory::create({.workers = workers, .ring_bytes = ring_bytes})), transport_(memory_) {
    const auto program = std::filesystem::read_symlink("/proc/self/exe").string();
    for (WorkerId worker = 0; worker < workers; ++worker) {
      SpawnRequest request;
      request.command = {program, worker_argument, std::to_string(worker)};
      request.descriptors = {{memory_->fd(), worker_fd}};
      transport_.watch(worker, identify(spawn(request)), true);
    }
  }
  ~Processes() override { transport_.close(10); }
  Transport& transport() override { return transport_; }
  bool has_processes() const override { return true; }

 private:
  std::shared_ptr<MailboxMemory> memory_;
  MailboxTransport transport_;
};
}  // namespace

CastFactory mailbox_threads(std::size_t ring_bytes) {
  return [=](std::size_t workers) { return std::make_unique<Threads>(workers, ring_bytes); };
}

CastFactory mailbox_processes(std::size_t ring_bytes) {
  return [=](std::size_t workers) { return std::make_unique<Processes>(workers, ring_bytes); };
}

int maybe_worker(int argc, char** argv) {
  if (argc != 3 || std::strcmp(argv[1], worker_argument) != 0) return -1;
  MailboxEndpoint endpoint(MailboxMemory::attach(worker_fd), static_cast<WorkerId>(std::stoul(argv[2])));
  play_worker(endpoint);
  return 0;
}

}  // namespace culmen::conformance
