#pragma once
// Korean word forms: syllables taken apart and put together, particles that depend on the last sound, and the
// conjugation of verbs and adjectives with their irregular classes. Text is UTF-8 in composed form (NFC).

#include <string>
#include <string_view>

namespace limpid {

// A syllable by the numbers of its letters in Unicode's order (Unicode 15, section 3.12).
struct Syllable {
  int initial = 0;  // 0 .. 18
  int vowel = 0;    // 0 .. 20
  int final = 0;    // 0 .. 27, 0: none
};

// The last syllable of a word, which must be Hangul.
Syllable last_syllable(std::string_view word);
std::string compose(Syllable syllable);

enum class Particle {
  topic,    // 은 / 는
  subject,  // 이 / 가; 저 -> 제가, 누구 -> 누가
  object,   // 을 / 를
  and_,     // 과 / 와
  by,       // 으로 / 로, also 로 after ㄹ
  than,     // 보다
  of,       // 의
  to,       // 에게, to a person
  at,       // 에
  in,       // 에서
  is,       // 이에요 / 예요
  was,      // 이었어요 / 였어요
};

std::string with_particle(std::string_view word, Particle particle);

// How a stem deviates. ㄹ (만드는), ㅡ (바빠요) and 하다 (해요) follow from the stem itself.
enum class Irregular {
  none,
  p,    // 돕다 도와요, 춥다 추워요
  t,    // 듣다 들어요
  s,    // 짓다 지어요
  leu,  // 고르다 골라요
  h,    // 빨갛다 빨개요 빨간
};

// The forms the grammar needs, each ready to be followed by what stands after the hyphen in the comment.
struct Conjugation {
  std::string stem;         // 읽  -고 -지 -지만
  std::string infinitive;   // 읽어 -요 -야
  std::string past;         // 읽었 -어요 -지만 -던
  std::string present_of;   // 읽는, before a noun; adjectives: 작은
  std::string past_of;      // 읽은, before a noun; adjectives and 있다: 작았던
  std::string prospective;  // 읽을 -거예요 -수; before a noun: what will
};

enum class WordClass { verb, adjective, existence };  // existence: 있다, 없다 and their compounds (맛있다)

// Of a dictionary form: "읽다". Throws Error where it does not end in 다.
Conjugation conjugate(std::string_view dictionary_form, WordClass word_class, Irregular irregular = Irregular::none);

}  // namespace limpid
