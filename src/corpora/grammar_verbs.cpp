// Verbs: who does it, to what, and with which particle. The same English verb may stand in several rows with different
// objects: play the piano (치다), the flute (불다), soccer (하다).

#include <algorithm>

#include "corpora/grammar_tables.h"

namespace limpid::grammar {
namespace {

struct Row {
  const char *base, *past, *ing, *korean;
  Kinds objects = 0;
  Irregular irregular = Irregular::none;
  const char* with = "";
  Kinds subjects = kPerson;
  Particle particle = Particle::object;
  bool stative = false;
  bool one_of_several = false;  // another row has the same English verb
};

constexpr Kinds kLiving = kPerson | kAnimal;
constexpr auto kNone = Irregular::none, kP = Irregular::p, kT = Irregular::t, kS = Irregular::s, kLeu = Irregular::leu;

constexpr Row kTransitive[] = {
    {"eat", "ate", "eating", "먹다", kFood},
    {"drink", "drank", "drinking", "마시다", kDrink},
    {"buy", "bought", "buying", "사다", kGoods},
    {"sell", "sold", "selling", "팔다", kGoods},
    {"choose", "chose", "choosing", "고르다", kGoods | kText, kLeu},
    {"borrow", "borrowed", "borrowing", "빌리다", kText | kTool | kClothes | kCar},
    {"lose", "lost", "losing", "잃어버리다", kDropped, kNone, "", kPerson, Particle::object, true},
    {"find", "found", "finding", "발견하다", kDropped | kAnimal, kNone, "", kPerson, Particle::object, true},
    {"look", "looked", "looking", "찾다", kDropped | kPerson | kRaised, kNone, "for"},
    {"pick", "picked", "picking", "줍다", kDropped, kP, "up"},
    {"read", "read", "reading", "읽다", kText},
    {"write", "wrote", "writing", "쓰다", kWritten},
    {"watch", "watched", "watching", "보다", kShow},
    {"see", "saw", "seeing", "보다", kLiving, kNone, "", kLiving},
    {"listen", "listened", "listening", "듣다", kSound, kT, "to"},
    {"sing", "sang", "singing", "부르다", kSong, kLeu, "", kPerson, Particle::object, false, true},
    {"like", "liked", "liking", "좋아하다", kPerson | kRaised | kFood | kDrink | kShow | kSound | kBallGame | kStudy,
     kNone, "", kPerson, Particle::object, true},
    {"love", "loved", "loving", "사랑하다", kPerson | kRaised, kNone, "", kPerson, Particle::object, true},
    {"hate", "hated", "hating", "싫어하다", kPerson | kAnimal | kFood | kStudy, kNone, "", kPerson, Particle::object,
     true},
    {"know", "knew", "knowing", "알다", kPerson | kSong, kNone, "", kPerson, Particle::object, true},
    {"have", "had", "having", "있다", kRaised | kGoods, kNone, "", kPerson, Particle::subject, true},
    {"need", "needed", "needing", "필요하다", kGoods | kTool, kNone, "", kPerson, Particle::subject, true},
    {"remember", "remembered", "remembering", "기억하다", kPerson | kSong | kShow, kNone, "", kPerson, Particle::object,
     true},
    {"believe", "believed", "believing", "믿다", kPerson, kNone, "", kPerson, Particle::object, true},
    {"meet", "met", "meeting", "만나다", kPerson},
    {"help", "helped", "helping", "돕다", kPerson, kP},
    {"call", "called", "calling", "전화하다", kPerson, kNone, "", kPerson, Particle::to},
    {"invite", "invited", "inviting", "초대하다", kPerson},
    {"praise", "praised", "praising", "칭찬하다", kPerson},
    {"hug", "hugged", "hugging", "안다", kPerson | kRaised},
    {"thank", "thanked", "thanking", "감사하다", kPerson, kNone, "", kPerson, Particle::to},
    {"wait", "waited", "waiting", "기다리다", kPerson | kTransit, kNone, "for"},
    {"follow", "followed", "following", "따라가다", kPerson | kAnimal, kNone, "", kLiving},
    {"visit", "visited", "visiting", "방문하다", kPlace},
    {"leave", "left", "leaving", "떠나다", kPlace, kNone, "", kPerson, Particle::object, false, true},
    {"clean", "cleaned", "cleaning", "청소하다", kCleaned},
    {"build", "built", "building", "짓다", kBuilt, kS},
    {"arrive", "arrived", "arriving", "도착하다", kPlace, kNone, "at", kPerson, Particle::at, false, true},
    {"climb", "climbed", "climbing", "오르다", kMountain, kLeu, "", kPerson, Particle::at},
    {"open", "opened", "opening", "열다", kOpened},
    {"close", "closed", "closing", "닫다", kOpened},
    {"wash", "washed", "washing", "씻다", kWashed, kNone, "", kPerson, Particle::object, false, true},
    {"wash", "washed", "washing", "빨다", kLaundry, kNone, "", kPerson, Particle::object, false, true},
    {"break", "broke", "breaking", "깨다", kBroken},
    {"cut", "cut", "cutting", "자르다", kCutUp, kLeu},
    {"bake", "baked", "baking", "굽다", kBaked, kP},
    {"boil", "boiled", "boiling", "끓이다", kBoiled},
    {"cook", "cooked", "cooking", "요리하다", kCooked},
    {"wear", "wore", "wearing", "입다", kClothes, kNone, "", kPerson, Particle::object, false, true},
    {"wear", "wore", "wearing", "쓰다", kHeadwear, kNone, "", kPerson, Particle::object, false, true},
    {"wear", "wore", "wearing", "끼다", kRing, kNone, "", kPerson, Particle::object, false, true},
    {"play", "played", "playing", "치다", kStruck | kRacketGame, kNone, "", kPerson, Particle::object, false, true},
    {"play", "played", "playing", "켜다", kBowed, kNone, "", kPerson, Particle::object, false, true},
    {"play", "played", "playing", "불다", kBlown, kNone, "", kPerson, Particle::object, false, true},
    {"play", "played", "playing", "하다", kBallGame, kNone, "", kPerson, Particle::object, false, true},
    {"study", "studied", "studying", "공부하다", kStudy},
    {"learn", "learned", "learning", "배우다", kStudy | kBallGame},
    {"take", "took", "taking", "타다", kTransit},
    {"ride", "rode", "riding", "타다", kCycle},
    {"drive", "drove", "driving", "운전하다", kCar},
    {"fix", "fixed", "fixing", "고치다", kFixed},
    {"use", "used", "using", "사용하다", kTool},
    {"throw", "threw", "throwing", "던지다", kThrown},
    {"push", "pushed", "pushing", "밀다", kMoved},
    {"carry", "carried", "carrying", "나르다", kMoved, kLeu},
    {"make", "made", "making", "만들다", kBaked | kClothes | kSurface},
    {"draw", "drew", "drawing", "그리다", kAnimal | kCar | kPlace},
    {"catch", "caught", "catching", "잡다", kAnimal, kNone, "", kLiving},
    {"raise", "raised", "raising", "기르다", kRaised, kLeu},
    {"hide", "hid", "hiding", "숨기다", kDropped | kHeadwear | kRing},
    {"forget", "forgot", "forgetting", "잊어버리다", kSong | kPerson, kNone, "", kPerson, Particle::object, true},
};

constexpr Row kIntransitive[] = {
    {"sleep", "slept", "sleeping", "자다", 0, kNone, "", kLiving},
    {"run", "ran", "running", "달리다", 0, kNone, "", kLiving},
    {"walk", "walked", "walking", "걷다", 0, kT, "", kLiving},
    {"swim", "swam", "swimming", "수영하다"},
    {"dance", "danced", "dancing", "춤추다"},
    {"sing", "sang", "singing", "노래하다", 0, kNone, "", kPerson, Particle::object, false, true},
    {"laugh", "laughed", "laughing", "웃다"},
    {"cry", "cried", "crying", "울다"},
    {"work", "worked", "working", "일하다"},
    {"rest", "rested", "resting", "쉬다", 0, kNone, "", kLiving},
    {"play", "played", "playing", "놀다", 0, kNone, "", kLiving, Particle::object, false, true},
    {"exercise", "exercised", "exercising", "운동하다"},
    {"fall", "fell", "falling", "넘어지다"},
    {"jump", "jumped", "jumping", "뛰다", 0, kNone, "", kLiving},
    {"fly", "flew", "flying", "날다", 0, kNone, "", kBird},
    {"shout", "shouted", "shouting", "소리치다"},
    {"cough", "coughed", "coughing", "기침하다"},
    {"pray", "prayed", "praying", "기도하다"},
    {"travel", "traveled", "traveling", "여행하다"},
};

constexpr Row kGive[] = {
    {"give", "gave", "giving", "주다", kGoods | kText},
    {"send", "sent", "sending", "보내다", kText | kGoods},
    {"show", "showed", "showing", "보여주다", kShow | kText | kClothes},
    {"lend", "lent", "lending", "빌려주다", kText | kTool | kClothes},
    {"sell", "sold", "selling", "팔다", kGoods, kNone, "", kPerson, Particle::object, false, true},
    {"teach", "taught", "teaching", "가르치다", kStudy | kSong},
};

constexpr Row kTo[] = {
    {"go", "went", "going", "가다", 0, kNone, "", kLiving},
    {"come", "came", "coming", "오다", 0, kNone, "", kLiving, Particle::object, false, true},
    {"return", "returned", "returning", "돌아가다"},
};
constexpr Row kFrom[] = {
    {"come", "came", "coming", "오다", 0, kNone, "", kLiving, Particle::object, false, true},
};
constexpr Row kLive[] = {
    {"hide", "hid", "hiding", "숨다", 0, kNone, "", kLiving, Particle::object, false, true},
    {"live", "lived", "living", "살다", 0, kNone, "", kLiving, Particle::object, true},
    {"stay", "stayed", "staying", "머무르다", 0, kLeu, "", kPerson, Particle::object, true},
};

std::string third_person(const std::string& base) {
  if (base == "have") return "has";
  const auto ends = [&](const char* end) { return base.ends_with(end); };
  if (ends("s") || ends("x") || ends("ch") || ends("sh") || ends("o")) return base + "es";
  if (ends("y") && std::string_view("aeiou").find(base[base.size() - 2]) == std::string_view::npos)
    return base.substr(0, base.size() - 1) + "ies";
  return base + "s";
}

// What lasted is told with 던: the boy whom she knew, 그녀가 알던 소년.
Conjugation lasting(Conjugation forms) {
  forms.past_of = forms.stem + "던";
  return forms;
}

Verb verb_of(const Row& row, Frame frame) {
  static const Conjugation kDoesNotKnow = lasting(conjugate("모르다", WordClass::verb, Irregular::leu));
  static const Conjugation kIsNot = conjugate("없다", WordClass::existence);
  const std::string_view korean = row.korean;
  const auto word_class = korean == "있다"       ? WordClass::existence
                          : korean == "필요하다" ? WordClass::adjective
                                                 : WordClass::verb;
  Verb verb{.base = row.base,
            .third = third_person(row.base),
            .past = row.past,
            .ing = row.ing,
            .with = row.with,
            .forms = conjugate(korean, word_class, row.irregular),
            .frame = frame,
            .subjects = row.subjects,
            .objects = row.objects,
            .object_particle = row.particle,
            .adjectival = word_class == WordClass::adjective,
            .stative = row.stative,
            .asks_object = !row.one_of_several};
  constexpr std::string_view kLasting[] = {"좋아하다", "사랑하다", "싫어하다", "알다", "믿다", "살다"};
  if (std::find(std::begin(kLasting), std::end(kLasting), korean) != std::end(kLasting))
    verb.forms = lasting(std::move(verb.forms));
  if (korean == "알다") verb.negative = &kDoesNotKnow;
  if (korean == "있다") verb.negative = &kIsNot;
  // 학생이 있는 개 would not be the dog that the student has.
  verb.relative_object = row.particle != Particle::subject;
  return verb;
}

}  // namespace

std::vector<Verb> make_verbs() {
  std::vector<Verb> verbs;
  const auto add = [&](const auto& rows, Frame frame) {
    for (const Row& row : rows) verbs.push_back(verb_of(row, frame));
  };
  add(kTransitive, Frame::transitive);
  add(kIntransitive, Frame::intransitive);
  add(kGive, Frame::give);
  add(kTo, Frame::to);
  add(kFrom, Frame::from);
  add(kLive, Frame::live);
  return verbs;
}

}  // namespace limpid::grammar
