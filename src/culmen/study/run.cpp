#include "culmen/study/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <limits>
#include <optional>

#include "culmen/base/error.hpp"
#include "culmen/study/config/build.hpp"
#include "culmen/study/config/mode.hpp"
#include "culmen/study/config/search.hpp"
#include "culmen/study/crew.hpp"
#include "culmen/study/crew/cpus.hpp"
#include "culmen/study/crew/ranks.hpp"
#include "culmen/study/lent_workers.hpp"
#include "culmen/transport/mpi/launcher.hpp"
#include "culmen/worker/child_table.hpp"
#include "culmen/worker/guard.hpp"

namespace culmen {
namespace {

// The guard of one run; ended with it.
class Guard {
 public:
  explicit Guard(const std::string& marker) : pid_(start_guard(this_process(), marker)) {}
  ~Guard() {
    kill_group(pid_);
    reap(pid_);
  }
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

 private:
  pid_t pid_;
};

// How long workers may take to leave before the end of the study. Those whose evaluations are children have these
// killed at once, and are late on a crowded machine only; a function inside a worker may never come back.
constexpr double leave_s = 2, leave_function_s = 0.1;

Place place_of(const RunOptions& options) {
  if (options.lent) return Place::threads;
  if (options.place != Place::automatic) return options.place;
  return detect_launch().is_rank() ? Place::mpi : Place::threads;
}

// A program's calls may be of any length, so that what waits behind one may wait long.
constexpr double prefetch_items_below_s = 0.01;
// Without generations what waits at a worker was proposed before its last result was known, which costs more than the
// way of a message unless that takes as long as an evaluation.
constexpr double prefetch_asynchronous_below_s = 0.0002;

}  // namespace

std::size_t workers_of(const RunOptions& options) {
  if (options.lent) return options.lent->workers();
  if (place_of(options) == Place::mpi) return static_cast<std::size_t>(std::max(1, detect_launch().size - 1));
  return options.workers != 0 ? options.workers : usable_cpus();
}

struct Run::Impl {
  StudyConfig config;
  RunOptions options;
  Function function;
  std::shared_ptr<ChildTable> children = ChildTable::create(make_run_marker());
  std::string marker = children->marker();
  SteadyClock clock;
  std::shared_ptr<Source> source;  // an optimizer, unless the caller gave another
  std::optional<Journal> journal;  // until the writer has it
  std::unique_ptr<Engine> engine;
  std::unique_ptr<Guard> guard;
  std::unique_ptr<Crew> crew;
  std::unique_ptr<Writer> writer;
  EngineResult result;
  double started_s = 0;
  std::atomic<Engine*> live{nullptr};
  std::atomic<bool> stop_wanted{false};

  Place place() const { return place_of(options); }

  void check() const {
    const auto& e = config.evaluator;
    if (e.time_limit_s > 0 && !starts_children(e))
      throw InputError(
          "a time limit needs isolation = \"process\": a function inside the worker cannot be ended alone");
    const auto& s = config.stop;
    if (!source && s.evaluations == 0 && s.stagnation == 0 && !(s.target > -std::numeric_limits<double>::infinity()) &&
        !(s.wall_time_s < std::numeric_limits<double>::infinity())) {
      throw InputError("nothing ends this study; give at least one of evaluations, target, stagnation and wall_time_s");
    }
  }

  /// The start that made the store, where it is to go on.
  std::optional<StudyRecord> former_start() const {
    if (!options.resume || options.store.empty()) return std::nullopt;
    return Journal::read(options.store).study();
  }

  /// What decides the candidates: this culmen, and the library whose optimizer it is.
  std::string build() const {
    const auto library = source->library();
    return library.empty() ? build_description() : fmt::format("{}, {}", build_description(), library);
  }

  std::optional<Journal> open_store() const {
    if (options.store.empty()) return std::nullopt;
    if (!options.resume) {
      return Journal::create(
          options.store,
          {config.name, config.configuration, config.fingerprint, build(), wall_clock_s(), config.stop.evaluations},
          options.durability);
    }
    // Compared before the store is taken, so that a refused start leaves no owner and no epoch behind.
    check_against(Journal::read(options.store));
    return Journal::resume(options.store, options.durability, build(), config.configuration);
  }

  void check_against(const Journal& found) const {
    const auto& study = found.study();
    if (study.fingerprint != config.fingerprint) {
      throw InputError(
          fmt::format("{} is the store of another study ('{}'); its space, evaluator, optimizer or seed differ",
                      options.store, study.name));
    }
    const auto told = found.summary().told;
    if (config.stop.evaluations == 0 || config.stop.evaluations >= told) return;
    throw InputError(fmt::format("{} holds {} evaluations already; a limit of {} is below that (it counts all of them)",
                                 options.store, told, config.stop.evaluations));
  }

  std::unique_ptr<Crew> hire() {
    if (options.lent) return make_lent_crew(options.lent);
    CrewRequest request{workers_of(options), marker, function};
    switch (place()) {
      case Place::mpi:
        return make_rank_crew(request);
      case Place::processes:
        return make_process_crew(request);
      default:
        return make_thread_crew(request);
    }
  }

  EngineOptions engine_options() const {
    EngineOptions o;
    o.broker.rules = config.stop;
    o.broker.failures = config.failures;
    o.broker.prefetch = options.prefetch;
    o.broker.batch = static_cast<std::uint32_t>(batch_of(config.evaluator));
    if (!source->generational()) o.broker.prefetch_below_s = prefetch_asynchronous_below_s;
    if (source->open_ended()) {
      o.broker.ask_ahead = std::numeric_limits<std::uint64_t>::max();
      o.broker.prefetch_below_s = prefetch_items_below_s;
    }
    o.set_up = encode(SetUp{config.space, config.evaluator, config.goals});
    o.study = std::hash<std::string>{}(marker);
    o.epoch = journal ? journal->epoch() : 1;
    o.build = build();
    o.close_grace_s = grace_s();
    return o;
  }

  // All that can be wrong before workers exist.
  void get_ready() {
    check();
    config.goals.check();
    config.evaluator.run_marker = marker;
    if (!source) {
      choose_optimizer(config);
      const auto former = former_start();
      settle_mode(config, workers_of(options), former ? former->fingerprint : "");
      // What a later start is given does not change the candidates.
      const auto evaluations = former ? former->budget : config.stop.evaluations;
      source = make_search(config, evaluations);
    }
    journal = open_store();
    engine = std::make_unique<Engine>(*source, clock, engine_options());
    live = engine.get();
    if (starts_children(config.evaluator) || place() == Place::processes) guard = std::make_unique<Guard>(marker);
  }

  void prepare() {
    started_s = clock.now_s();
    if (place() == Place::mpi) expect_ranks();
    try {
      get_ready();
      crew = hire();
    } catch (const std::exception& e) {
      if (place() == Place::mpi) abandon_ranks(e.what());
      if (journal) journal->close();
      if (journal) forget_store();
      throw;
    }
    if (stop_wanted) engine->request_stop();
  }

  void execute() noexcept {
    try {
      if (journal) {
        engine->replay(*journal);
        writer = std::make_unique<Writer>(std::move(*journal), [this] { crew->transport().wake(); });
      }
      result = engine->run(crew->transport(), writer.get());
      if (writer && result.reason == StopReason::set_up && Journal::read(options.store).summary().outcomes == 0)
        forget_store();
    } catch (const std::exception& e) {
      result = {};
      result.reason = StopReason::error;
      result.message = e.what();
      give_up();
    }
  }

  void give_up() noexcept {
    try {
      if (writer) writer->close();
      if (!writer && journal) journal->close();
    } catch (const std::exception&) {  // the first reason is the one that counts
    }
    crew->transport().close(grace_s());
  }

  // Nothing was begun: what this start has made must not stand in the way of the next.
  void forget_store() {
    if (options.resume) return;
    for (const char* ending : {"", "-wal", "-shm"}) std::remove((options.store + ending).c_str());
    options.store.clear();
  }

  double grace_s() const { return starts_children(config.evaluator) ? leave_s : leave_function_s; }

  std::string message() const {
    if (!result.message.empty()) return result.message;
    return fmt::format("{} after {} evaluations", to_string(result.reason), result.counts.told);
  }

  StudyResult conclude(const std::string& note) {
    StudyResult r;
    static_cast<EngineResult&>(r) = result;
    r.goals = config.goals;
    r.message = note.empty() ? message() : note;
    r.optimizer = config.optimizer;
    r.optimizer_why = config.optimizer_why;
    r.mode = mode_of(config);
    r.wall_s = clock.now_s() - started_s;
    r.workers = static_cast<std::uint32_t>(crew->workers());
    r.store = options.store;
    crew->conclude(r);
    return r;
  }
};

Run::Run(StudyConfig config, RunOptions options, Function function) : impl_(std::make_unique<Impl>()) {
  impl_->config = std::move(config);
  impl_->options = std::move(options);
  impl_->function = std::move(function);
}

Run::Run(StudyConfig config, RunOptions options, std::shared_ptr<Source> source)
    : Run(std::move(config), std::move(options)) {
  impl_->source = std::move(source);
}

Run::~Run() = default;

void Run::prepare() { impl_->prepare(); }
void Run::execute() { impl_->execute(); }
std::string Run::message() const { return impl_->message(); }
StudyResult Run::conclude(const std::string& note) { return impl_->conclude(note); }

void Run::stop() noexcept {
  impl_->stop_wanted = true;
  if (auto* engine = impl_->live.load()) engine->request_stop();
}

void Run::offer() noexcept {
  if (auto* engine = impl_->live.load()) engine->offer();
}

Progress Run::progress() const {
  auto* engine = impl_->live.load();
  if (engine == nullptr) return {};
  auto p = engine->progress();
  p.best_value = impl_->config.goals.as_given(0, p.best_value);
  return p;
}

}  // namespace culmen
