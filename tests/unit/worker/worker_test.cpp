#include "culmen/worker/worker.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <deque>
#include <future>
#include <thread>

#include "culmen/base/error.hpp"
#include "culmen/evaluation/codec.hpp"
#include "culmen/worker/core/readable.hpp"
#include "helpers.hpp"

namespace culmen {
namespace {
using testing::HasSubstr;

FrameHead head_of(FrameKind kind) { return {11, 7, 3, 2, kind, 0}; }

std::string text_of(const Bytes& bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

Bytes encoded(const Candidate& candidate) {
  Bytes out;
  encode(candidate, out);
  return out;
}

SetUp sphere() { return {two_parameters(), library_spec("sphere", Isolation::none)}; }

// One spec of each kind, with a value in every field.
std::vector<EvaluatorSpec> one_of_each_kind() {
  const Bytes pickle{std::byte{1}, std::byte{0}, std::byte{255}};
  CommandSpec command{{"sh", "-c", "echo 1"}, Keep::failures, true, {}, {}, {}};
  command.templates = {{"in", "{{x}}"}};
  command.inputs = {{"/a/b", "b", true}};
  command.figures = {{"e", "f", Reading::regex, "p", true}};
  std::vector<EvaluatorSpec> specs(5);
  specs[1].how = PythonSpec{"m:f", pickle, "/usr/bin/python3", 3};
  specs[2].how = LibrarySpec{"/l.so:f"};
  specs[3].how = command;
  specs[4].how = ItemsSpec{pickle, "/usr/bin/python3"};
  for (auto& spec : specs) {
    spec.isolation = Isolation::none;
    spec.result = ResultKind::residuals;
    spec.time_limit_s = 2.5;
    spec.base_folder = "/a";
    spec.working_folder = "/w";
    spec.run_marker = "mark";
    spec.environment = {{"A", "1"}, {"B", ""}};
    spec.modules = {"gcc/12"};
    spec.output = Keep::all;
  }
  return specs;
}

TEST(SetUpCodec, gives_back_what_it_was_given) {
  for (auto spec : one_of_each_kind()) {
    spec.environment["REMOVED"] = std::nullopt;
    const auto back = decode_set_up(encode({two_parameters(), spec}));
    EXPECT_EQ(back.space, two_parameters());
    EXPECT_EQ(back.evaluator, spec) << static_cast<int>(spec.kind());
  }
}

struct Words {
  std::string target, pickle, interpreter;
  std::vector<std::string> command;
  std::uint32_t batch = 0;
};

void write_words(ByteWriter& w, const std::vector<std::string>& words) {
  w.u64(words.size());
  for (const auto& word : words) w.text(word);
}

/// By the layout of version 4, which `culmen.slot` reads: written here a second time.
Bytes version_4(std::uint8_t kind, const Words& words) {
  Bytes out;
  ByteWriter w(out);
  w.u8(4);
  two_parameters().encode(w);
  encode(Goals{}, w);
  for (const std::uint8_t byte : {kind, std::uint8_t{0}, std::uint8_t{1}}) w.u8(byte);
  for (const auto* text : {&words.target, &words.pickle, &words.interpreter}) w.text(*text);
  write_words(w, words.command);
  w.f64(2.5);
  for (const auto* text : {"/a", "/w", "mark"}) w.text(text);
  w.u64(2);
  for (const auto* text : {"A", "1", "B", ""}) w.text(text);
  write_words(w, {"gcc/12"});
  w.u32(words.batch);
  w.u8(0);
  const bool is_command = kind == 3;
  w.u8(is_command ? 1 : 0);
  w.u8(is_command);
  w.u64(is_command);
  if (is_command) w.text("in"), w.text("{{x}}");
  w.u64(is_command);
  if (is_command) w.text("/a/b"), w.text("b"), w.u8(1);
  w.u64(is_command);
  if (is_command) w.text("e"), w.text("f"), w.u8(2), w.text("p"), w.u8(1);
  return out;
}

TEST(SetUpCodec, writes_the_bytes_of_version_4) {
  const std::string pickle("\1\0\377", 3), python = "/usr/bin/python3";
  const std::vector<Words> words{{},
                                 {"m:f", pickle, python, {}, 3},
                                 {"/l.so:f", {}, {}, {}},
                                 {{}, {}, {}, {"sh", "-c", "echo 1"}},
                                 {{}, pickle, python, {}}};
  const auto specs = one_of_each_kind();
  for (std::size_t kind = 0; kind < specs.size(); ++kind)
    EXPECT_EQ(encode({two_parameters(), specs[kind]}), version_4(static_cast<std::uint8_t>(kind), words[kind])) << kind;
}

TEST(SetUpCodec, refuses_bytes_that_end_early_go_on_or_say_nonsense) {
  const auto good = encode(sphere());
  for (std::size_t n = 0; n < good.size(); ++n) EXPECT_THROW(decode_set_up(BytesView(good).first(n)), Error) << n;
  auto longer = good;
  longer.push_back({});
  EXPECT_THROW(decode_set_up(longer), Error);
  auto newer = good;
  newer[0] = std::byte{9};
  EXPECT_THROW(decode_set_up(newer), Error);
}

TEST(Readable, keeps_characters_and_marks_everything_else) {
  const auto readable = [](std::string text) {
    make_readable(text);
    return text;
  };
  EXPECT_EQ(readable("χ² = 3\n\tü €\U0001d11e"), "χ² = 3\n\tü €\U0001d11e");
  EXPECT_EQ(readable("50%\r60%"), "50%\n60%");
  EXPECT_EQ(readable(std::string("a\0b\x1b[31m\x7f", 9)), "a?b?[31m?");
  EXPECT_EQ(readable("\x80x\xc3"), "?x?") << "a continuation alone, a beginning alone";
  EXPECT_EQ(readable("\xc0\xaf \xe0\x80\xaf"), "?? ???") << "longer than need be";
  EXPECT_EQ(readable("\xed\xa0\x80 \xf4\x90\x80\x80 \xff"), "??? ???? ?") << "no characters";
}

TEST(Worker, answers_a_set_up_and_an_evaluation_under_their_heads) {
  Worker worker;
  const auto& hello = worker.on(head_of(FrameKind::set_up), encode(sphere()));
  EXPECT_EQ(hello.head.kind, FrameKind::hello);
  EXPECT_EQ(text_of(hello.body), "");
  const auto& reply = worker.on(head_of(FrameKind::evaluate), encoded(some_candidate()));
  EXPECT_EQ(std::tie(reply.head.study, reply.head.evaluation, reply.head.epoch, reply.head.attempt),
            std::make_tuple(11U, 7U, 3U, 2U));
  EXPECT_EQ(reply.head.kind, FrameKind::result);
  ByteReader body(reply.body);
  EXPECT_EQ(body.u64(), hash_of(some_candidate()));
  Outcome outcome;
  decode(body.take(body.left()), outcome);
  EXPECT_EQ(outcome.value, 6.25);
}

/// Notes the outcomes that it is told.
class Attentive final : public Evaluator {
 public:
  explicit Attentive(std::vector<Status>& told) : told_(told) {}
  Outcome evaluate(const Candidate&, Attempt) override { return Outcome::of_value(1); }
  void judged(const Outcome& outcome) override { told_.push_back(outcome.status); }

 private:
  std::vector<Status>& told_;
};

TEST(Worker, tells_the_evaluator_how_the_goals_judge_the_outcome) {
  std::vector<Status> told;
  Worker worker([&](const culmen::SetUp&) { return std::make_unique<Attentive>(told); });
  auto set_up = sphere();
  for (const bool lacks_a_value : {false, true}) {
    if (lacks_a_value) set_up.goals.limits = {{"stress", -1, 1}};
    worker.on(head_of(FrameKind::set_up), encode(set_up));
    worker.on(head_of(FrameKind::evaluate), encoded(some_candidate()));
  }
  EXPECT_EQ(told, (std::vector{Status::ok, Status::wrong_shape}));
}

TEST(Worker, says_hello_with_the_reason_why_it_cannot) {
  Worker worker;
  auto wrong = sphere();
  wrong.evaluator.as<LibrarySpec>().target = "/no/lib.so:f";
  EXPECT_THAT(text_of(worker.on(head_of(FrameKind::set_up), encode(wrong)).body),
              HasSubstr("cannot load the library '/no/lib.so'"));
  EXPECT_THAT(text_of(worker.on(head_of(FrameKind::set_up), BytesView()).body), HasSubstr("ended early"));
  EXPECT_THROW(worker.on(head_of(FrameKind::evaluate), encoded(some_candidate())), Error);
}

TEST(Worker, refuses_damaged_frames) {
  Worker worker;
  worker.on(head_of(FrameKind::set_up), encode(sphere()));
  const auto good = encoded(some_candidate());
  for (std::size_t n = 0; n < good.size(); ++n)
    EXPECT_THROW(worker.on(head_of(FrameKind::evaluate), BytesView(good).first(n)), Error) << n;
  EXPECT_THROW(worker.on(head_of(FrameKind::evaluate), encoded({7, {1, 2, 3}})), Error) << "one value too many";
  EXPECT_THROW(worker.on(head_of(FrameKind::hello), good), Error);
  EXPECT_THROW(worker.on(head_of(static_cast<FrameKind>(99)), good), Error);
  EXPECT_EQ(worker.on(head_of(FrameKind::evaluate), good).head.kind, FrameKind::result) << "and goes on with good ones";
}

TEST(Worker, refuses_evaluations_when_it_was_interrupted_before_its_set_up) {
  Worker worker;
  worker.interrupt();
  const auto spec = python_spec("sphere");
  EXPECT_EQ(text_of(worker.on(head_of(FrameKind::set_up), encode({two_parameters(), spec})).body), "interrupted");
  EXPECT_TRUE(processes_of(spec.run_marker).empty());
}

/// A master in the same process: frames to hand out, replies taken in.
class Desk final : public Endpoint {
 public:
  void put(FrameKind kind, Bytes body) {
    const std::lock_guard lock(mutex_);
    waiting_.emplace_back(head_of(kind), std::move(body));
    changed_.notify_all();
  }
  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    changed_.notify_all();
  }
  std::size_t replies() const {
    const std::lock_guard lock(mutex_);
    return replies_;
  }
  bool receive(FrameHead& head, Bytes& body) override {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return closed_ || !waiting_.empty(); });
    if (closed_) return false;
    std::tie(head, body) = std::move(waiting_.front());
    waiting_.pop_front();
    return true;
  }
  bool try_receive(FrameHead& head, Bytes& body) override {
    {
      const std::lock_guard lock(mutex_);
      if (waiting_.empty()) return false;
    }
    return receive(head, body);
  }
  bool send(const FrameHead&, BytesView) override {
    const std::lock_guard lock(mutex_);
    ++replies_;
    return !closed_;
  }
  void wait_closed() override {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return closed_ || released_; });
  }
  void release() noexcept override {
    const std::lock_guard lock(mutex_);
    released_ = true;
    changed_.notify_all();
  }
  bool closed() const noexcept override {
    const std::lock_guard lock(mutex_);
    return closed_;
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::pair<FrameHead, Bytes>> waiting_;
  std::size_t replies_ = 0;
  bool closed_ = false;
  bool released_ = false;
};

TEST(Serve, answers_every_frame_and_leaves_when_the_master_closes) {
  Desk desk;
  Worker worker;
  auto served = std::async(std::launch::async, [&] { return serve(desk, worker); });
  desk.put(FrameKind::set_up, encode(sphere()));
  for (int i = 0; i < 100; ++i) desk.put(FrameKind::evaluate, encoded(some_candidate()));
  EXPECT_TRUE(holds_within(patience_s, [&] { return desk.replies() == 101; })) << desk.replies();
  desk.close();
  ASSERT_EQ(served.wait_for(std::chrono::duration<double>(patience_s)), std::future_status::ready);
  EXPECT_EQ(served.get(), "");
}

TEST(Serve, takes_what_is_there_up_to_a_batch) {
  Desk desk;
  Worker worker;
  auto spec = python_spec("batch_of_first");
  spec.as<PythonSpec>().batch = 8;
  auto served = std::async(std::launch::async, [&] { return serve(desk, worker); });
  desk.put(FrameKind::set_up, encode({two_parameters(), spec}));
  for (int i = 0; i < 100; ++i) desk.put(FrameKind::evaluate, encoded(some_candidate()));
  EXPECT_TRUE(holds_within(patience_s, [&] { return desk.replies() == 101; })) << desk.replies();
  desk.close();
  EXPECT_EQ(served.get(), "");
}

TEST(Worker, answers_a_batch_frame_by_frame_and_refuses_other_frames_in_it) {
  Worker worker;
  auto spec = python_spec("batch_that_raises_below_zero");
  spec.as<PythonSpec>().batch = 4;
  worker.on(head_of(FrameKind::set_up), encode({two_parameters(), spec}));
  std::vector<Worker::Frame> frames;
  for (const double x : {1.0, -1.0, 2.0})
    frames.push_back({head_of(FrameKind::evaluate), encoded({frames.size(), {x, 2}})});
  const auto replies = worker.on_batch(frames);
  ASSERT_EQ(replies.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    ByteReader body(replies[i].body);
    Candidate candidate;
    decode(frames[i].body, candidate);
    EXPECT_EQ(body.u64(), hash_of(candidate));
    Outcome outcome;
    decode(body.take(body.left()), outcome);
    EXPECT_EQ(outcome.ok(), i != 1) << outcome.message;
  }
  frames[1].head.kind = FrameKind::hello;
  EXPECT_THROW(worker.on_batch(frames), Error);
}

TEST(Serve, gives_up_an_evaluation_that_hangs_when_the_master_closes) {
  Desk desk;
  Worker worker;
  const auto spec = python_spec("hangs");
  auto served = std::async(std::launch::async, [&] { return serve(desk, worker); });
  desk.put(FrameKind::set_up, encode({two_parameters(), spec}));
  desk.put(FrameKind::evaluate, encoded(some_candidate()));
  ASSERT_TRUE(holds_within(patience_s, [&] { return desk.replies() == 1; }));
  desk.close();
  EXPECT_EQ(served.wait_for(std::chrono::duration<double>(patience_s)), std::future_status::ready);
  EXPECT_TRUE(processes_of(spec.run_marker).empty() ||
              holds_within(patience_s, [&] { return processes_of(spec.run_marker).empty(); }));
}

TEST(Serve, ends_with_a_sentence_at_a_damaged_frame) {
  Desk desk;
  Worker worker;
  desk.put(FrameKind::set_up, encode(sphere()));
  desk.put(FrameKind::evaluate, {});
  EXPECT_THAT(serve(desk, worker), HasSubstr("ended early"));
}

}  // namespace
}  // namespace culmen
