// Labels: when an encoder classifies texts instead of guessing masked tokens.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/config_examples.h"
#include "models/small_models.h"

namespace limpid {
namespace {

using examples::error_of;
using examples::parsed;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(ConfigLabels, AreInTheOrderOfTheirIds) {
  const Config config = parsed("bert", R"({"architectures": ["BertForSequenceClassification"],
                                           "id2label": {"1": "good", "0": "bad", "2": "ugly"},
                                           "label2id": {"bad": 0, "good": 1, "ugly": 2}})");
  EXPECT_THAT(config.labels, ElementsAre("bad", "good", "ugly"));
  EXPECT_THAT(config.notes, IsEmpty());
  EXPECT_FALSE(config.only_limpid);
}

TEST(ConfigLabels, HaveHuggingFacesNamesWhereNoneAreGiven) {
  EXPECT_THAT(parsed("bert", R"({"num_labels": 3})").labels, ElementsAre("LABEL_0", "LABEL_1", "LABEL_2"));
  EXPECT_THAT(parsed("bert", R"({"architectures": ["BertForSequenceClassification"]})").labels,
              ElementsAre("LABEL_0", "LABEL_1"));
}

TEST(ConfigLabels, AModelOfAnotherClassHasNone) {
  EXPECT_THAT(parsed("bert").labels, IsEmpty());
  EXPECT_THAT(parsed("bert", R"({"architectures": ["BertForMaskedLM"], "num_labels": 3})").labels, IsEmpty());
  EXPECT_THAT(parsed("gpt2", R"({"num_labels": 3})").labels, IsEmpty());
}

TEST(ConfigLabels, DropoutIsThatOfTheLayersUnlessSaid) {
  EXPECT_EQ(parsed("bert", R"({"num_labels": 2, "hidden_dropout_prob": 0.3})").dropout.classifier, 0.3);
  EXPECT_EQ(parsed("bert", R"({"num_labels": 2, "classifier_dropout": 0.4})").dropout.classifier, 0.4);
}

// As rerankers have one; what the numbers are is in inference/fill_mask.h.
TEST(ConfigLabels, MayBeOneOrSeveralAtOnce) {
  EXPECT_THAT(parsed("bert", R"({"num_labels": 1, "problem_type": "regression"})").labels, ElementsAre("LABEL_0"));
  EXPECT_EQ(parsed("bert", R"({"num_labels": 4, "problem_type": "multi_label_classification"})").labels.size(), 4u);
}

TEST(ConfigLabels, WhatIsWrongIsNamed) {
  EXPECT_THAT(error_of("bert", R"({"id2label": {"0": "a", "2": "b"}})"), HasSubstr("without a gap"));
  EXPECT_THAT(error_of("bert", R"({"id2label": ["a", "b"]})"), HasSubstr("id2label"));
  EXPECT_THAT(error_of("bert", R"({"id2label": {"0": "a", "1": 5}})"), HasSubstr("id2label"));
  EXPECT_THAT(error_of("bert", R"({"num_labels": 3, "id2label": {"0": "a", "1": "b"}})"), HasSubstr("num_labels is 3"));
  EXPECT_THAT(error_of("bert", R"({"num_labels": 2, "problem_type": "guess"})"),
              HasSubstr("single_label_classification"));
}

TEST(Classifier, HasTheParametersOfBertForSequenceClassification) {
  const SmallModel small = small_model(small_configs().at("bert_labels"));
  std::vector<std::string> head;
  for (const Weight& weight : small.parameters->weights())
    if (weight.role == ParameterRole::output) head.push_back(weight.name);
  EXPECT_THAT(head, testing::UnorderedElementsAre("bert.pooler.dense.weight", "bert.pooler.dense.bias",
                                                  "classifier.weight", "classifier.bias"));
}

TEST(Classifier, ScoresEveryLabelOfEveryText) {
  const SmallModel small = small_model(small_configs().at("bert_labels"));
  limpid::Run run({});
  const Tensor logits = small.model->logits(run, small.batch);
  EXPECT_EQ(logits.rows(), 3);
  EXPECT_EQ(logits.cols(), 3);
}

TEST(Classifier, DropsOutThePooledVectorInTraining) {
  nlohmann::ordered_json json = small_configs().at("bert_labels");
  json.update({{"hidden_dropout_prob", 0}, {"attention_probs_dropout_prob", 0}, {"classifier_dropout", 0.5}});
  const SmallModel small = small_model(json);
  const auto loss = [&](bool train, uint64_t seed) {
    limpid::Run run({.train = train, .seed = seed});
    return small.model->loss(run, small.batch, {}).sum();
  };
  EXPECT_NE(loss(true, 1), loss(true, 2));
  EXPECT_NE(loss(true, 1), loss(false, 1));
  EXPECT_EQ(loss(false, 1), loss(false, 2));
}

}  // namespace
}  // namespace limpid
