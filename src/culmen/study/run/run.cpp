#include "culmen/study/run/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <limits>
#include <optional>

#include "culmen/base/error.hpp"
#include "culmen/evaluation/judge.hpp"
#include "culmen/store/schema.hpp"
#include "culmen/study/config/broker_options.hpp"
#include "culmen/study/config/build.hpp"
#include "culmen/study/config/fingerprint.hpp"
#include "culmen/study/config/mode.hpp"
#include "culmen/study/config/search.hpp"
#include "culmen/study/crew/crew.hpp"
#include "culmen/study/crew/refusal.hpp"
#include "culmen/study/crew/staying_transport.hpp"
#include "culmen/study/crew/thread_share.hpp"
#include "culmen/study/run/status_page.hpp"
#include "culmen/worker/process/child_table.hpp"
#include "culmen/worker/process/guard.hpp"

namespace culmen {
namespace {

// How long the end of a study waits for its workers. Evaluations in child processes are killed at once, so that such
// workers are late only on a crowded machine. A function inside a worker may never return.
constexpr double leave_s = 2, leave_function_s = 0.1;

}  // namespace

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
  std::unique_ptr<Workplace> workplace;
  std::unique_ptr<Guard> guard;
  std::unique_ptr<Crew> crew;
  std::unique_ptr<Writer> writer;
  std::shared_ptr<History> history;  // none unless the options ask for it
  std::shared_ptr<Refusals> refusals = std::make_shared<Refusals>();
  Door door;
  EngineResult result;
  double started_s = 0;
  std::atomic<Engine*> live{nullptr};
  std::atomic<StopReason> stop_wanted{StopReason::none};

  void check() const {
    check_teams(options, config.evaluator);
    const auto& e = config.evaluator;
    if (e.time_limit_s > 0 && !starts_children(e) && !in_teams())
      throw InputError(
          "a time limit needs isolation = \"process\": a function inside the worker cannot be ended alone");
  }

  /// Local searches that agree end a study, too.
  void check_end(const Optimizer& optimizer) const {
    const auto& s = config.stop;
    const bool has_rule = s.evaluations > 0 || s.stagnation > 0 ||
                          s.target > -std::numeric_limits<double>::infinity() ||
                          s.wall_time_s < std::numeric_limits<double>::infinity();
    if (!has_rule && !optimizer.can_converge())
      throw InputError("nothing ends this study; give at least one of evaluations, target, stagnation and wall_time_s");
  }

  bool in_teams() const { return options.team_size > 0; }

  /// The store that this run resumes, opened for reading.
  std::optional<Journal> former() const {
    if (!options.resume || options.store.empty()) return std::nullopt;
    return Journal::read(options.store);
  }

  /// Candidates depend on this culmen, and on the library that has the optimizer.
  std::string build() const {
    const auto library = source->library();
    return library.empty() ? build_description() : fmt::format("{}, {}", build_description(), library);
  }

  std::optional<Journal> open_store() const {
    if (options.store.empty()) return std::nullopt;
    if (!options.resume) {
      return Journal::create(
          options.store,
          {config.name, config.configuration, config.fingerprint, build(), wall_clock_s(), config.plan()},
          options.durability);
    }
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

  EngineOptions engine_options() const {
    EngineOptions o;
    o.broker = broker_options_of(config, *source, options.prefetch && !in_teams());  // members begin together
    if (workplace->is_open()) {
      o.visitors_are_to_blame = !starts_children(config.evaluator);
      o.broker.needs_workers = false;
    }
    auto evaluator = config.evaluator;
    evaluator.environment.merge(thread_share(workplace->local_workers(), evaluator));
    o.set_up = encode(SetUp{config.space, std::move(evaluator), config.goals});
    o.study = std::hash<std::string>{}(marker);
    o.epoch = journal ? journal->epoch() : 1;
    o.build = build();
    o.values = config.goals.several() ? config.goals.objectives.size() : 0;
    o.close_grace_s = grace_s();
    o.history = history;
    return o;
  }

  /// `begun`: the study in the store that this run resumes, if there is one.
  void make_source(const StudyRecord* begun) {
    choose_optimizer(config);
    settle_mode(config, workplace->workers(), begun != nullptr ? begun->fingerprint : "");
    // The budget of a later start does not change the candidates.
    auto optimizer = make_search(config, begun != nullptr ? begun->budget : config.plan());
    check_end(*optimizer);
    source = std::move(optimizer);
  }

  /// All that is decided before the store is taken, so that a refused start leaves no owner and no epoch behind.
  void settle() {
    const auto found = former();
    if (!source) make_source(found ? &found->study() : nullptr);
    if (found) check_against(*found);
  }

  // All checks that need no workers.
  void get_ready() {
    check();
    const Judge checked(config.goals, config.space);
    config.evaluator.run_marker = marker;
    if (in_teams()) config.evaluator.isolation = Isolation::none;
    settle();
    journal = open_store();
    engine = std::make_unique<Engine>(*source, clock, engine_options());
    live = engine.get();
    if (starts_children(config.evaluator) || workplace->starts_processes()) guard = std::make_unique<Guard>(marker);
  }

  void prepare() {
    started_s = clock.now_s();
    workplace->expect();
    try {
      get_ready();
      crew = workplace->hire({workplace->workers(),
                              marker,
                              function,
                              work_of(config, options.listening.content),
                              starts_children(config.evaluator),
                              {options.team_size, options.team_placement, config.evaluator.time_limit_s},
                              [this] { return status_page(config.name, progress(), clock.now_s()); },
                              refusals});
      if (const auto first = crew->first_visitor()) engine->expect_visitors(*first);
      door = crew->door();
    } catch (const std::exception& e) {
      workplace->abandon(Refusal::of(e));
      if (journal) journal->close();
      if (journal) forget_store();
      throw;
    }
    if (const auto why = stop_wanted.load(); why != StopReason::none) engine->request_stop(why);
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
      result.store_failed = dynamic_cast<const StoreError*>(&e) != nullptr;
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

  // Nothing was evaluated: the files of this start must not prevent the next one.
  void forget_store() {
    if (options.resume) return;
    remove_store(options.store);
    options.store.clear();
  }

  /// The best value is as the user knows it.
  Progress progress() const {
    Progress p;
    if (const auto* running = live.load()) p = running->progress();
    p.budget = config.stop.evaluations;
    p.best_value = config.goals.as_given(0, p.best_value);
    const auto known = refusals->known();
    p.refused = known.count;
    p.last_refusal = known.last;
    return p;
  }

  std::uint32_t nodes() const { return static_cast<std::uint32_t>(crew->nodes()); }

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
    r.workers = std::max(static_cast<std::uint32_t>(crew->workers()), result.counts.workers);
    r.nodes = nodes();
    r.team_size = static_cast<std::uint32_t>(options.team_size);
    r.store = options.store;
    r.history = history;
    crew->conclude(r);
    return r;
  }
};

Run::Run(StudyConfig config, RunOptions options, Function function) : impl_(std::make_unique<Impl>()) {
  impl_->config = std::move(config);
  impl_->options = std::move(options);
  if (const auto& stay = impl_->options.listening.stay) impl_->refusals = stay->refusals;
  impl_->workplace = make_workplace(impl_->options);
  impl_->function = std::move(function);
  if (const auto bytes = impl_->options.history_bytes) impl_->history = std::make_shared<History>(bytes);
}

Run::Run(StudyConfig config, RunOptions options, std::shared_ptr<Source> source, Function function)
    : Run(std::move(config), std::move(options), std::move(function)) {
  impl_->source = std::move(source);
}

Run::~Run() = default;

const Run::Door& Run::door() const { return impl_->door; }
std::uint32_t Run::nodes() const { return impl_->nodes(); }
std::uint32_t Run::workers() const { return static_cast<std::uint32_t>(impl_->crew->workers()); }

void Run::prepare() { impl_->prepare(); }
void Run::execute() { impl_->execute(); }
std::string Run::message() const { return impl_->message(); }
StudyResult Run::conclude(const std::string& note) { return impl_->conclude(note); }

void Run::stop(StopReason why) noexcept {
  impl_->stop_wanted = why;
  if (auto* engine = impl_->live.load()) engine->request_stop(why);
}

void Run::offer() noexcept {
  if (auto* engine = impl_->live.load()) engine->offer();
}

std::shared_ptr<const History> Run::history() const { return impl_->history; }

Progress Run::progress() const { return impl_->progress(); }

}  // namespace culmen
