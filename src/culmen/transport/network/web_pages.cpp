#include "culmen/transport/network/web_pages.hpp"

#include "culmen/transport/network/secret.hpp"

namespace culmen {
namespace {
constexpr char text[] = "text/plain; charset=utf-8";
constexpr std::string_view bearer = "Bearer ";
}  // namespace

WebPages::Answer WebPages::answer(std::string_view method, std::string_view target,
                                  std::string_view authorization) const {
  if (target != "/healthz" && target != "/status")
    return {404, text, "There is no such page. This is a run of culmen: it has /healthz and /status.\n"};
  if (method != "GET") return {405, text, "Pages can only be read: use GET.\n"};
  if (target == "/healthz") return {200, text, "ok\n"};
  if (!token_.empty() && !authorization.starts_with(bearer))
    return {401, text, "/status needs the token of the run: send the header 'Authorization: Bearer TOKEN'.\n"};
  if (!token_.empty() && !same_secret(authorization.substr(bearer.size()), token_))
    return {403, text, "The token is not that of this run.\n"};
  return {200, "application/json", status_() + "\n"};
}

}  // namespace culmen
