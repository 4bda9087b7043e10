#include "culmen/study/run/status_page.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

namespace culmen {

std::string status_page(const std::string& study, const Progress& p, double now_s) {
  using nlohmann::json;
  const json none;
  const json page{
      {"name", study},
      {"state", to_string(p.phase)},
      {"limit", p.budget > 0 ? json(p.budget) : none},
      {"told", p.evaluations},
      {"best_value", std::isfinite(p.best_value) ? json(p.best_value) : none},
      {"workers", p.workers},
      {"busy", p.busy},
      {"failed", p.failed},
      {"retried", p.retried},
      {"lost", p.lost},
      {"refused", p.refused},
      {"last_refusal", p.refused > 0 ? json(p.last_refusal) : none},
      {"running", p.oldest_since_s < 0 ? none : json{{"evaluation", p.oldest}, {"age_s", now_s - p.oldest_since_s}}},
  };
  return page.dump(2, ' ', false, json::error_handler_t::replace);
}

}  // namespace culmen
