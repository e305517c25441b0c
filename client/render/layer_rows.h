// What the tables of layers share: which rows, in which units.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "client/render/units.h"
#include "tinyprof/v1/model.pb.h"

namespace tinyprof::client {

// Positions of the rows to show: all in order, or the `top` of greatest weight, greatest first.
std::vector<size_t> RowOrder(size_t count, int top, const std::function<double(size_t)>& weight);

// "10 of 62 layers shown; ..." or nothing when all are.
std::string HiddenRowsLine(size_t all, size_t shown);

struct CountScales {
  Scale parameters;
  Scale macs;
  Scale flops;
  Scale bytes;
  Scale int_ops;  // meant for a column of its own, which a model without any has not
};

// Whether the model multiplies integers; these operations are no FLOPs.
bool HasIntOps(const v1::ModelAnalysis& analysis);

// The units in which the layers read best.
CountScales ScalesOf(const v1::ModelAnalysis& analysis,
                     const std::vector<const v1::LayerAnalysis*>& layers);

}  // namespace tinyprof::client
