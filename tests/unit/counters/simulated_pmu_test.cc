#include "daemon/counters/simulated_pmu.h"

#include <gtest/gtest.h>

#include "daemon/counters/papi/papi_backend.h"

namespace tinyprof {
namespace {

// tests/pmu has the other half.
TEST(SimulatedPmu, NothingIsSimulatedWhereNoStandInIsLoaded) {
  EXPECT_FALSE(PmuIsSimulated());
  EXPECT_EQ(MakePapiBackend(1)->info().name, "papi");
}

}  // namespace
}  // namespace tinyprof
