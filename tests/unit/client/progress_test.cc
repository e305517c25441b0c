// Progress lines against hand-written text.
#include "client/render/progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "client/render/people.h"
#include "tests/unit/client/fixture.h"

namespace tinyprof::client {
namespace {

using testing::HasSubstr;

v1::Run Timing(int passes, double reached) {
  v1::Run run = RunInState(v1::RUN_STATE_RUNNING);
  run.mutable_progress()->set_phase("timing");
  run.mutable_progress()->set_done(passes);
  run.mutable_progress()->set_precision_reached(reached);
  return run;
}

TEST(Progress, SaysWhereTheRunIs) {
  v1::Run queued = RunInState(v1::RUN_STATE_QUEUED);
  queued.set_queue_position(1);
  EXPECT_EQ(ProgressText(queued), "queued: it is next");
  queued.set_waits_for("run r-0 (resnet18)");
  EXPECT_EQ(ProgressText(queued), "queued: behind run r-0 (resnet18), which is being measured");
  queued.set_queue_position(2);
  EXPECT_THAT(ProgressText(queued), testing::EndsWith(", and 1 job that waits before it"));
  queued.set_queue_position(3);
  EXPECT_THAT(ProgressText(queued), testing::EndsWith(", and 2 jobs that wait before it"));
  EXPECT_THAT(RunStateText(queued, {}), HasSubstr("behind run r-0 (resnet18), which"));
  EXPECT_EQ(ProgressText(Timing(120, 0.5)), "timing: 120 passes, ±2.0 % of ±1.0 % wanted");
  EXPECT_EQ(ProgressText(Timing(1, 0)), "timing: 1 pass");
  v1::Run roofline = RunInState(v1::RUN_STATE_RUNNING);
  roofline.mutable_progress()->set_phase("roofline");
  EXPECT_EQ(ProgressText(roofline),
            "measuring the roofline (once for this machine and its measurement CPUs)");
}

TEST(Progress, RewritesItsLineOnATerminalOnly) {
  std::ostringstream terminal;
  std::ostringstream pipe;
  std::ostringstream quiet;
  {
    ProgressPrinter on_terminal(terminal, true, 80, false);
    ProgressPrinter on_pipe(pipe, false, 0, false);
    ProgressPrinter silent(quiet, true, 80, true);
    for (ProgressPrinter* printer : {&on_terminal, &on_pipe, &silent}) {
      printer->Show(Timing(10, 0));
      printer->Show(Timing(20, 0));
    }
  }
  EXPECT_EQ(terminal.str(), "\r\x1b[Ktiming: 10 passes\r\x1b[Ktiming: 20 passes\r\x1b[K");
  EXPECT_EQ(pipe.str(), "timing\n");
  EXPECT_EQ(quiet.str(), "");
}

}  // namespace
}  // namespace tinyprof::client
