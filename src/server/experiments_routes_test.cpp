// The laboratory over sockets: results as data, and studies that are trained while one listens.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/temporary_folder.h"
#include "server/experiments_routes.h"
#include "server/http_client.h"

namespace limpid {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;

class ExperimentsRoutes : public testing::Test {
 protected:
  void SetUp() override {
    server_ = std::make_unique<Server>(ServerOptions{.port = 0});
    add_experiments_routes(*server_, std::filesystem::path(LIMPID_SOURCE_DIR) / "tests/experiments", Size::tiny);
    server_->start();
    server_->set_ready();
  }
  void TearDown() override { server_->stop(1s); }

  HttpAnswer post(const std::string& path, const json& body) const {
    return ask(server_->port(), "POST", path, body.dump(), "Content-Type: application/json\r\n", 300);
  }
  // The events of a stream that have this name.
  std::vector<json> events(const std::string& path, const json& body, const std::string& name) const {
    const HttpAnswer answer = post(path, body);
    EXPECT_EQ(answer.status, 200) << answer.body;
    std::vector<json> found;
    const std::string head = "event: " + name + "\ndata: ";
    for (size_t at = answer.body.find(head); at != std::string::npos; at = answer.body.find(head, at + 1)) {
      const size_t begin = at + head.size();
      found.push_back(json::parse(answer.body.substr(begin, answer.body.find('\n', begin) - begin)));
    }
    return found;
  }

  std::unique_ptr<Server> server_;
};

TEST_F(ExperimentsRoutes, ListsVerdictsInBothLanguages) {
  const json english = json::parse(ask(server_->port(), "GET", "/experiments").body);
  ASSERT_EQ(english["experiments"].size(), 17);
  EXPECT_FALSE(english["experiments"][2]["verdict"].is_null());
  const json korean = json::parse(ask(server_->port(), "GET", "/experiments?language=ko").body);
  EXPECT_NE(korean["experiments"][2]["title"], english["experiments"][2]["title"]);
  EXPECT_EQ(ask(server_->port(), "GET", "/experiments?language=xx").status, 400);
  // Recorded results have no units, and say all the same why parts failed, what was planted and how to repeat it.
  const json tables = json::parse(ask(server_->port(), "GET", "/experiments/tables").body);
  EXPECT_TRUE(tables["figures"].empty());
  EXPECT_EQ(tables["commands"][0], "limpid experiment tables --seeds 3");
  EXPECT_EQ(tables["planted"]["mark"], "✓");
  size_t reasons = 0;
  for (const json& part : tables["parts"]) {
    EXPECT_EQ(part["reason"].is_null(), part["mark"] == "✓") << part;
    reasons += part["reason"].is_string() && part["reason"].get<std::string>().size() > 20;
  }
  EXPECT_GE(reasons, 1);
  EXPECT_EQ(ask(server_->port(), "GET", "/experiments/nothing").status, 404);
}

TEST_F(ExperimentsRoutes, InductionHeadsFormPointByPoint) {
  const json body = {{"layers", 2}, {"heads", 2}, {"steps", 4}};
  const std::vector<json> points = events("/experiments/induction/train", body, "point");
  ASSERT_EQ(points.size(), 5);  // before the first step and after each
  EXPECT_EQ(points[4]["step"], 4);
  EXPECT_EQ(points[4]["scores"].size(), 4);
  const std::vector<json> again = events("/experiments/induction/train", body, "result");
  ASSERT_EQ(again.size(), 1);
  EXPECT_EQ(again[0]["points"], json(points));
  EXPECT_EQ(events("/experiments/induction/train", {{"heads", 5}}, "error").size(), 1);
}

TEST_F(ExperimentsRoutes, AFactIsLocatedSilencedAndRewritten) {
  const json world = json::parse(ask(server_->port(), "GET", "/experiments/facts/world").body);
  ASSERT_GT(world["facts"].size(), 1000);
  const json& fact = world["facts"][3];
  const std::string relation = fact["relation"], to = world["objects"][relation][0];
  const json body = {{"fact", fact["prompt"]}, {"to", to}};
  const std::vector<json> results = events("/experiments/facts/study", body, "result");
  ASSERT_EQ(results.size(), 1) << post("/experiments/facts/study", body).body;
  const json& study = results[0];
  EXPECT_EQ(study["fact"]["relation"], relation);
  EXPECT_EQ(study["edit"]["after"], to);
  EXPECT_FALSE(study["ablation"]["neurons"].empty());
  for (const auto& [tap, layers] : study["fact"]["restored"].items()) {
    EXPECT_EQ(layers.size(), 2) << tap;
    EXPECT_EQ(layers[0].size(), study["fact"]["tokens"].size()) << tap;
  }
  const std::vector<json> errors = events("/experiments/facts/study", {{"fact", "Nobody plays"}}, "error");
  ASSERT_EQ(errors.size(), 1);
  EXPECT_NE(errors[0].dump().find("Nobody plays"), std::string::npos);
}

TEST_F(ExperimentsRoutes, FeaturesAreTrainedAndShown) {
  const std::vector<json> results =
      events("/experiments/features/train", {{"steps", 5}, {"k", 2}, {"expansion", 2}, {"count", 3}}, "result");
  ASSERT_EQ(results.size(), 1);
  const json& result = results[0];
  EXPECT_EQ(result["features"], 2 * result["dimensions"].get<int>());
  EXPECT_LE(result["active"], 2);
  ASSERT_EQ(result["boards"].size(), 3);
  EXPECT_EQ(result["boards"][0]["promoted"].size(), 5);
  EXPECT_FALSE(result["boards"][2]["texts"].empty());
}

}  // namespace
}  // namespace limpid
