#include "corpora/hangul.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace limpid {
namespace {

TEST(Hangul, TakesSyllablesApartAndPutsThemTogether) {
  for (int index = 0; index < 11172; ++index) {
    const Syllable syllable = {index / 588, index / 28 % 21, index % 28};
    const Syllable back = last_syllable(compose(syllable));
    ASSERT_EQ(back.initial, syllable.initial);
    ASSERT_EQ(back.vowel, syllable.vowel);
    ASSERT_EQ(back.final, syllable.final);
  }
  EXPECT_EQ(compose({0, 0, 0}), "가");
  EXPECT_EQ(compose({18, 20, 27}), "힣");
  EXPECT_THROW(last_syllable("a"), Error);
  EXPECT_THROW(last_syllable("abc"), Error);
  EXPECT_THROW(last_syllable("ㄱ"), Error);  // a letter alone is no syllable
}

struct ParticleCase {
  const char* word;
  Particle particle;
  const char* result;
};

TEST(Hangul, ChoosesParticlesByTheLastSound) {
  constexpr ParticleCase kCases[] = {
      {"책", Particle::topic, "책은"},         {"커피", Particle::topic, "커피는"},
      {"학생", Particle::subject, "학생이"},   {"의사", Particle::subject, "의사가"},
      {"저", Particle::subject, "제가"},       {"누구", Particle::subject, "누가"},
      {"저", Particle::topic, "저는"},         {"누구", Particle::object, "누구를"},
      {"빵", Particle::object, "빵을"},        {"우유", Particle::object, "우유를"},
      {"빵", Particle::and_, "빵과"},          {"우유", Particle::and_, "우유와"},
      {"펜", Particle::by, "펜으로"},          {"버스", Particle::by, "버스로"},
      {"연필", Particle::by, "연필로"},        {"지하철", Particle::by, "지하철로"},
      {"개", Particle::than, "개보다"},        {"민호", Particle::of, "민호의"},
      {"학생", Particle::to, "학생에게"},      {"집", Particle::at, "집에"},
      {"집", Particle::in, "집에서"},          {"의사", Particle::is, "의사예요"},
      {"학생", Particle::is, "학생이에요"},    {"의사", Particle::was, "의사였어요"},
      {"학생", Particle::was, "학생이었어요"},
  };
  for (const auto& c : kCases) EXPECT_EQ(with_particle(c.word, c.particle), c.result);
}

struct VerbCase {
  const char* word;
  WordClass word_class;
  Irregular irregular;
  const char *polite, *past, *present_of, *past_of, *will;
};

constexpr auto kVerb = WordClass::verb, kAdjective = WordClass::adjective, kExistence = WordClass::existence;
constexpr auto kNone = Irregular::none, kP = Irregular::p, kT = Irregular::t, kS = Irregular::s, kLeu = Irregular::leu,
               kH = Irregular::h;

TEST(Hangul, Conjugates) {
  constexpr VerbCase kCases[] = {
      {"읽다", kVerb, kNone, "읽어요", "읽었어요", "읽는", "읽은", "읽을"},
      {"먹다", kVerb, kNone, "먹어요", "먹었어요", "먹는", "먹은", "먹을"},
      {"잡다", kVerb, kNone, "잡아요", "잡았어요", "잡는", "잡은", "잡을"},
      {"입다", kVerb, kNone, "입어요", "입었어요", "입는", "입은", "입을"},
      {"닫다", kVerb, kNone, "닫아요", "닫았어요", "닫는", "닫은", "닫을"},
      {"씻다", kVerb, kNone, "씻어요", "씻었어요", "씻는", "씻은", "씻을"},
      {"앉다", kVerb, kNone, "앉아요", "앉았어요", "앉는", "앉은", "앉을"},
      {"가다", kVerb, kNone, "가요", "갔어요", "가는", "간", "갈"},
      {"서다", kVerb, kNone, "서요", "섰어요", "서는", "선", "설"},
      {"오다", kVerb, kNone, "와요", "왔어요", "오는", "온", "올"},
      {"보다", kVerb, kNone, "봐요", "봤어요", "보는", "본", "볼"},
      {"주다", kVerb, kNone, "줘요", "줬어요", "주는", "준", "줄"},
      {"배우다", kVerb, kNone, "배워요", "배웠어요", "배우는", "배운", "배울"},
      {"마시다", kVerb, kNone, "마셔요", "마셨어요", "마시는", "마신", "마실"},
      {"보내다", kVerb, kNone, "보내요", "보냈어요", "보내는", "보낸", "보낼"},
      {"켜다", kVerb, kNone, "켜요", "켰어요", "켜는", "켠", "켤"},
      {"되다", kVerb, kNone, "돼요", "됐어요", "되는", "된", "될"},
      {"쉬다", kVerb, kNone, "쉬어요", "쉬었어요", "쉬는", "쉰", "쉴"},
      {"뛰다", kVerb, kNone, "뛰어요", "뛰었어요", "뛰는", "뛴", "뛸"},
      {"하다", kVerb, kNone, "해요", "했어요", "하는", "한", "할"},
      {"공부하다", kVerb, kNone, "공부해요", "공부했어요", "공부하는", "공부한", "공부할"},
      {"쓰다", kVerb, kNone, "써요", "썼어요", "쓰는", "쓴", "쓸"},
      {"만들다", kVerb, kNone, "만들어요", "만들었어요", "만드는", "만든", "만들"},
      {"살다", kVerb, kNone, "살아요", "살았어요", "사는", "산", "살"},
      {"놀다", kVerb, kNone, "놀아요", "놀았어요", "노는", "논", "놀"},
      {"돕다", kVerb, kP, "도와요", "도왔어요", "돕는", "도운", "도울"},
      {"줍다", kVerb, kP, "주워요", "주웠어요", "줍는", "주운", "주울"},
      {"굽다", kVerb, kP, "구워요", "구웠어요", "굽는", "구운", "구울"},
      {"듣다", kVerb, kT, "들어요", "들었어요", "듣는", "들은", "들을"},
      {"걷다", kVerb, kT, "걸어요", "걸었어요", "걷는", "걸은", "걸을"},
      {"짓다", kVerb, kS, "지어요", "지었어요", "짓는", "지은", "지을"},
      {"낫다", kVerb, kS, "나아요", "나았어요", "낫는", "나은", "나을"},
      {"고르다", kVerb, kLeu, "골라요", "골랐어요", "고르는", "고른", "고를"},
      {"부르다", kVerb, kLeu, "불러요", "불렀어요", "부르는", "부른", "부를"},
      {"오르다", kVerb, kLeu, "올라요", "올랐어요", "오르는", "오른", "오를"},
      {"머무르다", kVerb, kLeu, "머물러요", "머물렀어요", "머무르는", "머무른", "머무를"},
      {"모르다", kVerb, kLeu, "몰라요", "몰랐어요", "모르는", "모른", "모를"},
      {"작다", kAdjective, kNone, "작아요", "작았어요", "작은", "작았던", "작을"},
      {"크다", kAdjective, kNone, "커요", "컸어요", "큰", "컸던", "클"},
      {"바쁘다", kAdjective, kNone, "바빠요", "바빴어요", "바쁜", "바빴던", "바쁠"},
      {"예쁘다", kAdjective, kNone, "예뻐요", "예뻤어요", "예쁜", "예뻤던", "예쁠"},
      {"배고프다", kAdjective, kNone, "배고파요", "배고팠어요", "배고픈", "배고팠던", "배고플"},
      {"길다", kAdjective, kNone, "길어요", "길었어요", "긴", "길었던", "길"},
      {"짧다", kAdjective, kNone, "짧아요", "짧았어요", "짧은", "짧았던", "짧을"},
      {"얇다", kAdjective, kNone, "얇아요", "얇았어요", "얇은", "얇았던", "얇을"},
      {"좋다", kAdjective, kNone, "좋아요", "좋았어요", "좋은", "좋았던", "좋을"},
      {"비싸다", kAdjective, kNone, "비싸요", "비쌌어요", "비싼", "비쌌던", "비쌀"},
      {"느리다", kAdjective, kNone, "느려요", "느렸어요", "느린", "느렸던", "느릴"},
      {"춥다", kAdjective, kP, "추워요", "추웠어요", "추운", "추웠던", "추울"},
      {"아름답다", kAdjective, kP, "아름다워요", "아름다웠어요", "아름다운", "아름다웠던", "아름다울"},
      {"빠르다", kAdjective, kLeu, "빨라요", "빨랐어요", "빠른", "빨랐던", "빠를"},
      {"게으르다", kAdjective, kLeu, "게을러요", "게을렀어요", "게으른", "게을렀던", "게으를"},
      {"빨갛다", kAdjective, kH, "빨개요", "빨갰어요", "빨간", "빨갰던", "빨갈"},
      {"하얗다", kAdjective, kH, "하얘요", "하얬어요", "하얀", "하얬던", "하얄"},
      {"파랗다", kAdjective, kH, "파래요", "파랬어요", "파란", "파랬던", "파랄"},
      {"퍼렇다", kAdjective, kH, "퍼레요", "퍼렜어요", "퍼런", "퍼렜던", "퍼럴"},
      {"있다", kExistence, kNone, "있어요", "있었어요", "있는", "있었던", "있을"},
      {"맛있다", kExistence, kNone, "맛있어요", "맛있었어요", "맛있는", "맛있었던", "맛있을"},
      {"없다", kExistence, kNone, "없어요", "없었어요", "없는", "없었던", "없을"},
  };
  for (const auto& c : kCases) {
    const Conjugation forms = conjugate(c.word, c.word_class, c.irregular);
    EXPECT_EQ(forms.stem + "다", c.word);
    EXPECT_EQ(forms.infinitive + "요", c.polite);
    EXPECT_EQ(forms.past + "어요", c.past);
    EXPECT_EQ(forms.present_of, c.present_of);
    EXPECT_EQ(forms.past_of, c.past_of);
    EXPECT_EQ(forms.prospective, c.will);
  }
  EXPECT_THROW(conjugate("읽어", kVerb), Error);
  EXPECT_THROW(conjugate("다", kVerb), Error);
}

}  // namespace
}  // namespace limpid
