#include "daemon/store/store.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/unit/store/temporary_directory.h"

namespace tinyprof {
namespace {

v1::Roofline RooflineOf(double clock_hz) {
  v1::Roofline roofline;
  roofline.set_clock_hz(clock_hz);
  return roofline;
}

TEST(StoreTest, RooflinesAreFoundByFingerprint) {
  const TemporaryDirectory directory;
  const auto store = Store::Open(directory.File("store.db"));
  ASSERT_TRUE(store.has_value());
  RooflineStore& rooflines = (*store)->rooflines();
  EXPECT_FALSE(rooflines.Newest("a")->has_value());
  ASSERT_TRUE(rooflines.Put("a", RooflineOf(1)).has_value());
  ASSERT_TRUE(rooflines.Put("b", RooflineOf(2)).has_value());
  ASSERT_TRUE(rooflines.Put("a", RooflineOf(3)).has_value());
  EXPECT_EQ((*rooflines.Newest("a"))->clock_hz(), 3);
  EXPECT_EQ((*rooflines.Newest("b"))->clock_hz(), 2);
}

TEST(StoreTest, CounterReportsOutliveTheStoreAndKeepToTheirHost) {
  const TemporaryDirectory directory;
  const std::string path = directory.File("store.db");
  v1::CounterReport report;
  report.mutable_trust()->add_rows()->set_loop("scalar_add_float32");
  {
    const auto store = Store::Open(path);
    ASSERT_TRUE((*store)->counter_reports().Put("a", report).has_value());
  }
  const auto store = Store::Open(path);
  ASSERT_TRUE(store.has_value());
  EXPECT_FALSE((*store)->counter_reports().Newest("b")->has_value());
  const auto found = (*store)->counter_reports().Newest("a");
  ASSERT_TRUE(found->has_value());
  EXPECT_EQ((*found)->trust().rows(0).loop(), "scalar_add_float32");
}

TEST(StoreTest, RefusesSchemaOfALaterVersion) {
  const TemporaryDirectory directory;
  const std::string path = directory.File("store.db");
  ASSERT_TRUE(Store::Open(path).has_value());
  {
    auto database = Database::Open(path);
    ASSERT_TRUE(database.has_value());
    ASSERT_TRUE((*database)->Execute("PRAGMA user_version = 1000").has_value());
  }
  const auto store = Store::Open(path);
  ASSERT_FALSE(store.has_value());
  EXPECT_EQ(store.error().reason, "STORE_TOO_NEW");
  EXPECT_EQ(store.error().metadata.at("found"), "1000");
}

TEST(StoreTest, RefusesTablesWithoutASchemaNumber) {
  const TemporaryDirectory directory;
  const std::string path = directory.File("store.db");
  ASSERT_TRUE(Store::Open(path).has_value());
  ASSERT_TRUE((*Database::Open(path))->Execute("PRAGMA user_version = 0").has_value());
  const auto store = Store::Open(path);
  ASSERT_FALSE(store.has_value());
  EXPECT_EQ(store.error().reason, "STORE_CORRUPT");
  EXPECT_NE(store.error().message.find("no schema number"), std::string::npos)
      << store.error().message;
}

TEST(StoreTest, ASchemaNumberThatNoVersionWritesIsDamage) {
  const TemporaryDirectory directory;
  const std::string path = directory.File("store.db");
  ASSERT_TRUE(Store::Open(path).has_value());
  ASSERT_TRUE((*Database::Open(path))->Execute("PRAGMA user_version = -5").has_value());
  const auto store = Store::Open(path);
  ASSERT_FALSE(store.has_value());
  EXPECT_EQ(store.error().reason, "STORE_CORRUPT");
  EXPECT_NE(store.error().message.find("damaged"), std::string::npos) << store.error().message;
}

TEST(StoreTest, RefusesFileThatIsNoDatabase) {
  const TemporaryDirectory directory;
  const std::string path = directory.File("store.db");
  std::ofstream(path) << std::string(8192, 'x');
  const auto store = Store::Open(path);
  ASSERT_FALSE(store.has_value());
  EXPECT_EQ(store.error().reason, "STORE_CORRUPT");
  EXPECT_NE(store.error().message.find("/store.db"), std::string::npos) << store.error().message;
}

TEST(StoreTest, DamagedPagesAreAnErrorAndNoCrash) {
  const TemporaryDirectory directory;
  const std::string path = directory.File("store.db");
  {
    const auto store = Store::Open(path);
    ASSERT_TRUE(store.has_value());
    ASSERT_TRUE((*store)->rooflines().Put("a", RooflineOf(1)).has_value());
  }
  // The first page keeps its header, so the file still passes for a database.
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  const auto size = static_cast<std::streamoff>(std::filesystem::file_size(path));
  ASSERT_GT(size, 100);
  file.seekp(100);
  file << std::string(static_cast<size_t>(size - 100), '\xff');
  file.close();
  const auto store = Store::Open(path);
  ASSERT_FALSE(store.has_value());
  EXPECT_EQ(store.error().reason, "STORE_CORRUPT");
}

TEST(StoreTest, DamagedMessageIsAnError) {
  const TemporaryDirectory directory;
  const std::string path = directory.File("store.db");
  const auto store = Store::Open(path);
  ASSERT_TRUE(store.has_value());
  auto database = Database::Open(path);
  ASSERT_TRUE((*database)
                  ->Execute("INSERT INTO runs (id, state, create_time_ns, spec) "
                            "VALUES ('r1', 1, 0, x'ffffffff')")
                  .has_value());
  EXPECT_EQ((*store)->runs().Get("r1").error().reason, "STORE_CORRUPT");
}

TEST(StoreTest, UnreachablePathIsAnError) {
  const TemporaryDirectory directory;
  const auto store = Store::Open(directory.File("no/such/folder/store.db"));
  ASSERT_FALSE(store.has_value());
  EXPECT_EQ(store.error().reason, "STORE_UNAVAILABLE");
  EXPECT_NE(store.error().message.find(directory.File("no/such/folder/store.db")),
            std::string::npos)
      << store.error().message;
}

TEST(DatabaseTest, TransactionWithoutCommitLeavesNothing) {
  const TemporaryDirectory directory;
  const auto database = Database::Open(directory.File("test.db"));
  ASSERT_TRUE((*database)->Execute("CREATE TABLE t (x INTEGER)").has_value());
  {
    const auto transaction = Transaction::Begin(**database);
    ASSERT_TRUE(transaction.has_value());
    ASSERT_TRUE((*database)->Execute("INSERT INTO t VALUES (1)").has_value());
  }
  auto query = (*database)->Prepare("SELECT count(*) FROM t");
  ASSERT_TRUE(*query->Step());
  EXPECT_EQ(query->Int(0), 0);
}

TEST(DatabaseTest, BadSqlIsAnError) {
  const TemporaryDirectory directory;
  const auto database = Database::Open(directory.File("test.db"));
  EXPECT_FALSE((*database)->Prepare("SELECT").has_value());
  EXPECT_FALSE((*database)->Execute("nonsense").has_value());
  auto query = (*database)->Prepare("SELECT ?1");
  EXPECT_FALSE(query->BindInt(2, 1).Step().has_value()) << "there is no second parameter";
}

}  // namespace
}  // namespace tinyprof
