// Which formula counts each metric, and how far it is trusted: the part of a plan that holds for as
// long as the machine stays the same.
#pragma once

#include <optional>
#include <string_view>

#include "daemon/counters/counter_plan.h"

namespace tinyprof {

// Every metric takes the first of its formulas that counts known work as it should, or where none
// does, the first that counts it at all. One that none counts is absent for the most helpful reason
// of its formulas, the first of equals. The backend must be usable. A plan without groups.
CounterPlan ChooseByCalibration(CounterBackend& backend, const KnownWork& work,
                                const CalibrationOptions& options);

// The choices and the trust table of `known`, whose formulas are looked up in the catalogue.
// Nothing unless both it and the backend are usable, name the same backend and PMU, and `known` has
// every metric, either with a formula of the catalogue or with a reason. A plan without groups.
std::optional<CounterPlan> ChooseAsKnown(const BackendInfo& backend, const CounterReport& known);

// Of two reasons ("CODE: sentence", not empty) for the same absence, the one that helps a person
// more: what can be mended comes before what was found out by counting, that before an event that
// the CPU has not, and that before a name that a library does not know. The first of equals.
const std::string& MoreHelpful(const std::string& first, const std::string& second);

}  // namespace tinyprof
