#include "culmen/study/crew/local_worker.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <string>

#include "culmen/base/error.hpp"
#include "culmen/transport/mailbox/mailbox.hpp"
#include "culmen/worker/worker.hpp"

namespace culmen {
namespace {
constexpr int mailbox_descriptor = 3;

int complain(const std::string& worker, const std::string& why) {
  const auto who = fmt::format("worker {}: ", worker);
  fmt::print(stderr, "culmen: {}{}\n", why.starts_with(who) ? "" : who, why);
  return 1;
}
}  // namespace

SpawnRequest local_worker_request(const std::string& program, int mailbox_fd, WorkerId box, const ProcessId& master,
                                  const std::string& marker) {
  SpawnRequest request;
  request.command = {
      program, "__worker", std::to_string(box), std::to_string(master.pid), std::to_string(master.start_ticks), marker};
  request.environment = {{"CULMEN_RUN", marker}};
  request.descriptors = {{mailbox_fd, mailbox_descriptor}};
  return request;
}

int local_worker_main(int argc, char** argv) {
  if (argc != 5) {
    std::fputs("culmen: __worker is started by culmen itself\n", stderr);
    return 2;
  }
  try {
    const auto box = static_cast<WorkerId>(std::stoul(argv[1]));
    const WorkerRole role({static_cast<pid_t>(std::stol(argv[2])), std::stoull(argv[3])}, argv[4]);
    MailboxEndpoint endpoint(MailboxMemory::attach(mailbox_descriptor), box);
    Worker worker;
    const auto why = serve(endpoint, worker);
    return why.empty() ? 0 : complain(argv[1], why);
  } catch (const std::exception& e) {
    return complain(argv[1], e.what());
  }
}

}  // namespace culmen
