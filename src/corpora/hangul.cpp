#include "corpora/hangul.h"

#include "base/error.h"

namespace limpid {
namespace {

constexpr int kFirst = 0xAC00, kVowels = 21, kFinals = 28, kBytes = 3;  // every syllable takes three bytes of UTF-8

// Unicode's numbers of the letters used below.
constexpr int kA = 0, kAe = 1, kYa = 2, kYae = 3, kEo = 4, kE = 5, kYeo = 6, kYe = 7, kO = 8, kWa = 9, kWae = 10,
              kOe = 11, kU = 13, kWo = 14, kEu = 18, kI = 20;
constexpr int kFinalN = 4, kFinalL = 8, kFinalSs = 20;
constexpr int kInitialL = 5, kInitialH = 18;

std::string without_last(std::string_view word) { return std::string(word.substr(0, word.size() - kBytes)); }

std::string with_last(std::string_view word, Syllable syllable) { return without_last(word) + compose(syllable); }

std::string with_final(std::string_view word, int final) {
  Syllable last = last_syllable(word);
  last.final = final;
  return with_last(word, last);
}

bool bright(int vowel) { return vowel == kA || vowel == kYa || vowel == kO; }

// The vowel that a stem's last vowel and 아/어 melt into, or -1 where both stay: 쉬어, 띄어.
int contracted(int vowel) {
  switch (vowel) {
    case kA:
    case kEo:
    case kAe:
    case kE:
    case kYeo:
    case kYe: return vowel;
    case kO: return kWa;
    case kU: return kWo;
    case kI: return kYeo;
    case kOe: return kWae;
    default: return -1;
  }
}

// 쓰 + 어 -> 써, 바쁘 + 아 -> 바빠: ㅡ falls, and the vowel before it decides.
std::string eu_infinitive(std::string_view stem) {
  Syllable last = last_syllable(stem);
  const std::string before = without_last(stem);
  last.vowel = !before.empty() && bright(last_syllable(before).vowel) ? kA : kEo;
  return before + compose(last);
}

// 고르 -> 골라, 부르 -> 불러.
std::string leu_infinitive(std::string_view stem) {
  const std::string before = with_final(without_last(stem), kFinalL);
  return before + compose({kInitialL, bright(last_syllable(before).vowel) ? kA : kEo, 0});
}

// 빨갛 -> 빨개, 하얗 -> 하얘.
std::string h_infinitive(std::string_view stem) {
  Syllable last = last_syllable(stem);
  last.final = 0;
  last.vowel = last.vowel == kA ? kAe : last.vowel == kYa ? kYae : last.vowel == kEo ? kE : kYe;
  return with_last(stem, last);
}

std::string vowel_infinitive(std::string_view stem) {
  Syllable last = last_syllable(stem);
  if (last.initial == kInitialH && last.vowel == kA) return with_last(stem, {kInitialH, kAe, 0});  // 하 -> 해
  if (last.vowel == kEu) return eu_infinitive(stem);
  const int vowel = contracted(last.vowel);
  if (vowel < 0) return std::string(stem) + "어";
  last.vowel = vowel;
  return with_last(stem, last);
}

std::string infinitive_of(std::string_view stem, Irregular irregular) {
  const Syllable last = last_syllable(stem);
  const std::string ending = bright(last.vowel) ? "아" : "어";
  switch (irregular) {
    case Irregular::p: {  // only 돕다 and 곱다 keep the bright vowel
      const std::string_view syllable = stem.substr(stem.size() - kBytes);
      return with_final(stem, 0) + (syllable == "돕" || syllable == "곱" ? "와" : "워");
    }
    case Irregular::t: return with_final(stem, kFinalL) + ending;
    case Irregular::s: return with_final(stem, 0) + ending;  // 지어: the fallen ㅅ keeps the vowels apart
    case Irregular::leu: return leu_infinitive(stem);
    case Irregular::h: return h_infinitive(stem);
    case Irregular::none: break;
  }
  return last.final == 0 ? vowel_infinitive(stem) : std::string(stem) + ending;
}

// The stem before endings that begin with (으): the consonant they attach to (0: none, a vowel), after the irregular
// change.
std::string eu_form(std::string_view stem, Irregular irregular, int consonant, std::string_view after_consonant) {
  switch (irregular) {
    case Irregular::p: return with_final(stem, 0) + compose({11, kU, consonant});  // 추우 + ㄴ -> 추운
    case Irregular::t: return with_final(stem, kFinalL) + std::string(after_consonant);
    case Irregular::s: return with_final(stem, 0) + std::string(after_consonant);
    case Irregular::h: return with_final(stem, consonant);
    default: break;
  }
  const int final = last_syllable(stem).final;
  if (final == 0 || final == kFinalL) return with_final(stem, consonant);
  return std::string(stem) + std::string(after_consonant);
}

}  // namespace

Syllable last_syllable(std::string_view word) {
  check(word.size() >= kBytes, "[hangul] \"{}\" has no last syllable: pass a Korean word", word);
  const auto byte = [&](size_t back) { return static_cast<unsigned char>(word[word.size() - back]); };
  const int code = ((byte(3) & 0x0F) << 12) | ((byte(2) & 0x3F) << 6) | (byte(1) & 0x3F);
  const int index = code - kFirst;
  check((byte(3) & 0xF0) == 0xE0 && index >= 0 && index < 11172,
        "[hangul] \"{}\" does not end in a composed Hangul syllable: is the text NFC?", word);
  return {index / (kVowels * kFinals), index / kFinals % kVowels, index % kFinals};
}

std::string compose(Syllable syllable) {
  const int code = kFirst + (syllable.initial * kVowels + syllable.vowel) * kFinals + syllable.final;
  return {static_cast<char>(0xE0 | (code >> 12)), static_cast<char>(0x80 | ((code >> 6) & 0x3F)),
          static_cast<char>(0x80 | (code & 0x3F))};
}

std::string with_particle(std::string_view word, Particle particle) {
  const int final = last_syllable(word).final;
  const auto either = [&](const char* after_consonant, const char* after_vowel) {
    return std::string(word) + (final != 0 ? after_consonant : after_vowel);
  };
  switch (particle) {
    case Particle::topic: return either("은", "는");
    case Particle::subject:
      if (word == "저") return "제가";
      if (word == "누구") return "누가";
      return either("이", "가");
    case Particle::object: return either("을", "를");
    case Particle::and_: return either("과", "와");
    case Particle::by: return std::string(word) + (final == 0 || final == kFinalL ? "로" : "으로");
    case Particle::than: return either("보다", "보다");
    case Particle::of: return either("의", "의");
    case Particle::to: return either("에게", "에게");
    case Particle::at: return either("에", "에");
    case Particle::in: return either("에서", "에서");
    case Particle::is: return either("이에요", "예요");
    case Particle::was: return either("이었어요", "였어요");
  }
  fail("[hangul] particle {} is none: pass one of the enum", static_cast<int>(particle));
}

Conjugation conjugate(std::string_view dictionary_form, WordClass word_class, Irregular irregular) {
  check(dictionary_form.ends_with("다") && dictionary_form.size() > kBytes,
        "[hangul] \"{}\" is no dictionary form: it must end in 다", dictionary_form);
  const std::string stem = without_last(dictionary_form);
  Conjugation forms;
  forms.stem = stem;
  forms.infinitive = infinitive_of(stem, irregular);
  // The infinitive ends in a vowel that takes ㅆ: 읽어 -> 읽었, 해 -> 했.
  forms.past = with_final(forms.infinitive, kFinalSs);
  forms.prospective = eu_form(stem, irregular, kFinalL, "을");
  const bool drops_l = last_syllable(stem).final == kFinalL;
  const std::string before_noun = eu_form(stem, irregular, kFinalN, "은");
  const std::string ongoing = (drops_l ? with_final(stem, 0) : stem) + "는";
  forms.present_of = word_class == WordClass::adjective ? before_noun : ongoing;
  forms.past_of = word_class == WordClass::verb ? before_noun : forms.past + "던";
  return forms;
}

}  // namespace limpid
