#include "culmen/study/run/further.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <limits>

#include "culmen/base/error.hpp"
#include "culmen/study/crew/staying_transport.hpp"

namespace culmen {
StudyConfig further_config(StudyConfig config) {
  static std::atomic<unsigned> runs = 0;
  config.stop = {};
  config.failures.give_up_after = 0;
  if (config.failures.on_failure == OnFailure::stop) config.failures.on_failure = OnFailure::penalise;
  auto& folder = config.evaluator.working_folder;  // others may evaluate for the same store
  if (!folder.empty()) folder = fmt::format("{}/further-{}-{}", folder, getpid(), runs++);
  return config;
}

RunOptions further_options(RunOptions options) {
  options.store.clear();
  options.resume = false;
  options.history_bytes = 0;
  return options;
}

void keep_visitors(RunOptions& options) {
  if (options.listening) options.listening.stay = std::make_shared<Stay>();
}

void dismiss_visitors(const RunOptions& options) {
  const auto& stay = options.listening.stay;
  if (stay && stay->transport) stay->transport->dismiss_all(std::numeric_limits<double>::infinity());
}

RunOptions remaining_workers(RunOptions options) {
  const auto& stay = options.listening.stay;
  if (stay && stay->transport && stay->transport->connected() > 0) return options;
  if (!make_workplace(options)->has_own_workers())
    throw InputError("the workers of other machines have left, and none runs on this machine");
  options.listening = {};
  return options;
}

}  // namespace culmen
