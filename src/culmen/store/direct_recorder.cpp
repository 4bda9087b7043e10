#include <utility>

#include "culmen/base/error.hpp"
#include "culmen/store/writer.hpp"

namespace culmen {

struct DirectRecorder::Impl {
  explicit Impl(Journal opened) : journal(std::move(opened)) {}

  template <class Record>
  std::uint64_t push(const Record& record) {
    ++pushed;
    if (!failure.empty()) return pushed;
    try {
      journal.append(record);
      journal.commit();
      durable = pushed;
    } catch (const Error& error) {
      failure = error.what();
    }
    return pushed;
  }

  Journal journal;
  std::uint64_t pushed = 0, durable = 0;
  std::string failure;
};

DirectRecorder::DirectRecorder(Journal journal) : impl_(std::make_unique<Impl>(std::move(journal))) {}
DirectRecorder::~DirectRecorder() = default;

std::uint64_t DirectRecorder::push(CallRecord call) { return impl_->push(call); }
std::uint64_t DirectRecorder::push(OutcomeRecord outcome) { return impl_->push(outcome); }
std::uint64_t DirectRecorder::durable() const { return impl_->durable; }
std::string DirectRecorder::error() const { return impl_->failure; }

void DirectRecorder::close() {
  if (!impl_->failure.empty()) throw StoreError(impl_->failure);
  impl_->journal.close();
}

}  // namespace culmen
