// Persons, animals and the names of persons.

#include "corpora/grammar_tables.h"

namespace limpid::grammar {
namespace {

constexpr NounRow kPersons[] = {
    {"student", "", "학생", kRelated},
    {"teacher", "", "선생님", kRelated},
    {"doctor", "", "의사", kRelated},
    {"nurse", "", "간호사", kRelated},
    {"friend", "", "친구", kRelated},
    {"child", "children", "아이", kRelated | kBorn},
    {"baby", "", "아기", kBorn},
    {"man", "men", "남자", kBorn},
    {"woman", "women", "여자", kBorn},
    {"boy", "", "소년", kBorn},
    {"girl", "", "소녀", kBorn},
    {"farmer", "", "농부"},
    {"chef", "", "요리사"},
    {"singer", "", "가수"},
    {"actor", "", "배우"},
    {"writer", "", "작가"},
    {"painter", "", "화가"},
    {"driver", "", "운전사", kRelated},
    {"pilot", "", "조종사"},
    {"soldier", "", "군인"},
    {"lawyer", "", "변호사", kRelated},
    {"scientist", "", "과학자"},
    {"reporter", "", "기자"},
    {"engineer", "", "기술자"},
    {"neighbor", "", "이웃", kRelated},
    {"guest", "", "손님", kRelated},
    {"tourist", "", "관광객"},
    {"foreigner", "", "외국인"},
    {"customer", "", "고객", kRelated},
    {"professor", "", "교수", kRelated},
    {"dancer", "", "무용수"},
    {"musician", "", "음악가"},
    {"athlete", "", "운동선수"},
    {"king", "", "왕", kBorn},
    {"prince", "", "왕자", kBorn},
    {"princess", "", "공주", kBorn},
    {"merchant", "", "상인"},
    {"fisherman", "fishermen", "어부"},
    {"carpenter", "", "목수"},
    {"judge", "", "판사"},
    {"librarian", "", "사서"},
    {"firefighter", "", "소방관"},
    {"hunter", "", "사냥꾼"},
    {"guide", "", "안내원", kRelated},
    {"cousin", "", "사촌", kRelated},
    {"uncle", "", "삼촌", kRelated | kBorn},
    {"aunt", "", "이모", kRelated | kBorn},
    {"daughter", "", "딸", kRelated | kBorn},
    {"son", "", "아들", kRelated | kBorn},
    {"nephew", "", "조카", kRelated | kBorn},
    {"clerk", "", "점원"},
    {"secretary", "", "비서", kRelated},
    {"barber", "", "이발사"},
    {"poet", "", "시인"},
    {"boss", "", "사장", kRelated},
};

constexpr NounRow kAnimals[] = {
    {"dog", "", "개", kRaised},
    {"cat", "", "고양이", kRaised},
    {"horse", "", "말", kRaised | kCycle},
    {"cow", "", "소", kRaised},
    {"pig", "", "돼지", kRaised},
    {"rabbit", "", "토끼", kRaised},
    {"bird", "", "새", kBird},
    {"mouse", "mice", "쥐"},
    {"bear", "", "곰"},
    {"tiger", "", "호랑이"},
    {"lion", "", "사자"},
    {"elephant", "", "코끼리"},
    {"monkey", "", "원숭이"},
    {"fox", "", "여우"},
    {"wolf", "wolves", "늑대"},
    {"goat", "", "염소", kRaised},
    {"duck", "", "오리", kRaised | kBird},
    {"frog", "", "개구리"},
    {"snake", "", "뱀"},
    {"turtle", "", "거북"},
    {"puppy", "", "강아지", kRaised},
    {"penguin", "", "펭귄"},
    {"squirrel", "", "다람쥐"},
    {"camel", "", "낙타", kRaised},
    {"owl", "", "부엉이", kBird},
};

constexpr NounRow kNames[] = {
    {"Minho", "", "민호"}, {"Jisu", "", "지수"},    {"Yuna", "", "유나"},    {"Sujin", "", "수진"},
    {"Jimin", "", "지민"}, {"Hyunwoo", "", "현우"}, {"Seoyeon", "", "서연"}, {"Dohyun", "", "도현"},
    {"Mina", "", "미나"},  {"Junho", "", "준호"},   {"Eunji", "", "은지"},   {"Minjun", "", "민준"},
    {"Tom", "", "톰"},     {"Anna", "", "안나"},    {"Paul", "", "폴"},      {"Mary", "", "메리"},
};

}  // namespace

std::span<const NounRow> person_rows() { return kPersons; }
std::span<const NounRow> animal_rows() { return kAnimals; }
std::span<const NounRow> name_rows() { return kNames; }

}  // namespace limpid::grammar
