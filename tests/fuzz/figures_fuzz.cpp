// The output of commands: any text gives numbers or an Error, in every way of reading. Any text with placeholders is
// filled, or gives an InputError.
#include <string>

#include "culmen/base/error.hpp"
#include "culmen/worker/command/command_output.hpp"
#include "culmen/worker/command/placeholders.hpp"

namespace {

const culmen::FigureReader& reader(unsigned char which) {
  using culmen::Reading;
  static const culmen::FigureReader all[] = {
      culmen::FigureReader({"value", "", Reading::last_word, "", false}),
      culmen::FigureReader({"value", "f", Reading::json, "a.b.0", false}),
      culmen::FigureReader({"value", "f", Reading::json, "/a/b", false}),
      culmen::FigureReader({"value", "", Reading::json, "", false}),
      culmen::FigureReader({"value", "", Reading::regex, "E *= *(\\S+)|(x)", false}),
      culmen::FigureReader({"value", "", Reading::regex, "^.*?$", true}),
  };
  return all[which % std::size(all)];
}

template <class Action>
void attempt(Action&& action) {
  try {
    action();
  } catch (const culmen::Error&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string text(reinterpret_cast<const char*>(data + 1), size - 1);
  attempt([&] { reader(data[0]).one(text); });
  attempt([&] { reader(data[0]).all(text); });
  for (const auto kind : {culmen::ResultKind::value, culmen::ResultKind::residuals, culmen::ResultKind::figures})
    culmen::read_command_output(text, kind);
  attempt([&] {
    culmen::FigureReader({"value", "", culmen::Reading::regex, text.substr(0, 64), false}).one("a 1\nb");
  });
  static const culmen::Space space{culmen::real("x", 0, 1), culmen::integer("n:m", 0, 9)};
  for (const auto style : {culmen::PlaceholderStyle::words, culmen::PlaceholderStyle::file})
    attempt([&] { culmen::PlaceholderText(text, space, style).fill({0.5, 3}); });
  return 0;
}
