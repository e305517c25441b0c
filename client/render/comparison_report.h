// What `compare` prints of two sides, each of a run or several.
#pragma once

#include <span>
#include <string>

#include "client/render/comparison.h"
#include "client/render/json.h"
#include "client/render/people.h"

namespace tinyprof::client {

std::string ComparisonText(std::span<const v1::Run> a, std::span<const v1::Run> b,
                           const Comparison& comparison, const Layout& layout);
Json ComparisonDocument(std::span<const v1::Run> a, std::span<const v1::Run> b,
                        const Comparison& comparison);

}  // namespace tinyprof::client
