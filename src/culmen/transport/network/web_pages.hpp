// Answers of a master that listens for WebSockets, to browsers and scripts.
#pragma once
#include <functional>
#include <string>
#include <string_view>

namespace culmen {

class WebPages {
 public:
  struct Answer {
    unsigned code;     ///< of HTTP
    std::string type;  ///< of the body: its media type
    std::string body;
  };
  /// `status`: the state of the study as JSON; called on any thread.
  WebPages(std::string token, std::function<std::string()> status)
      : token_(std::move(token)), status_(std::move(status)) {}
  /// /healthz is open to everybody and says only "ok". /status needs the token, if there is one:
  /// `Authorization: Bearer TOKEN`. Everything else is refused with a sentence.
  Answer answer(std::string_view method, std::string_view target, std::string_view authorization) const;

 private:
  std::string token_;
  std::function<std::string()> status_;
};

}  // namespace culmen
