#include "conformance/transport/network_casts.hpp"

#include <dlfcn.h>

#include <cstring>
#include <filesystem>
#include <thread>

#include "culmen/base/process.hpp"
#include "culmen/transport/network/joined_endpoint.hpp"
#include "culmen/transport/network/open_transport.hpp"

namespace culmen::conformance {
namespace {
constexpr const char* network_worker_argument = "--network-worker";
constexpr const char* token = "a token of the tests";

ListenOptions listen_at(const std::string& scheme) {
  ListenOptions options;
  options.address = {scheme, "127.0.0.1", 0};
  options.token = token;
  options.absence_s = dlsym(RTLD_DEFAULT, "__tsan_init") != nullptr ? 60 : 5;  // the longest evaluation, and more
  options.return_s = 0.1;                                                      // nobody who was lost in the kit returns
  return options;
}

void play_over_network(const Address& address, const std::string& fingerprint) {
  const auto endpoint = join_master({.address = address, .fingerprint = fingerprint, .token = token, .patience_s = 20});
  play_worker(*endpoint);
}

/// Workers have their numbers once they are connected.
void wait_for(const OpenTransport& transport, std::size_t workers) {
  while (transport.connected() < workers) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

class NetworkThreads final : public Cast {
 public:
  NetworkThreads(const std::string& scheme, std::size_t workers) : transport_(make_open_transport(listen_at(scheme))) {
    for (std::size_t i = 0; i < workers; ++i)
      threads_.emplace_back([this] { play_over_network(transport_->address(), transport_->fingerprint()); });
    wait_for(*transport_, workers);
  }
  ~NetworkThreads() override {
    transport_->close(10);
    for (auto& thread : threads_) thread.join();
  }
  Transport& transport() override { return *transport_; }
  bool has_processes() const override { return false; }

 private:
  std::unique_ptr<OpenTransport> transport_;
  std::vector<std::thread> threads_;
};

class NetworkProcesses final : public Cast {
 public:
  NetworkProcesses(const std::string& scheme, std::size_t workers)
      : transport_(make_open_transport(listen_at(scheme))) {
    SpawnRequest request;
    request.command = {std::filesystem::read_symlink("/proc/self/exe").string(), network_worker_argument,
                       to_string(transport_->address()), transport_->fingerprint()};
    for (std::size_t i = 0; i < workers; ++i) processes_.push_back(spawn(request));
    wait_for(*transport_, workers);
  }
  ~NetworkProcesses() override {
    transport_->close(10);
    for (const auto process : processes_) reap(process);
  }
  Transport& transport() override { return *transport_; }
  bool has_processes() const override { return true; }

 private:
  std::unique_ptr<OpenTransport> transport_;
  std::vector<pid_t> processes_;
};
}  // namespace

CastFactory network_threads(const std::string& scheme) {
  return [=](std::size_t workers) { return std::make_unique<NetworkThreads>(scheme, workers); };
}

CastFactory network_processes(const std::string& scheme) {
  return [=](std::size_t workers) { return std::make_unique<NetworkProcesses>(scheme, workers); };
}

int maybe_network_worker(int argc, char** argv) {
  if (argc != 4 || std::strcmp(argv[1], network_worker_argument) != 0) return -1;
  play_over_network(parse_address(argv[2]), argv[3]);
  return 0;
}

}  // namespace culmen::conformance
