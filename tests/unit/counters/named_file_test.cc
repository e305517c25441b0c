// Variables of PAPI name files, and what they name may be anything.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "daemon/counters/diagnosis.h"
#include "daemon/counters/fact_files.h"
#include "machine_tree.h"

namespace tinyprof {
namespace {

using ::testing::HasSubstr;

TEST(ReadNamedFile, OnlyARegularFileIsOpened) {
  FileTree tree;
  tree.Write("text", "EVENT,X\n");
  const std::string fifo = tree.root() + "/fifo";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_EQ(ReadNamedFile(tree.root() + "/text").text, "EVENT,X\n");
  EXPECT_EQ(ReadNamedFile(tree.root() + "/text").kind, "");
  for (const auto& [path, kind] : {std::pair(fifo, "a FIFO"),
                                   {tree.root(), "a folder"},
                                   {"/dev/zero", "a device"},
                                   {tree.root() + "/none", ""}}) {
    EXPECT_FALSE(ReadNamedFile(path).text.has_value()) << path;
    EXPECT_EQ(ReadNamedFile(path).kind, kind) << path;
  }
}

TEST(ReadNamedFile, AnEndlessFileIsNotReadToItsEnd) {
  FileTree tree;
  tree.Write("huge", std::string(3 << 20, 'x'));
  EXPECT_EQ(ReadNamedFile(tree.root() + "/huge").text->size(), size_t{1} << 20);
}

TEST(Variables, AFifoIsNamedAndNotWaitedFor) {
  MachineTree tree;
  ASSERT_EQ(mkfifo((tree.root() + "/fifo").c_str(), 0600), 0);
  for (const char* name : {"PAPI_CSV_EVENT_FILE", "PAPI_USER_EVENTS_FILE"}) {
    tree.environment = {{name, "/fifo"}};
    const DiagnosticCheck check = Find(Diagnose(tree.Probe(0)), name);
    EXPECT_EQ(check.state, CheckState::kFail);
    EXPECT_EQ(check.found, std::string(name) + "=\"/fifo\", which is a FIFO and cannot be read");
    EXPECT_EQ(check.fix, std::string("unset ") + name);
  }
}

}  // namespace
}  // namespace tinyprof
