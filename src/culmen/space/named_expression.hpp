// A user's expression with its name.
#pragma once
#include <string>

#include "culmen/base/bytes.hpp"

namespace culmen {

struct NamedExpression {
  std::string name, expression;
  bool operator==(const NamedExpression&) const = default;
};

/// Layout: text name, text expression.
void encode(const NamedExpression& named, ByteWriter& out);
NamedExpression decode_named_expression(ByteReader& in);

}  // namespace culmen
