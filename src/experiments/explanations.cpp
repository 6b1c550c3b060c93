#include "experiments/explanations.h"

#include <string_view>

namespace limpid {
namespace {

struct Explanation {
  std::string_view experiment, part;
  Words words;
};

constexpr Explanation kExplanations[] = {
    {"sequential",
     "speed_ratio",
     {"Two cores are filled by a batch of recurrent networks as well, and at 1,024 tokens attention costs more "
      "operations; a short chain pays where there is more to fill.",
      "코어 둘은 순환 신경망의 배치로도 채워지고, 1,024 토큰에서는 어텐션의 연산이 더 많습니다. 짧은 사슬은 채울 "
      "코어가 더 많은 곳에서 "
      "이득이 됩니다."}},
    {"scaling",
     "loss_gap",
     {"A model of width 64 begins with small weights, so that its scores are small with or without the division, and "
      "training makes up for most of it.",
      "폭 64인 모델은 작은 가중치로 시작하여 나눗셈이 없어도 점수가 작고, 학습이 그 차이를 대부분 메웁니다."}},
    {"sinusoids",
     "beyond",
     {"That a linear map exists does not mean that a model finds one that works where it was never trained: the hope "
      "of the paper is not met here, as Press et al. found.",
      "선형 변환이 존재한다고 해서 모델이 학습하지 않은 길이에서도 통하는 것을 찾는다는 뜻은 아닙니다. Press 외가 밝힌 "
      "대로 논문의 "
      "기대는 여기서 충족되지 않습니다."}},
    {"collapse",
     "loss_gap",
     {"Losing the non-linearity costs less than was expected: most of the loss is which sentence comes next, which "
      "nobody can know, and attention is not linear either.",
      "비선형성을 잃는 대가가 예상보다 작습니다. 손실의 대부분은 아무도 알 수 없는, 어떤 문장이 오는가이고, 어텐션도 "
      "선형이 아닙니다."}},
    {"heads",
     "specialised",
     {"After a thousand steps no head aligns words well yet: heads of a layer look at different things, but none of "
      "them has "
      "become the one that looks at the word it translates.",
      "천 스텝 뒤에는 아직 단어를 잘 정렬하는 헤드가 없습니다. 한 층의 헤드들은 서로 다른 것을 보지만, 번역하는 단어를 "
      "보는 "
      "헤드로 자리 잡은 것은 없습니다."}},
    {"norms",
     "shrinks",
     {"Larger batches do not mend it: with 32 texts too, running statistics are not those that the model was trained "
      "with, "
      "in one seed so far from them that it does worse than guessing.",
      "배치가 커도 나아지지 않습니다. 글 32개에서도 이동 통계는 모델이 학습할 때의 통계와 다르며, 한 시드에서는 너무 "
      "달라서 "
      "추측보다도 나쁩니다."}},
    {"parameters",
     "worst_off",
     {"The rule is one of large models of classical shape: small models spend more on their vocabulary, gated networks "
      "and shared keys move the balance.",
      "이 규칙은 고전적인 형태의 큰 모델에 대한 것입니다. 작은 모델은 어휘에 더 많이 쓰고, 게이트 신경망과 공유된 키는 "
      "균형을 "
      "바꿉니다."}},
    {"embeddings",
     "unrelated",
     {"All embeddings share a direction, as those of most language models do: zero is not where unrelated words lie.",
      "대부분의 언어 모델처럼 모든 임베딩이 한 방향을 공유하여, 무관한 단어가 0에 놓이지 않습니다."}},
    {"embeddings",
     "opposed",
     {"Opposites stand in the same places of sentences, and what a model learns of words is where they stand: they lie "
      "close together, as is known of word vectors.",
      "반대말은 문장의 같은 자리에 나타나고 모델이 단어에서 배우는 것은 그 자리이므로, 단어 벡터에서 알려진 대로 서로 "
      "가깝습니다."}},
    {"facts",
     "located",
     {"With two layers, attention at the name carries nearly as much as the networks: it brings the parts of a name "
      "together, without which no network can ask.",
      "층이 둘이면 이름 위치의 어텐션도 신경망만큼 나릅니다. 이름의 부분을 모으는 것이 어텐션이고, 그것 없이는 어떤 "
      "신경망도 물을 수 "
      "없습니다."}},
    {"superposition",
     "network",
     {"A trained network of this size writes along few directions, which few features explain; random weights, whose "
      "output has no structure, use nearly all features and explain less.",
      "이 크기의 학습된 신경망은 몇 방향으로만 쓰므로 적은 특징으로 설명됩니다. 구조가 없는 무작위 가중치의 출력은 "
      "거의 모든 특징을 쓰고도 "
      "덜 설명됩니다."}},
    {"tables",
     "rho",
     {"On a text this small the order of Table 3 does not come back: half the width costs nothing, because more "
      "parameters "
      "only learn the text by heart, and leaving out dropout costs most. The paper's models have data that they cannot "
      "exhaust.",
      "이렇게 작은 글에서는 표 3의 순위가 나오지 않습니다. 매개변수가 많으면 글을 외울 뿐이어서 폭을 반으로 줄여도 "
      "잃는 것이 "
      "없고, 드롭아웃을 빼면 가장 많이 잃습니다. 논문의 모델은 다 써 버릴 수 없는 데이터를 가졌습니다."}},
    {"tables",
     "rho_perplexity",
     {"The same as for BLEU: width and depth do not pay on a text this small.",
      "BLEU에서와 같습니다. 이렇게 작은 글에서는 폭과 깊이가 이득이 되지 않습니다."}},
};

}  // namespace

void explain(std::vector<Experiment>& experiments) {
  for (const Explanation& one : kExplanations)
    for (Experiment& experiment : experiments)
      for (Measure& part : experiment.parts)
        if (one.experiment == experiment.name && one.part == part.key) part.otherwise = one.words;
}

}  // namespace limpid
