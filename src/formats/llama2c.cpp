#include "formats/llama2c.h"

#include <cstring>
#include <vector>

#include "base/error.h"
#include "base/parallel.h"

namespace limpid {
namespace {

constexpr int64_t kMostPerSize = 1 << 24;

}  // namespace

Llama2cFile::Llama2cFile(const std::filesystem::path& path) : file_(path) {
  read_header();
  read_parts();
}

void Llama2cFile::wrong(const std::string& what) const {
  fail("[llama2.c] {}: {}: is it a whole model of llama2.c?", file_.path().string(), what);
}

void Llama2cFile::read_header() {
  const auto bytes = file_.bytes();
  const auto number = [&](size_t at) {
    int32_t value = 0;
    if (at + sizeof value > bytes.size()) wrong("ends within its header");
    std::memcpy(&value, bytes.data() + at, sizeof value);
    return value;
  };
  constexpr int32_t magic = 0x616b3432;  // "ak42"
  const bool headed = number(0) == magic;
  version_ = headed ? number(4) : 0;
  if (headed && version_ != 1 && version_ != 2)
    wrong(fmt::format("is of version {}; Limpid reads 0, 1 and 2", version_));
  const size_t sizes = headed ? 8 : 0;
  width_ = number(sizes);
  ffn_ = number(sizes + 4);
  layers_ = number(sizes + 8);
  heads_ = number(sizes + 12);
  kv_heads_ = number(sizes + 16);
  vocab_ = number(sizes + 20);
  positions_ = number(sizes + 24);
  constexpr size_t header = 256;  // of versions 1 and 2
  if (headed && bytes.size() < header) wrong("ends within its header");
  tied_ = headed ? static_cast<uint8_t>(bytes[36]) != 0 : vocab_ > 0;
  if (!headed) vocab_ = std::abs(vocab_);
  for (const int64_t size : {width_, ffn_, layers_, heads_, kv_heads_, vocab_, positions_})
    if (size < 1 || size > kMostPerSize) wrong(fmt::format("its header says a size of {}", size));
  if (width_ % heads_ != 0 || heads_ % kv_heads_ != 0 || width_ / heads_ % 2 != 0)
    wrong(fmt::format("{} numbers in {} heads with {} of keys do not fit", width_, heads_, kv_heads_));
  if (version_ == 2) {
    group_ = number(37);
    // A matrix is cut into groups as one row of numbers.
    const int64_t keys = width_ / heads_ * kv_heads_ * width_;
    if (group_ < 1 || width_ * width_ % group_ != 0 || keys % group_ != 0 || ffn_ * width_ % group_ != 0 ||
        vocab_ * width_ % group_ != 0)
      wrong(fmt::format("groups of {} do not fit", group_));
  }
  at_ = headed ? header : 28;
}

void Llama2cFile::skip(int64_t numbers) {
  const uint64_t bytes = static_cast<uint64_t>(numbers) * sizeof(float);
  if (at_ > file_.bytes().size() || bytes > file_.bytes().size() - at_)
    wrong(fmt::format("has {}, its sizes ask for more", bytes_text(file_.bytes().size())));
  at_ += bytes;
}

void Llama2cFile::add(const std::string& name, int64_t layers, int64_t count, bool grouped) {
  for (int64_t layer = 0; layer < layers; ++layer) {
    const size_t begin = at_;
    if (grouped) {
      if (at_ > file_.bytes().size() || static_cast<uint64_t>(count) > file_.bytes().size() - at_)
        skip(count);  // says what is wrong
      at_ += static_cast<size_t>(count);
      skip(count / group_);
    } else {
      skip(count);
    }
    parts_[fmt::format(fmt::runtime(name), layer)] = {count, file_.bytes().data() + begin, grouped};
  }
}

void Llama2cFile::read_parts() {
  const int64_t head = width_ / heads_, keys = kv_heads_ * head;
  const bool grouped = version_ == 2;
  const std::string layer = "model.layers.{}.";
  const auto attention_norms = [&] { add(layer + "input_layernorm.weight", layers_, width_); };
  const auto ffn_norms = [&] { add(layer + "post_attention_layernorm.weight", layers_, width_); };
  const auto final_norm = [&] { add("model.norm.weight", 1, width_); };
  const auto embedding = [&] { add("model.embed_tokens.weight", 1, vocab_ * width_, grouped); };
  const auto attention = [&] {
    add(layer + "self_attn.q_proj.weight", layers_, width_ * width_, grouped);
    add(layer + "self_attn.k_proj.weight", layers_, keys * width_, grouped);
    add(layer + "self_attn.v_proj.weight", layers_, keys * width_, grouped);
    add(layer + "self_attn.o_proj.weight", layers_, width_ * width_, grouped);
  };
  const auto feed_forward = [&] {
    for (const char* name : {"mlp.gate_proj.weight", "mlp.down_proj.weight", "mlp.up_proj.weight"})
      add(layer + name, layers_, ffn_ * width_, grouped);
  };
  if (version_ == 0) {
    embedding();
    attention_norms();
    attention();
    ffn_norms();
    feed_forward();
    final_norm();
    skip(positions_ * head);  // sines and cosines of the positions, which are computed here
  } else {
    attention_norms();
    ffn_norms();
    final_norm();
    embedding();
    attention();
    feed_forward();
  }
  if (!tied_) add("lm_head.weight", 1, vocab_ * width_, grouped);
  if (at_ != file_.bytes().size())
    wrong(fmt::format("has {}, its sizes ask for {}", bytes_text(file_.bytes().size()), bytes_text(at_)));
}

Config Llama2cFile::config() const {
  return parse_config({{"model_type", "llama"},
                       {"vocab_size", vocab_},
                       {"hidden_size", width_},
                       {"intermediate_size", ffn_},
                       {"num_hidden_layers", layers_},
                       {"num_attention_heads", heads_},
                       {"num_key_value_heads", kv_heads_},
                       {"max_position_embeddings", positions_},
                       {"rms_norm_eps", 1e-5},
                       {"rope_theta", 10000.0},
                       {"tie_word_embeddings", tied_},
                       {"bos_token_id", 1},
                       {"eos_token_id", 2}});
}

const Llama2cFile::Part& Llama2cFile::part(const Weight& weight) const {
  const auto found = parts_.find(weight.name);  // by the name of Hugging Face
  if (found == parts_.end() || found->second.count != weight.size()) wrong("lacks " + weight.name);
  return found->second;
}

void Llama2cFile::read_part(const Part& part, real* out) const {
  if (!part.grouped) return to_real(DType::f32, part.bytes, part.count, out);
  const auto* integers = reinterpret_cast<const int8_t*>(part.bytes);
  const std::byte* scales = part.bytes + part.count;
  parallel_ranges(part.count / group_, 1024, [&](int64_t begin, int64_t end) {
    for (int64_t group = begin; group < end; ++group) {
      float factor = 0;
      std::memcpy(&factor, scales + group * static_cast<int64_t>(sizeof factor), sizeof factor);
      for (int64_t i = group * group_; i < (group + 1) * group_; ++i)
        out[i] = static_cast<real>(static_cast<float>(integers[i]) * factor);
    }
  });
}

void Llama2cFile::attach(Model& model, WeightHolder& holder) const {
  const int64_t head = width_ / heads_;
  model.visit_parameters([&](Weight& weight) {
    const Part& one = part(weight);
    const bool turned =
        weight.name.find("q_proj") != std::string::npos || weight.name.find("k_proj") != std::string::npos;
    if (!one.grouped && !turned) return holder.point(weight, DType::f32, one.bytes);
    real* ours = holder.make_reals(weight);
    if (!turned) return read_part(one, ours);
    std::vector<real> theirs(static_cast<size_t>(one.count));
    read_part(one, theirs.data());
    copy_adjacent_pairs(reinterpret_cast<const std::byte*>(theirs.data()), weight.shape[0],
                        weight.shape[1] * static_cast<int64_t>(sizeof(real)), head, reinterpret_cast<std::byte*>(ours));
  });
}

}  // namespace limpid
