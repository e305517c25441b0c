// What `compare` prints of two runs.
#pragma once

#include <string>

#include "client/render/comparison.h"
#include "client/render/json.h"
#include "client/render/people.h"

namespace tinyprof::client {

std::string ComparisonText(const v1::Run& a, const v1::Run& b, const Comparison& comparison,
                           const Layout& layout);
Json ComparisonDocument(const v1::Run& a, const v1::Run& b, const Comparison& comparison);

}  // namespace tinyprof::client
