#include "culmen/transport/network/web_pages.hpp"

#include <algorithm>
#include <cctype>

#include "culmen/transport/network/secret.hpp"

namespace culmen {
namespace {
constexpr char text[] = "text/plain; charset=utf-8";
constexpr std::string_view bearer = "bearer ";

/// RFC 7235, 2.1: the scheme is written in any case.
bool has_token(std::string_view authorization) {
  return authorization.size() >= bearer.size() &&
         std::equal(bearer.begin(), bearer.end(), authorization.begin(),
                    [](char a, char b) { return a == std::tolower(static_cast<unsigned char>(b)); });
}
}  // namespace

WebPages::Answer WebPages::answer(std::string_view method, std::string_view target,
                                  std::string_view authorization) const {
  if (target != "/healthz" && target != "/status")
    return {404, text, "There is no such page. This is a run of culmen: it has /healthz and /status.\n"};
  if (method != "GET") return {405, text, "Pages can only be read: use GET.\n"};
  if (target == "/healthz") return {200, text, "ok\n"};
  if (!token_.empty() && !has_token(authorization))
    return {401, text, "/status needs the token of the run: send the header 'Authorization: Bearer TOKEN'.\n"};
  if (!token_.empty() && !same_secret(authorization.substr(bearer.size()), token_))
    return {403, text, "The token is not that of this run.\n"};
  return {200, "application/json", status_() + "\n"};
}

}  // namespace culmen
