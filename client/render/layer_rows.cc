#include "client/render/layer_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "kernels/base/words.h"

namespace tinyprof::client {

std::vector<size_t> RowOrder(size_t count, int top, const std::function<double(size_t)>& weight) {
  std::vector<size_t> order(count);
  std::iota(order.begin(), order.end(), size_t{0});
  if (top <= 0 || static_cast<size_t>(top) >= count) return order;
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return weight(a) > weight(b); });
  order.resize(static_cast<size_t>(top));
  return order;
}

std::string HiddenRowsLine(size_t all, size_t shown) {
  if (shown == all) return "";
  return fmt::format("{} of {} shown; leave out --top for all\n", shown, Counted(all, "layer"));
}

bool HasIntOps(const v1::ModelAnalysis& analysis) { return analysis.totals().int_op_count() > 0; }

CountScales ScalesOf(const v1::ModelAnalysis& analysis,
                     const std::vector<const v1::LayerAnalysis*>& layers) {
  std::vector<double> parameters;
  std::vector<double> macs;
  std::vector<double> flops;
  std::vector<double> bytes;
  std::vector<double> int_ops;
  for (const v1::LayerAnalysis* layer : layers) {
    parameters.push_back(static_cast<double>(layer->parameter_count()));
    if (!layer->has_cost()) continue;
    macs.push_back(static_cast<double>(layer->cost().mac_count()));
    flops.push_back(static_cast<double>(layer->cost().flop_count()));
    bytes.push_back(static_cast<double>(layer->cost().compulsory_bytes()));
    int_ops.push_back(static_cast<double>(layer->cost().int_op_count()));
  }
  if (layers.empty()) flops.push_back(static_cast<double>(analysis.totals().flop_count()));
  return {CountScale(parameters), CountScale(macs), CountScale(flops), CountScale(bytes),
          CountScale(int_ops)};
}

}  // namespace tinyprof::client
