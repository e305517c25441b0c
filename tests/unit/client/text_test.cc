// Texts, numbers and tables for a terminal; CSV cells.
#include "client/render/text.h"

#include <gtest/gtest.h>

#include "client/render/csv.h"
#include "client/render/table.h"
#include "client/render/units.h"

namespace tinyprof::client {
namespace {

TEST(Printable, DisarmsWhatMovesTheCursor) {
  EXPECT_EQ(Printable("conv1"), "conv1");
  EXPECT_EQ(Printable("a\nb\tc\rd"), "a\\nb\\tc\\rd");
  EXPECT_EQ(Printable("\x1b[31mred"), "\\x1b[31mred");
  EXPECT_EQ(Printable(std::string_view("nul\0!", 5)), "nul\\x00!");
  EXPECT_EQ(Printable("\xc2\x9b"
                      "2J"),
            "\\x9b2J");
  EXPECT_EQ(Printable("\xe2\x80\xae"
                      "txt"),
            "\\u{202e}txt");
  EXPECT_EQ(Printable("größe 卷积"), "größe 卷积");
}

TEST(Printable, ReplacesWhatIsNoUtf8) {
  EXPECT_EQ(Printable("a\xff"
                      "b"),
            "a\xef\xbf\xbd"
            "b");
  EXPECT_EQ(Printable("\xc3"), "\xef\xbf\xbd");
  EXPECT_EQ(Printable("\xc0\xaf"), "\xef\xbf\xbd\xef\xbf\xbd");                  // overlong '/'
  EXPECT_EQ(Printable("\xed\xa0\x80"), "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");  // surrogate
}

TEST(DisplayWidth, CountsColumnsNotBytes) {
  EXPECT_EQ(DisplayWidth("µs"), 2);
  EXPECT_EQ(DisplayWidth("卷积"), 4);
  EXPECT_EQ(DisplayWidth("e\xcc\x81"), 1);
}

TEST(ShortenMiddle, KeepsBothEnds) {
  EXPECT_EQ(ShortenMiddle("layer1", 6), "layer1");
  EXPECT_EQ(ShortenMiddle("encoder.layer11.out", 9), "enco….out");
  EXPECT_LE(DisplayWidth(ShortenMiddle("卷积卷积卷积卷积", 6)), 6);
}

TEST(Units, ChooseOneScaleForAColumn) {
  const double times[] = {1'200'000, 35'000, 12};
  const Scale scale = TimeScale(times);
  EXPECT_EQ(scale.prefix, "ms");
  EXPECT_EQ(Format(1'200'000, scale), "1.20");
  EXPECT_EQ(Format(35'000, scale), "0.04");
  EXPECT_EQ(Format(12, scale), "<0.01");
  EXPECT_EQ(Format(0, scale), "0");
  const double counts[] = {0, 640, 24};
  EXPECT_EQ(Format(640, CountScale(counts)), "640");
}

TEST(Units, WriteSingleNumbers) {
  EXPECT_EQ(Grouped(11689512), "11,689,512");
  EXPECT_EQ(Grouped(-1234), "-1,234");
  EXPECT_EQ(Grouped(-123), "-123");
  EXPECT_EQ(Grouped(999), "999");
  EXPECT_EQ(Si(3.628e9, "FLOP"), "3.63 GFLOP");
  EXPECT_EQ(Bytes(1572864), "1.50 MiB");
  EXPECT_EQ(Bytes(512), "512 B");
  EXPECT_EQ(Time(1234), "1.23 µs");
  EXPECT_EQ(Percent(0.0183), "1.83 %");
  EXPECT_EQ(Si(0.003, ""), "<0.01 ");
  EXPECT_EQ(Si(0, ""), "0 ");
  EXPECT_EQ(Si(0.006, "FLOP"), "0.01 FLOP");
}

Table NamesTable() {
  Table table({{"#", Align::kRight},
               {"layer", Align::kLeft, 6},
               {"op", Align::kLeft, 0, 1},
               {"ns", Align::kRight}});
  table.AddRow({{"0"}, {"features.conv1"}, {"Conv"}, {"120"}});
  table.AddRow({{"10"}, {"fc"}, {"Gemm"}, {"7"}});
  return table;
}

TEST(Table, AlignsItsColumns) {
  EXPECT_EQ(NamesTable().Render(0, {}),
            " #  layer           op     ns\n"
            " 0  features.conv1  Conv  120\n"
            "10  fc              Gemm    7\n");
}

TEST(Table, ShortensNamesBeforeItDropsColumns) {
  EXPECT_EQ(NamesTable().Render(24, {}),
            " #  layer      op     ns\n"
            " 0  feat…onv1  Conv  120\n"
            "10  fc         Gemm    7\n");
  EXPECT_EQ(NamesTable().Render(16, {}),
            " #  layer     ns\n"
            " 0  fea…nv1  120\n"
            "10  fc         7\n");
}

TEST(PrintableLines, KeepsLineBreaksAndNothingElse) {
  EXPECT_EQ(PrintableLines("at 3:\n  ab\x1b[2J\n  ^"), "at 3:\n  ab\\x1b[2J\n  ^");
  EXPECT_EQ(PrintableLines(""), "");
}

TEST(Table, PutsColoursAroundCellsOnly) {
  Table table({{"a", Align::kLeft}, {"b", Align::kLeft}});
  table.AddRow({{"x", Tone::kBad}, {"evil\x1b[2J"}});
  EXPECT_EQ(table.Render(0, {false}), "a  b\nx  evil\\x1b[2J\n");
  EXPECT_EQ(table.Render(0, {true}),
            "\x1b[1ma\x1b[0m  \x1b[1mb          \x1b[0m\n\x1b[31mx\x1b[0m  evil\\x1b[2J\n");
}

TEST(CsvCell, QuotesAfterTheRfc) {
  EXPECT_EQ(CsvCell("conv1"), "conv1");
  EXPECT_EQ(CsvCell("a,b"), "\"a,b\"");
  EXPECT_EQ(CsvCell("say \"hi\""), "\"say \"\"hi\"\"\"");
  EXPECT_EQ(CsvCell("two\nlines"), "\"two\nlines\"");
  EXPECT_EQ(CsvCell("bad\xff"), "bad\xef\xbf\xbd");
  EXPECT_EQ(CsvCell(""), "");
}

}  // namespace
}  // namespace tinyprof::client
