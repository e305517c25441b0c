#include "client/render/table.h"

#include <algorithm>
#include <utility>

#include "kernels/base/check.h"

namespace tinyprof::client {
namespace {

constexpr int kGap = 2;
constexpr int kDropped = -1;

int TotalWidth(const std::vector<int>& widths) {
  int total = -kGap;
  for (const int width : widths) {
    if (width != kDropped) total += width + kGap;
  }
  return total;
}

// Takes `excess` columns from the widest columns that may be shortened.
void Shorten(const std::vector<Column>& columns, std::vector<int>& widths, int excess) {
  for (; excess > 0; --excess) {
    int* widest = nullptr;
    for (size_t i = 0; i < columns.size(); ++i) {
      const bool may = columns[i].min_columns > 0 && widths[i] > columns[i].min_columns;
      if (may && (widest == nullptr || widths[i] > *widest)) widest = &widths[i];
    }
    if (widest == nullptr) return;
    --*widest;
  }
}

// Leaves out the column that is first to go; false when none may.
bool DropOne(const std::vector<Column>& columns, std::vector<int>& widths) {
  size_t victim = columns.size();
  for (size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].drop_order == 0 || widths[i] == kDropped) continue;
    if (victim == columns.size() || columns[i].drop_order > columns[victim].drop_order) victim = i;
  }
  if (victim == columns.size()) return false;
  widths[victim] = kDropped;
  return true;
}

std::vector<int> Fit(const std::vector<Column>& columns, const std::vector<int>& natural,
                     int terminal_columns) {
  std::vector<int> kept = natural;
  while (true) {
    std::vector<int> widths = kept;
    Shorten(columns, widths, TotalWidth(widths) - terminal_columns);
    if (TotalWidth(widths) <= terminal_columns || !DropOne(columns, kept)) return widths;
  }
}

void TrimRight(std::string& line) { line.erase(line.find_last_not_of(' ') + 1); }

}  // namespace

Table::Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

void Table::AddRow(std::vector<Cell> row) {
  TINYPROF_CHECK(row.size() == columns_.size());
  for (Cell& cell : row) cell.text = Printable(cell.text);
  rows_.push_back(std::move(row));
}

std::vector<int> Table::NaturalWidths() const {
  std::vector<int> widths;
  for (size_t i = 0; i < columns_.size(); ++i) {
    int width = DisplayWidth(columns_[i].title);
    for (const auto& row : rows_) width = std::max(width, DisplayWidth(row[i].text));
    widths.push_back(width);
  }
  return widths;
}

std::string Table::Render(int terminal_columns, const Palette& palette) const {
  std::vector<int> widths = NaturalWidths();
  if (terminal_columns > 0) widths = Fit(columns_, widths, terminal_columns);
  std::string result;
  const auto add_line = [&](const auto& cell_at) {
    std::string line;
    for (size_t i = 0; i < columns_.size(); ++i) {
      if (widths[i] == kDropped) continue;
      if (!line.empty()) line += std::string(kGap, ' ');
      const Cell& cell = cell_at(i);
      line += palette.Paint(Pad(ShortenMiddle(cell.text, widths[i]), widths[i], columns_[i].align),
                            cell.tone);
    }
    TrimRight(line);
    result += line + '\n';
  };
  std::vector<Cell> titles;
  for (const Column& column : columns_) titles.push_back({column.title, Tone::kStrong});
  add_line([&](size_t i) -> const Cell& { return titles[i]; });
  for (const auto& row : rows_) add_line([&](size_t i) -> const Cell& { return row[i]; });
  return result;
}

std::string RenderPairs(const std::vector<std::pair<std::string, std::string>>& pairs,
                        const Palette& palette) {
  int width = 0;
  for (const auto& [label, value] : pairs) width = std::max(width, DisplayWidth(label));
  std::string result;
  for (const auto& [label, value] : pairs) {
    result +=
        palette.Paint(Pad(label, width, Align::kLeft), Tone::kFaint) + "  " + Printable(value);
    TrimRight(result);
    result += '\n';
  }
  return result;
}

}  // namespace tinyprof::client
