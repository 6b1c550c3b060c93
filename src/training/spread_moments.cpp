#include "training/spread_moments.h"

#include <algorithm>

namespace limpid {
namespace {

constexpr const char *kMean = "mean", *kSquare = "square", *kEnd = "end ";

}  // namespace

real* SpreadMoments::gathered(Moment moment) {
  const real* from = own(moment).data();
  for (const NumberRange& slice : optimizer_.owned()) {
    std::copy_n(from, slice.count, gradients_.data() + slice.begin);
    from += slice.count;
  }
  for (int64_t bucket = 0; bucket < partition_.buckets(); ++bucket)
    courier_.post(
        [this, bucket](Communicator& communicator) {
          return communicator.start_gather(gradients_.data() + partition_.bucket(bucket).begin,
                                           partition_.blocks(bucket), 0);
        },
        [] {});
  courier_.finish();
  return gradients_.data();
}

void SpreadMoments::keep(Moment moment) {
  courier_.broadcast(moment == Moment::mean ? kMean : kSquare);
  take(moment);
}

void SpreadMoments::take(Moment moment) {
  courier_.broadcast(std::as_writable_bytes(std::span(gradients_.data(), static_cast<size_t>(partition_.numbers()))));
  real* to = own(moment).data();
  for (const NumberRange& slice : optimizer_.owned()) {
    std::copy_n(gradients_.data() + slice.begin, slice.count, to);
    to += slice.count;
  }
}

std::string SpreadMoments::end(const std::string& text) {
  courier_.broadcast(kEnd + text);
  return text;
}

std::string SpreadMoments::follow() {
  while (true) {
    const std::string text = courier_.broadcast(std::string());
    if (text.starts_with(kEnd)) return text.substr(std::string(kEnd).size());
    take(text == kMean ? Moment::mean : Moment::square);
  }
}

}  // namespace limpid
