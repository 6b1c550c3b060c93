// Adjectives, which conjugate like verbs in Korean.

#include "corpora/grammar_tables.h"

namespace limpid::grammar {
namespace {

struct Row {
  const char *english, *comparative;  // "more": beside the word; empty: not compared
  const char* korean;                 // dictionary form, or a form that only stands before nouns
  Kinds kinds;
  Irregular irregular = Irregular::none;
  WordClass word_class = WordClass::adjective;
};

constexpr Kinds kLiving = kPerson | kAnimal, kWheels = kCar | kCycle | kTransit,
                kObject = kColored | kMoved | kOpened | kWheels | kTool;
constexpr auto kP = Irregular::p, kLeu = Irregular::leu, kH = Irregular::h;
constexpr auto kExistence = WordClass::existence;

constexpr Row kRows[] = {
    {"kind", "kinder", "친절하다", kPerson},
    {"young", "younger", "젊다", kPerson},
    {"smart", "smarter", "똑똑하다", kLiving},
    {"busy", "busier", "바쁘다", kPerson},
    {"happy", "happier", "행복하다", kPerson},
    {"sad", "sadder", "슬프다", kPerson | kSong | kShow},
    {"brave", "braver", "용감하다", kLiving},
    {"honest", "more", "정직하다", kPerson},
    {"lazy", "lazier", "게으르다", kLiving, kLeu},
    {"diligent", "more", "부지런하다", kPerson},
    {"famous", "more", "유명하다", kPerson | kText | kShow | kPlace | kSong},
    {"poor", "poorer", "가난하다", kPerson},
    {"hungry", "hungrier", "배고프다", kLiving},
    {"tired", "more", "피곤하다", kPerson},
    {"healthy", "healthier", "건강하다", kLiving},
    {"strong", "stronger", "강하다", kLiving},
    {"quiet", "quieter", "조용하다", kPerson | kSurroundings},
    {"noisy", "noisier", "시끄럽다", kSurroundings | kCar | kCycle, kP},
    {"pretty", "prettier", "예쁘다", kPerson | kRaised | kColored | kRing},
    {"beautiful", "more", "아름답다", kPlace | kSong | kRing | kPerson, kP},
    {"cute", "cuter", "귀엽다", kAnimal, kP},
    {"big", "bigger", "크다", kAnimal | kObject | kPlace | kFruit},
    {"small", "smaller", "작다", kAnimal | kObject | kPlace | kFruit},
    {"fast", "faster", "빠르다", kAnimal | kWheels, kLeu},
    {"slow", "slower", "느리다", kAnimal | kWheels},
    {"white", "", "하얗다", kColored | kRaised, kH},
    {"black", "", "까맣다", kColored | kRaised, kH},
    {"red", "", "빨갛다", kColored, kH},
    {"blue", "", "파랗다", kColored, kH},
    {"yellow", "", "노랗다", kColored, kH},
    {"long", "longer", "길다", kLengthy},
    {"short", "shorter", "짧다", kLengthy},
    {"heavy", "heavier", "무겁다", kMoved | kStruck | kBowed, kP},
    {"light", "lighter", "가볍다", kMoved | kClothes | kHeadwear, kP},
    {"expensive", "more", "비싸다", kGoods},
    {"cheap", "cheaper", "싸다", kGoods},
    {"new", "", "새", kObject | kText | kShow | kSong},
    {"old", "", "오래된", kObject | kPlace | kText | kShow | kSong},
    {"clean", "cleaner", "깨끗하다", kPlace | kWashed | kClothes},
    {"dirty", "dirtier", "더럽다", kCleaned | kWashed | kClothes | kMoved, kP},
    {"delicious", "more", "맛있다", kFood | kDrink, Irregular::none, kExistence},
    {"hot", "hotter", "뜨겁다", kWarm, kP},
    {"cold", "colder", "차갑다", kDrink | kWarm, kP},
    {"sweet", "sweeter", "달다", kFruit | kBaked},
    {"fresh", "fresher", "신선하다", kFood},
    {"difficult", "more", "어렵다", kText | kStudy, kP},
    {"easy", "easier", "쉽다", kText | kStudy, kP},
    {"interesting", "more", "재미있다", kText | kShow | kStudy, Irregular::none, kExistence},
    {"boring", "more", "지루하다", kText | kShow},
    {"wide", "wider", "넓다", kPlace | kSurface},
    {"narrow", "narrower", "좁다", kCleaned | kSurface},
    {"safe", "safer", "안전하다", kPlace | kWheels},
    {"dangerous", "more", "위험하다", kPlace | kCycle | kBlade},
    {"sharp", "sharper", "날카롭다", kBlade, kP},
    {"good", "better", "좋다", kGoods | kText | kShow | kSong | kPlace},
    {"bad", "worse", "나쁘다", kGoods | kShow | kText},
    {"important", "more", "중요하다", kText | kStudy | kTool},
    {"strange", "stranger", "이상하다", kPerson | kAnimal | kText | kShow | kSong | kPlace},
    {"comfortable", "more", "편하다", kSurface | kClothes | kTransit},
};

std::string superlative_of(const std::string& comparative) {
  if (comparative == "better") return "best";
  if (comparative == "worse") return "worst";
  if (comparative == "more") return "most";
  return comparative.substr(0, comparative.size() - 1) + "st";  // bigger, biggest
}

}  // namespace

std::vector<Adjective> make_adjectives() {
  std::vector<Adjective> adjectives;
  for (const Row& row : kRows) {
    Adjective adjective{.english = row.english, .comparative = row.comparative, .kinds = row.kinds};
    if (!adjective.comparative.empty()) adjective.superlative = superlative_of(adjective.comparative);
    if (std::string_view(row.korean).ends_with("다")) {
      adjective.forms = conjugate(row.korean, row.word_class, row.irregular);
      adjective.before_noun = adjective.forms.present_of;
    } else {
      adjective.before_noun = row.korean;
      adjective.alone = false;
    }
    adjectives.push_back(adjective);
  }
  return adjectives;
}

}  // namespace limpid::grammar
