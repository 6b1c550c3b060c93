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
    {"sinusoids",
     "beyond_none",
     {"A causal mask alone lets the model count only roughly: no position that it infers so was trained this far.",
      "인과 마스크만으로는 위치를 대강만 셀 수 있고, 그렇게 짐작한 위치는 이만큼 멀리서 학습된 적이 없습니다."}},
    {"sinusoids",
     "beyond_rotary",
     {"Rotary positions see distances alone, but distances longer than those trained are new to them too.",
      "회전 위치는 거리만 보지만, 학습한 것보다 먼 거리는 회전 위치에도 새롭습니다."}},
    {"activations",
     "swiglu",
     {"On these facts the gate does not pay: with two thirds of the features the loss is a little higher than ReLU's, "
      "where others report a little lower.",
      "이 사실들에서는 게이트가 이득이 되지 않습니다. 특징이 3분의 2일 때 손실이 ReLU보다 조금 높은데, 다른 보고에서는 "
      "조금 낮습니다."}},
    {"residuals",
     "depth_with",
     {"After these few steps the deepest model with residuals has not learned enough to count as trained.",
      "이 적은 스텝으로는 잔차 연결이 있는 가장 깊은 모델이 아직 학습되었다고 할 만큼 배우지 못했습니다."}},
    {"residuals",
     "pre_norm_cold",
     {"Without a warm-up the norm before the sub-layer loses something too, at this learning rate.",
      "이 학습률에서는 정규화가 먼저여도 워밍업이 없으면 조금 잃습니다."}},
    {"residuals",
     "post_norm_cold",
     {"Eight blocks of width 32 train with the norm after and no warm-up: the need for one is of larger models.",
      "폭 32, 블록 여덟 개는 정규화가 나중이고 워밍업이 없어도 학습됩니다. 워밍업은 더 큰 모델에 필요합니다."}},
    {"facts",
     "silenced",
     {"The neurons found by some paraphrases carry the fact in others too, but not in all: every way of saying it has "
      "some neurons of its own.",
      "어떤 표현에서 찾은 뉴런은 다른 표현에서도 그 사실을 나르지만 모두는 아닙니다. 표현마다 자기만의 뉴런이 조금씩 "
      "있습니다."}},
    {"facts",
     "rewritten_random",
     {"A third of a network's columns, drawn at random, is enough to write another answer: that a fact can be "
      "rewritten "
      "there does not show by which neurons it is held.",
      "무작위로 뽑은 신경망 열의 3분의 1로도 다른 답을 쓸 수 있습니다. 그곳에서 사실을 다시 쓸 수 있다는 것은 어느 "
      "뉴런이 그 사실을 지니는지 보여 주지 않습니다."}},
    {"embeddings",
     "exceedance_facts",
     {"The objects of one relation lie no nearer to each other than to those of another: the model of facts sees them "
      "at "
      "the ends of sentences alone, where the output's table is what is trained.",
      "한 관계의 목적어들이 다른 관계의 목적어보다 서로 가깝지 않습니다. 사실 모델은 목적어를 문장 끝에서만 보며, 그 "
      "곳에서는 출력 표만 학습됩니다."}},
    {"embeddings",
     "exceedance_translator",
     {"The translator reads words as pieces and learns each word's own translation: what it must tell apart it does "
      "not "
      "place together.",
      "번역 모델은 단어를 조각으로 읽고 단어마다 제 번역을 배웁니다. 구별해야 하는 것을 한데 두지 않습니다."}},
    {"tables",
     "learned_positions",
     {"On a text this small the kind of positions does make a difference, as other details do that the paper's data "
      "evens out.",
      "이렇게 작은 글에서는 논문의 데이터라면 고르게 해 줄 다른 세부처럼 위치의 종류도 차이를 만듭니다."}},
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
     "gain",
     {"Models of this size that differ in their first weights alone differ by as much as models of one head and of "
      "four: "
      "on these short sentences several heads gain nothing that stands out of that.",
      "이 크기에서는 처음 가중치만 다른 모델끼리의 차이가 헤드가 하나인 모델과 넷인 모델의 차이만큼 큽니다. 이 짧은 "
      "문장에서는 여러 헤드의 이득이 그 차이를 넘지 못합니다."}},
    {"heads",
     "specialised",
     {"After so few steps no head aligns words well yet: heads of a layer look at different things, but none of "
      "them has "
      "become the one that looks at the word it translates.",
      "이렇게 적은 스텝 뒤에는 아직 단어를 잘 정렬하는 헤드가 없습니다. 한 층의 헤드들은 서로 다른 것을 보지만, "
      "번역하는 단어를 "
      "보는 "
      "헤드로 자리 잡은 것은 없습니다."}},
    {"norms",
     "gap",
     {"Text of varying length alone does not harm batch norm here: where batches are drawn at random and nothing is "
      "padded, two texts already give statistics near enough to those of all. It is harmed where the texts of a batch "
      "are "
      "alike in length and those it meets later are not, which is the effect planted; an earlier run of ours had that "
      "by "
      "mistake, and its verdict was wrong.",
      "길이가 제각각인 글만으로는 여기서 배치 정규화가 나빠지지 않습니다. 배치를 무작위로 뽑고 패딩이 없으면 글 두 "
      "개의 통계도 전체의 통계에 충분히 가깝습니다. 한 배치의 글이 길이가 비슷하고 나중에 만나는 글은 그렇지 않을 때 "
      "나빠지며, 그것이 심은 효과입니다. 이전 실행은 실수로 그 조건이었고 판정이 틀렸습니다."}},
    {"norms",
     "shrinks",
     {"There is no gap at two texts that larger batches could close.",
      "글 두 개에서 벌어진 격차가 없으므로 큰 배치가 줄일 것도 없습니다."}},
    {"norms",
     "gap_large",
     {"With 32 texts as well batch norm learns these sentences a little faster than layer norm.",
      "글 32개에서도 배치 정규화가 이 문장들을 층 정규화보다 조금 빨리 배웁니다."}},
    {"parameters",
     "worst_off",
     {"The rule is one of large models of classical shape. A large vocabulary alone takes the share of the networks "
      "down to "
      "20 % (XLM-RoBERTa base), one key for all heads alone up to 76 % (Falcon 7B), eight networks per block to 97 % "
      "(Mixtral 8x7B). A gate alone changes little where the network is as much narrower (Llama 2 7B, Phi-3 mini).",
      "이 규칙은 고전적인 형태의 큰 모델에 대한 것입니다. 큰 어휘만으로 신경망의 비율은 20 %까지 내려가고(XLM-RoBERTa "
      "base), 모든 헤드가 키 하나를 쓰는 것만으로 76 %까지(Falcon 7B), 블록마다 신경망이 여덟이면 97 %까지 "
      "올라갑니다(Mixtral 8x7B). 게이트만으로는 신경망이 그만큼 좁으면 거의 달라지지 않습니다(Llama 2 7B, Phi-3 "
      "mini)."}},
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
     "beside_random",
     {"A trained network of this size writes along few directions, which few features explain; random weights, whose "
      "output has no structure, use nearly all features and explain less. So the number of features says nothing of "
      "superposition in this network: only the toy model shows it. This part was added after the numbers were known.",
      "이 크기의 학습된 신경망은 몇 방향으로만 쓰므로 적은 특징으로 설명됩니다. 구조가 없는 무작위 가중치의 출력은 "
      "거의 모든 특징을 쓰고도 덜 설명됩니다. 따라서 특징의 수는 이 신경망의 중첩에 대해 아무것도 말해 주지 않고, "
      "중첩은 장난감 모델에서만 보입니다. 이 부분은 수치를 안 뒤에 더했습니다."}},
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
