// Things and places, and all nouns together. Each English word has one Korean word; words with and without a final
// consonant are mixed on purpose.

#include "corpora/grammar_tables.h"

namespace limpid::grammar {
namespace {

using C = Counter;

constexpr Kinds kSold = kGoods | kColored, kPlainFood = kFood | kGoods,
                kFruits = kFood | kFruit | kGoods | kWashed | kCutUp;

constexpr NounRow kThings[] = {
    {"apple", "", "사과", kFruits},
    {"banana", "", "바나나", kFruits},
    {"orange", "", "오렌지", kFruits},
    {"peach", "", "복숭아", kFruits},
    {"strawberry", "", "딸기", kFruits},
    {"watermelon", "", "수박", kFruits},
    {"lemon", "", "레몬", kFruits},
    {"melon", "", "멜론", kFruits},
    {"potato", "potatoes", "감자", kPlainFood | kWashed | kCutUp | kWarm | kCooked},
    {"carrot", "", "당근", kPlainFood | kWashed | kCutUp},
    {"onion", "", "양파", kPlainFood | kWashed | kCutUp},
    {"tomato", "tomatoes", "토마토", kFruits},
    {"egg", "", "달걀", kPlainFood | kWashed | kWarm | kCooked},
    {"cake", "", "케이크", kPlainFood | kBaked | kCutUp},
    {"cookie", "", "쿠키", kPlainFood | kBaked},
    {"sandwich", "", "샌드위치", kPlainFood | kCutUp},
    {"bread", "", "빵", kPlainFood | kBaked | kCutUp | kMass},
    {"rice", "", "밥", kFood | kWarm | kMass},
    {"meat", "", "고기", kPlainFood | kBaked | kCutUp | kWarm | kCooked | kMass},
    {"cheese", "", "치즈", kPlainFood | kCutUp | kMass},
    {"soup", "", "수프", kFood | kBoiled | kWarm | kCooked | kMass},
    {"kimchi", "", "김치", kPlainFood | kCutUp | kMass},
    {"chocolate", "", "초콜릿", kPlainFood | kMass},
    {"salad", "", "샐러드", kPlainFood | kMass},
    {"honey", "", "꿀", kPlainFood | kMass},
    {"butter", "", "버터", kPlainFood | kMass},
    {"coffee", "", "커피", kDrink | kGoods | kWarm | kBoiled | kMass, C::jan},
    {"tea", "", "차", kDrink | kGoods | kWarm | kBoiled | kMass, C::jan},
    {"milk", "", "우유", kDrink | kGoods | kWarm | kMass, C::jan},
    {"water", "", "물", kDrink | kWarm | kBoiled | kMass, C::jan},
    {"juice", "", "주스", kDrink | kGoods | kMass, C::jan},
    {"beer", "", "맥주", kDrink | kGoods | kMass, C::jan},
    {"wine", "", "와인", kDrink | kGoods | kMass, C::jan},
    {"book", "", "책", kText | kWritten | kGoods | kDropped, C::gwon},
    {"letter", "", "편지", kText | kWritten | kLengthy | kDropped, C::tong},
    {"newspaper", "", "신문", kText | kGoods | kDropped, C::bu},
    {"magazine", "", "잡지", kText | kGoods, C::gwon},
    {"novel", "", "소설", kText | kWritten | kGoods | kLengthy, C::pyeon},
    {"poem", "", "시", kText | kWritten | kLengthy, C::pyeon},
    {"email", "", "이메일", kText | kWritten | kLengthy, C::tong},
    {"story", "", "이야기", kText | kWritten | kLengthy, C::pyeon},
    {"textbook", "", "교과서", kText | kWritten | kGoods, C::gwon},
    {"dictionary", "", "사전", kText | kGoods, C::gwon},
    {"movie", "", "영화", kShow | kLengthy, C::pyeon},
    {"drama", "", "드라마", kShow | kLengthy, C::pyeon},
    {"photo", "", "사진", kShow | kGoods | kDropped, C::jang},
    {"song", "", "노래", kSound | kSong | kLengthy | kWritten, C::gok},
    {"music", "", "음악", kSound | kStudy | kMass},
    {"shirt", "", "셔츠", kClothes | kLaundry | kSold, C::beol},
    {"coat", "", "코트", kClothes | kLaundry | kSold | kLengthy, C::beol},
    {"dress", "", "드레스", kClothes | kLaundry | kSold | kLengthy, C::beol},
    {"skirt", "", "치마", kClothes | kLaundry | kSold | kLengthy, C::beol},
    {"sweater", "", "스웨터", kClothes | kLaundry | kSold, C::beol},
    {"jacket", "", "재킷", kClothes | kLaundry | kSold, C::beol},
    {"hat", "", "모자", kHeadwear | kSold | kDropped},
    {"mask", "", "가면", kHeadwear | kSold},
    {"helmet", "", "헬멧", kHeadwear | kSold},
    {"crown", "", "왕관", kHeadwear | kGoods},
    {"ring", "", "반지", kRing | kGoods | kDropped},
    {"piano", "", "피아노", kStruck | kSold, C::dae},
    {"guitar", "", "기타", kStruck | kSold, C::dae},
    {"drum", "", "북", kStruck | kGoods},
    {"violin", "", "바이올린", kBowed | kGoods, C::dae},
    {"cello", "", "첼로", kBowed | kGoods, C::dae},
    {"flute", "", "플루트", kBlown | kGoods},
    {"trumpet", "", "트럼펫", kBlown | kGoods},
    {"soccer", "", "축구", kBallGame | kMass},
    {"basketball", "", "농구", kBallGame | kMass},
    {"baseball", "", "야구", kBallGame | kMass},
    {"volleyball", "", "배구", kBallGame | kMass},
    {"tennis", "", "테니스", kRacketGame | kMass},
    {"golf", "", "골프", kRacketGame | kMass},
    {"English", "", "영어", kStudy | kMass},
    {"Korean", "", "한국어", kStudy | kMass},
    {"math", "", "수학", kStudy | kMass},
    {"history", "", "역사", kStudy | kMass},
    {"science", "", "과학", kStudy | kMass},
    {"art", "", "미술", kStudy | kMass},
    {"physics", "", "물리학", kStudy | kMass},
    {"law", "", "법", kStudy | kMass},
    {"bus", "buses", "버스", kTransit | kCar | kFixed, C::dae},
    {"train", "", "기차", kTransit | kFixed, C::dae},
    {"taxi", "", "택시", kTransit | kCar, C::dae},
    {"subway", "", "지하철", kTransit | kMass},
    {"airplane", "", "비행기", kTransit | kFixed, C::dae},
    {"car", "", "자동차", kCar | kSold | kFixed, C::dae},
    {"truck", "", "트럭", kCar | kSold | kFixed, C::dae},
    {"bicycle", "", "자전거", kCycle | kSold | kFixed, C::dae},
    {"motorcycle", "", "오토바이", kCycle | kSold | kFixed, C::dae},
    {"bag", "", "가방", kSold | kOpened | kMoved | kHolder | kDropped},
    {"pen", "", "펜", kSold | kTool | kDropped, C::jaru},
    {"pencil", "", "연필", kSold | kTool | kDropped | kLengthy, C::jaru},
    {"umbrella", "", "우산", kSold},
    {"clock", "", "시계", kSold | kFixed},
    {"key", "", "열쇠", kGoods | kTool | kDropped},
    {"phone", "", "전화기", kSold | kFixed | kDropped, C::dae},
    {"computer", "", "컴퓨터", kSold | kFixed | kTool, C::dae},
    {"camera", "", "카메라", kSold | kFixed | kTool, C::dae},
    {"cup", "", "컵", kSold | kWashed | kBroken},
    {"bottle", "", "병", kGoods | kOpened | kWashed | kBroken},
    {"box", "", "상자", kSold | kOpened | kMoved | kHolder},
    {"basket", "", "바구니", kSold | kMoved | kHolder},
    {"drawer", "", "서랍", kOpened | kHolder},
    {"chair", "", "의자", kSold | kMoved | kSurface},
    {"desk", "", "책상", kSold | kMoved | kSurface},
    {"table", "", "탁자", kSold | kMoved | kSurface},
    {"bed", "", "침대", kSold | kMoved | kSurface},
    {"sofa", "", "소파", kSold | kMoved | kSurface},
    {"door", "", "문", kOpened | kColored},
    {"window", "", "창문", kOpened | kBroken},
    {"mirror", "", "거울", kGoods | kBroken},
    {"ticket", "", "표", kGoods | kDropped, C::jang},
    {"map", "", "지도", kGoods | kTool, C::jang},
    {"knife", "knives", "칼", kGoods | kTool | kBlade | kWashed, C::jaru},
    {"spoon", "", "숟가락", kGoods | kTool | kWashed},
    {"fork", "", "포크", kGoods | kTool | kWashed},
    {"gift", "", "선물", kGoods},
    {"toy", "", "장난감", kSold | kFixed | kDropped},
    {"ball", "", "공", kSold | kThrown | kDropped},
    {"stone", "", "돌", kThrown | kDropped},
    {"flower", "", "꽃", kSold, C::songi},
    {"tree", "", "나무", 0, C::gru},
    {"doll", "", "인형", kSold},
    {"wallet", "", "지갑", kSold | kDropped},
    {"towel", "", "수건", kSold | kTool | kLaundry, C::jang},
    {"blanket", "", "담요", kSold | kLaundry, C::jang},
    {"lamp", "", "램프", kSold | kFixed | kBroken},
    {"rope", "", "밧줄", kGoods | kLengthy | kTool},
};

constexpr PlaceRow kPlaces[] = {
    {"school", "학교", "at", kBuilt | kSurroundings},
    {"library", "도서관", "in", kBuilt | kSurroundings},
    {"hospital", "병원", "in", kBuilt},
    {"park", "공원", "in", kSurroundings},
    {"market", "시장", "at", kSurroundings},
    {"restaurant", "식당", "in", kSurroundings},
    {"bank", "은행", "at"},
    {"museum", "박물관", "in", kBuilt},
    {"station", "역", "at"},
    {"airport", "공항", "at", kBuilt},
    {"house", "집", "in", kBuilt | kCleaned, C::chae},
    {"office", "사무실", "in", kCleaned | kSurroundings},
    {"factory", "공장", "in", kBuilt},
    {"church", "교회", "in", kBuilt},
    {"hotel", "호텔", "in", kBuilt},
    {"beach", "해변", "on", kSurroundings},
    {"mountain", "산", "on", kMountain},
    {"village", "마을", "in", kSurroundings},
    {"farm", "농장", "on"},
    {"garden", "정원", "in"},
    {"kitchen", "부엌", "in", kCleaned},
    {"classroom", "교실", "in", kCleaned | kSurroundings},
    {"theater", "극장", "in", kBuilt},
    {"bookstore", "서점", "in"},
    {"bakery", "빵집", "in"},
    {"zoo", "동물원", "at"},
    {"cafe", "카페", "in", kSurroundings},
    {"gym", "체육관", "in", kCleaned},
    {"temple", "절", "in", kBuilt | kSurroundings},
    {"forest", "숲", "in"},
    {"island", "섬", "on"},
    {"stadium", "경기장", "at", kBuilt},
    {"pharmacy", "약국", "at"},
};

constexpr PlaceRow kCities[] = {
    {"Seoul", "서울", "in"},  {"Busan", "부산", "in"}, {"Jeju", "제주", "in"},  {"Paris", "파리", "in"},
    {"London", "런던", "in"}, {"Tokyo", "도쿄", "in"}, {"Korea", "한국", "in"}, {"Rome", "로마", "in"},
};

struct PronounRow {
  const char *subject, *object, *korean;
  bool first, plural;
};
constexpr PronounRow kPronouns[] = {
    {"I", "me", "저", true, false},       {"we", "us", "우리", true, true},      {"he", "him", "그", false, false},
    {"she", "her", "그녀", false, false}, {"they", "them", "그들", false, true},
};

std::string plural_of(const std::string& noun) {
  const auto ends = [&](const char* end) { return noun.ends_with(end); };
  if (ends("s") || ends("x") || ends("ch") || ends("sh")) return noun + "es";
  if (ends("y") && std::string_view("aeiou").find(noun[noun.size() - 2]) == std::string_view::npos)
    return noun.substr(0, noun.size() - 1) + "ies";
  return noun + "s";
}

Noun noun_of(const NounRow& row, Kinds more, Counter counter) {
  Noun noun{.english = row.english,
            .plural = row.plural,
            .korean = row.korean,
            .kinds = row.kinds | more,
            .counter = counter};
  if (noun.plural.empty()) noun.plural = plural_of(noun.english);
  return noun;
}

}  // namespace

std::vector<Noun> make_nouns() {
  std::vector<Noun> nouns;
  for (const NounRow& row : person_rows()) nouns.push_back(noun_of(row, kPerson, C::myeong));
  for (const NounRow& row : animal_rows()) nouns.push_back(noun_of(row, kAnimal, C::mari));
  for (const NounRow& row : kThings) nouns.push_back(noun_of(row, 0, row.counter));
  for (const NounRow& row : name_rows()) nouns.push_back(noun_of(row, kPerson | kName, C::myeong));
  const auto add_place = [&](const PlaceRow& row, Kinds more) {
    nouns.push_back(noun_of({row.english, "", row.korean, row.kinds}, more, row.counter));
    nouns.back().preposition = row.preposition;
  };
  for (const PlaceRow& row : kPlaces) add_place(row, kPlace);
  for (const PlaceRow& row : kCities) add_place(row, kCity | kName);
  for (const PronounRow& row : kPronouns) {
    nouns.push_back(noun_of({row.subject, row.subject, row.korean, kPerson | kPronoun}, 0, C::myeong));
    nouns.back().object_form = row.object;
    nouns.back().first_person = row.first;
    nouns.back().plural_only = row.plural;
  }
  return nouns;
}

}  // namespace limpid::grammar
