// A table for people: aligned columns that fit a terminal.
#pragma once

#include <string>
#include <vector>

#include "client/render/text.h"

namespace tinyprof::client {

struct Column {
  std::string title;
  Align align = Align::kLeft;
  // Narrowest it may be shortened to, in its middle; 0: never shortened.
  int min_columns = 0;
  // When names are as short as they may be and the table is still too wide, columns are left out,
  // highest first; 0: never left out.
  int drop_order = 0;
};

struct Cell {
  std::string text;
  Tone tone = Tone::kPlain;
};

class Table {
 public:
  explicit Table(std::vector<Column> columns);

  // `row` has one cell a column. Texts are made printable.
  void AddRow(std::vector<Cell> row);

  // Lines of at most `terminal_columns` where that can be had; 0 means no limit.
  std::string Render(int terminal_columns, const Palette& palette) const;

 private:
  std::vector<int> NaturalWidths() const;

  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
};

// Lines of "label  value", values aligned.
std::string RenderPairs(const std::vector<std::pair<std::string, std::string>>& pairs,
                        const Palette& palette);

}  // namespace tinyprof::client
