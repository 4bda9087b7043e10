// The rows of calls and outcomes: how they are selected and read.
#pragma once
#include "culmen/store/records.hpp"
#include "culmen/store/sqlite.hpp"

namespace culmen {

/// Rows for call_of() and outcome_of(). `which`: the rest of the statement, such as "WHERE …".
Statement select_calls(Database& database, const char* which);
Statement select_outcomes(Database& database, const char* which);

/// Throws Error if a row's columns of status and value differ from the outcome that its data contain.
void expect_agreement(const Outcome& outcome, std::int64_t status, double value);

/// Both throw Error if the row is damaged.
CallRecord call_of(const Statement::Rows& row);
OutcomeRecord outcome_of(const Statement::Rows& row);

}  // namespace culmen
