// A worker and whatever is sent to it as set-up or candidate: an Error or an answer, never more.
#include "culmen/base/error.hpp"
#include "culmen/worker/worker.hpp"

namespace {

std::unique_ptr<culmen::Evaluator> constant(const culmen::SetUp&) {
  return culmen::make_function_evaluator([](const std::vector<double>&) { return culmen::Outcome::of_value(1); });
}

void feed(culmen::Worker& worker, culmen::FrameKind kind, culmen::BytesView body) {
  culmen::FrameHead head;
  head.kind = kind;
  try {
    worker.on(head, body);
  } catch (const culmen::Error&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const culmen::BytesView in(reinterpret_cast<const std::byte*>(data), size);
  culmen::Worker worker(constant);
  feed(worker, culmen::FrameKind::set_up, in);
  feed(worker, culmen::FrameKind::set_up, culmen::encode(culmen::SetUp{culmen::Space{culmen::real("x", 0, 1)}, {}}));
  feed(worker, culmen::FrameKind::evaluate, in);
  return 0;
}
