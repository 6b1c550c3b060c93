// Superposition: more features than dimensions, in the toy model and in the feed-forward network of a trained one.

#include <fmt/format.h>

#include "experiments/english_text.h"
#include "experiments/list.h"
#include "experiments/result.h"
#include "experiments/untrained.h"
#include "inspect/sae_training.h"
#include "inspect/superposition_picture.h"

namespace limpid {
namespace {

constexpr int64_t kFeatures = 5, kDimensions = 2;  // of the polygons
constexpr double kSparsest = 0.05;
constexpr const char* kTap = "blocks.1.ffn_out";

Json model_json(const SuperpositionModel& model) {
  double zero = 0;  // loss of answering nothing, to compare with
  Json json = {{"density", model.density},
               {"loss", model.loss},
               {"represented", represented_features(model).size()},
               {"dimensions_per_feature", dimensions_per_feature(model)},
               {"weight", model.weight},
               {"bias", model.bias}};
  for (int64_t i = 0; i < model.features; ++i) zero += std::pow(0.9, static_cast<double>(i)) * model.density / 3;
  json["loss_of_zero"] = zero;
  if (model.dimensions != 2) return json;
  json["shape"] = superposition_shape(model);
  json["angles"] = neighbour_angles(model);
  return json;
}

// As many dimensions as make a plane, five features, the sparser the more of them find a place.
Json polygons(const Lab& lab) {
  SuperpositionOptions options{.features = kFeatures, .dimensions = kDimensions};
  for (double density : log_densities(lab.pick(8, 5, 3), kSparsest))
    options.densities.push_back(lab.contrary() ? 1 : density);
  options.steps = lab.pick(5000, 3000, 3000);
  options.starts = 4;
  options.seed = lab.seed();
  Json models = Json::array();
  for (const SuperpositionModel& model : train_superposition(options)) models.push_back(model_json(model));
  return {{"models", models}};
}

Json many(Lab& lab) {
  SuperpositionOptions options{.features = 80, .dimensions = 20};
  options.importance = 1;
  options.steps = lab.pick(2000, 600, 100);
  options.batch = 512;
  options.seed = lab.seed();
  Json models = Json::array();
  const std::vector<double> densities = log_densities(lab.pick(7, 4, 2), 0.02);
  for (size_t i = 0; i < densities.size(); ++i) {
    lab.progress(static_cast<double>(i) / static_cast<double>(densities.size()), "many features");
    options.densities = {lab.contrary() ? 1 : densities[i]};
    Json json = model_json(train_superposition(options).at(0));
    json.erase("weight");
    json.erase("bias");
    models.push_back(json);
  }
  return {{"models", models}};
}

Json autoencoder(Lab& lab, bool trained) {
  lab.part(0, 0.5);
  Session session = open_session(train_english(lab).folder);
  if (!trained) {
    Session other;
    other.loaded.model = UntrainedModel(session.config(), lab.seed()).model;
    other.loaded.tokenizers = session.loaded.tokenizers;
    session = std::move(other);
  }
  lab.part(0.5, 1);
  const CorpusOptions corpus{.files = {(lab.corpus(english_corpus(english_text(lab))) / "train.txt").string()}};
  const ActivationBufferOptions vectors{.tap = kTap, .rows = 20000, .seed = lab.seed()};
  ActivationBuffer buffer(session, corpus, vectors);
  const SaeConfig config{
      .kind = SaeKind::topk, .inputs = buffer.width(), .features = 8 * buffer.width(), .k = 4, .tap = kTap};
  LoadedSae sae = make_sae(config);
  const int64_t steps = lab.pick(1500, 400, 50);
  train_sae(
      sae, {.steps = steps, .batch = 512, .seed = lab.seed()}, [&](Matrix rows) { buffer.draw(rows); },
      [&](const SaeStep& step) {
        if (step.step % 20 == 0)
          lab.progress(static_cast<double>(step.step) / static_cast<double>(steps), "sparse autoencoder");
        return true;
      });
  const SaeScore score = score_sae(session, *sae.sae, corpus, vectors, lab.pick(20000, 8000, 1000));
  const double firing = static_cast<double>(config.features) * (1 - score.dead_share);
  return {{"dimensions", config.inputs},
          {"features", config.features},
          {"firing", firing},
          {"per_dimension", firing / static_cast<double>(config.inputs)},
          {"active", score.active},
          {"explained", score.explained_variance},
          {"loss_recovered", score.loss > 0 ? score.loss_recovered() : 0}};
}

std::vector<std::string> units(const Lab& lab) {
  if (lab.size() == Size::tiny) return {"polygons"};
  return {"polygons", "many", "trained network", "random network"};
}

Json measure(Lab& lab, const std::string& unit) {
  if (unit == "polygons") return polygons(lab);
  if (unit == "many") return many(lab);
  return autoencoder(lab, unit == "trained network");
}

Json numbers(const Json& units) {
  const Json& models = units.at("polygons").at("models");
  const Json &dense = models.front(), &sparse = models.back();
  double off = 0;
  for (double angle : sparse.at("angles")) off = std::max(off, std::abs(angle - 360.0 / kFeatures));
  Json numbers = {{"per_dimension", sparse.at("represented").get<double>() / kDimensions},
                  {"dense", dense.at("represented").get<double>() / kDimensions},
                  {"pentagon", off},
                  {"learned", sparse.at("loss").get<double>() / sparse.at("loss_of_zero").get<double>()}};
  if (!units.contains("many")) return numbers;
  const Json& many_models = units.at("many").at("models");
  const Json &trained = units.at("trained network"), &random = units.at("random network");
  numbers["many"] = many_models.back().at("dimensions_per_feature");
  numbers["network"] = trained.at("per_dimension");
  numbers["beside_random"] = trained.at("per_dimension").get<double>() / random.at("per_dimension").get<double>();
  numbers["explained"] = trained.at("explained");
  numbers["beyond_random"] = trained.at("explained").get<double>() - random.at("explained").get<double>();
  return numbers;
}

std::vector<SuperpositionModel> models_of(const Json& list) {
  std::vector<SuperpositionModel> models;
  for (const Json& json : list)
    models.push_back({.density = json.at("density"),
                      .features = kFeatures,
                      .dimensions = kDimensions,
                      .weight = json.at("weight").get<std::vector<real>>(),
                      .bias = json.at("bias").get<std::vector<real>>(),
                      .loss = json.at("loss")});
  return models;
}

std::vector<Figure> figures(const Json& result, Language language) {
  const auto word = [&](const char* english, const char* korean) { return Words{english, korean}.in(language); };
  const Json& first = result.at("seeds").at(0).at("units");
  std::vector<Figure> all = {
      {.svg = geometry_svg(models_of(first.at("polygons").at("models"))),
       .caption = word("Directions of five features in a plane, from dense (left) to sparse, first seed.",
                       "평면에 놓인 다섯 특징의 방향: 조밀한 경우(왼쪽)부터 희소한 경우까지, 첫 시드.")}};
  if (!first.contains("many")) return all;
  Chart chart{
      .title = word("Dimensions per feature, 80 features in 20 dimensions", "특징당 차원 수 (특징 80개, 20차원)"),
      .x_name = word("share of samples in which a feature is present", "특징이 나타나는 표본의 비율"),
      .y_name = "m / |W|²",
      .log_x = true};
  ChartSeries series{.name = word("first seed", "첫 시드")};
  for (const Json& model : first.at("many").at("models"))
    series.points.push_back({model.at("density"), model.at("dimensions_per_feature")});
  chart.series = {series};
  all.push_back({.chart = chart});
  return all;
}

std::vector<Table> tables(const Json& result, Language language) {
  const auto word = [&](const char* english, const char* korean) { return Words{english, korean}.in(language); };
  Table toy{.caption = word("Five features in two dimensions, first seed", "2차원의 다섯 특징, 첫 시드"),
            .columns = {word("present in", "나타나는 비율"), word("represented", "표현된 특징"), word("shape", "모양"),
                        word("loss", "손실")},
            .rows = {}};
  for (const Json& model : result.at("seeds").at(0).at("units").at("polygons").at("models"))
    toy.rows.push_back({fmt::format("{:.0f} %", 100 * model.at("density").get<double>()),
                        fmt::format("{}", model.at("represented").get<int64_t>()), model.at("shape").get<std::string>(),
                        fmt::format("{:.4f}", model.at("loss").get<double>())});
  if (!result.at("seeds").at(0).at("units").contains("many")) return {toy};
  Table network{
      .caption = word("Sparse autoencoder (4 features at a time) on the second network's output, mean over the seeds",
                      "두 번째 신경망 출력에 대한 희소 오토인코더(한 번에 특징 4개), 시드 평균"),
      .columns = {"", word("dimensions", "차원"), word("features that fire", "활성화되는 특징"),
                  word("per dimension", "차원당"), word("explained variance", "설명된 분산")},
      .rows = {}};
  for (const bool trained : {true, false}) {
    const std::string unit = trained ? "trained network" : "random network";
    network.rows.push_back({trained ? word("trained", "학습됨") : word("random weights", "무작위 가중치"),
                            fmt::format("{:.0f}", mean_of(result, unit, "/dimensions")),
                            fmt::format("{:.0f}", mean_of(result, unit, "/firing")),
                            fmt::format("{:.2f}", mean_of(result, unit, "/per_dimension")),
                            fmt::format("{:.1f} %", 100 * mean_of(result, unit, "/explained"))});
  }
  return {toy, network};
}

}  // namespace

Experiment superposition_experiment() {
  return {
      .number = 16,
      .name = "superposition",
      .title = {"Superposition", "중첩"},
      .claim = {"A space of few dimensions can carry many more features than it has dimensions, if they are sparse.",
                "차원이 적은 공간도 특징이 희소하면 차원보다 훨씬 많은 특징을 담을 수 있습니다."},
      .origin =
          {"Lecture \"How might LLMs store facts\" (3Blue1Brown), after \"Toy Models of Superposition\" (Elhage et "
           "al. 2022)",
           "강의 \"How might LLMs store facts\" (3Blue1Brown), \"Toy Models of Superposition\" (Elhage 외 2022)"},
      .method =
          {"The toy model of Elhage et al. presses five features into two dimensions and reads them back through a "
           "ReLU; it is trained at several densities, from features always present to features present in 5 % of the "
           "samples. A feature counts as represented if its direction is longer than a half. The same is done with 80 "
           "features in 20 dimensions. A sparse autoencoder, with four features at a time of eight per dimension, is "
           "trained on what the second feed-forward network of a small language model writes. The same autoencoder on "
           "the same model with random weights is the control: the trained model should need at least as many "
           "features.",
           "Elhage 등의 장난감 모델은 특징 다섯을 2차원에 눌러 담고 ReLU를 거쳐 다시 읽습니다. 특징이 늘 있는 경우부터 "
           "표본의 5 %에만 있는 경우까지 여러 밀도에서 학습합니다. 방향의 길이가 1/2보다 길면 표현된 특징으로 셉니다. "
           "특징 80개와 20차원으로도 같은 일을 하고, 작은 언어 모델의 두 번째 순방향 신경망 출력에 대해 차원당 여덟 개 "
           "가운데 한 번에 네 개만 쓰는 희소 오토인코더를 학습합니다. 무작위 가중치를 둔 같은 모델이 대조군이며, "
           "학습된 "
           "모델이 적어도 그만큼의 특징을 써야 합니다."},
      .reported =
          {"Elhage et al. find a regular pentagon for five sparse features in two dimensions and an orthogonal pair "
           "for dense ones; autoencoders on larger models find many times more features than neurons.",
           "Elhage 등은 희소한 다섯 특징에서 정오각형을, 조밀한 특징에서는 직교하는 한 쌍을 얻습니다. 더 큰 모델의 "
           "오토인코더는 뉴런보다 몇 배 많은 특징을 찾습니다."},
      .contrary = {"The features are always present: nothing is sparse.", "특징이 늘 나타나서 희소하지 않습니다."},
      .parts = {{"per_dimension",
                 {"features represented per dimension where they are sparse", "희소할 때 차원당 표현된 특징 수"},
                 Measure::Must::at_least,
                 2.5,
                 true},
                {"dense",
                 {"features represented per dimension where they are dense", "조밀할 때 차원당 표현된 특징 수"},
                 Measure::Must::at_most,
                 1},
                {"pentagon",
                 {"largest distance of a neighbouring angle from 72°, in degrees",
                  "이웃한 각과 72°의 가장 큰 차이 (도)"},
                 Measure::Must::at_most,
                 10},
                {"many",
                 {"dimensions per feature, 80 features in 20 dimensions, sparsest",
                  "80개 특징, 20차원에서 가장 희소할 때 특징당 차원 수"},
                 Measure::Must::at_most,
                 0.6},
                {"network",
                 {"features that fire per dimension of the trained network's output",
                  "학습된 신경망 출력에서 차원당 활성화되는 특징 수"},
                 Measure::Must::at_least,
                 2},
                {"beside_random",
                 {"the same in parts of the features that fire with random weights",
                  "무작위 가중치일 때 활성화되는 특징 수에 대한 같은 수의 비"},
                 Measure::Must::at_least,
                 1},
                {"explained",
                 {"variance of the trained network's output that four features explain",
                  "네 특징이 설명하는 학습된 신경망 출력의 분산"},
                 Measure::Must::at_least,
                 0.7},
                {"beyond_random",
                 {"by which that exceeds the same with random weights", "무작위 가중치일 때보다 높은 정도"},
                 Measure::Must::at_least,
                 0.05}},
      .baseline = Measure{"learned",
                          {"loss of the sparse toy model as a share of answering zero",
                           "희소한 장난감 모델의 손실 / 0으로 답할 때의 손실"},
                          Measure::Must::at_most,
                          0.5},
      .full_seconds = 66,
      .quick_seconds = 6,
      .revision = 2,
      .units = units,
      .measure = measure,
      .numbers = numbers,
      .figures = figures,
      .tables = tables,
  };
}

}  // namespace limpid
