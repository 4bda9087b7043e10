// Workers that are threads of the master, or native processes which it starts.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <system_error>
#include <thread>

#include "culmen/base/descriptors.hpp"
#include "culmen/base/error.hpp"
#include "culmen/base/process.hpp"
#include "culmen/study/crew/crew.hpp"
#include "culmen/study/crew/local_worker.hpp"
#include "culmen/transport/mailbox/mailbox.hpp"

namespace culmen {
namespace {

/// A large frame passes in many turns of a small ring, and each turn wakes two threads. Many workers have small rings.
MailboxOptions mailbox_for(std::size_t workers) {
  constexpr std::size_t all = std::size_t{8} << 20, largest = std::size_t{256} << 10;
  MailboxOptions options{.workers = workers};
  options.ring_bytes = std::clamp(std::bit_floor(all / std::max<std::size_t>(workers, 1)), options.ring_bytes, largest);
  return options;
}

class ThreadCrew final : public Crew {
 public:
  explicit ThreadCrew(const CrewRequest& request)
      : memory_(MailboxMemory::create(mailbox_for(request.workers))), transport_(memory_) {
    try {
      for (WorkerId w = 0; w < request.workers; ++w) {
        threads_.emplace_back([memory = memory_, function = request.function, w] { work(memory, function, w); });
      }
    } catch (const std::system_error&) {
      const auto started = threads_.size();
      end();
      throw TransportError(fmt::format(
          "cannot start {} workers: this system allows only {} threads for them; use fewer workers, or worker "
          "processes",
          request.workers, started));
    }
  }
  ~ThreadCrew() override { end(); }
  Transport& transport() override { return transport_; }
  std::size_t workers() const override { return memory_->workers(); }
  void conclude(const StudyResult&) override { end(); }

 private:
  // An error that ends it early ends this worker, not the master: the engine notices that it left its box.
  static void work(const std::shared_ptr<MailboxMemory>& memory, const Function& function, WorkerId box) {
    MailboxEndpoint endpoint(memory, box);
    Worker worker(factory_for(function));
    if (const auto why = serve(endpoint, worker); !why.empty()) fmt::print(stderr, "culmen: worker {}: {}\n", box, why);
  }
  void end() {
    transport_.close(0);
    for (auto& t : threads_) t.join();
    threads_.clear();
  }
  std::shared_ptr<MailboxMemory> memory_;
  MailboxTransport transport_;
  std::vector<std::thread> threads_;
};

constexpr std::size_t descriptors_a_worker = 1;  // its pidfd

class ProcessCrew final : public Crew {
 public:
  explicit ProcessCrew(const CrewRequest& request)
      : room_(descriptors_a_worker * request.workers),
        memory_(MailboxMemory::create(mailbox_for(request.workers))),
        transport_(memory_) {
    if (request.function)
      throw InputError(
          "a C++ callable cannot be sent to worker processes; use threads, MPI, or a function in a shared library");
    const auto program = find_executable();
    for (WorkerId w = 0; w < request.workers; ++w) {
      const auto pid = spawn(local_worker_request(program, memory_->fd(), w, this_process(), request.run_marker));
      transport_.watch(w, identify(pid), true);
    }
  }
  Transport& transport() override { return transport_; }
  std::size_t workers() const override { return memory_->workers(); }
  void conclude(const StudyResult&) override {}

 private:
  DescriptorRoom room_;
  std::shared_ptr<MailboxMemory> memory_;
  MailboxTransport transport_;
};

}  // namespace

EvaluatorFactory factory_for(Function function) {
  if (!function) return make_evaluator;
  return [function = std::move(function)](const SetUp&) { return make_function_evaluator(function); };
}

std::unique_ptr<Crew> make_thread_crew(const CrewRequest& request) { return std::make_unique<ThreadCrew>(request); }
std::unique_ptr<Crew> make_process_crew(const CrewRequest& request) { return std::make_unique<ProcessCrew>(request); }

}  // namespace culmen
