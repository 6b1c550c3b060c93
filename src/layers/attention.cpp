#include "layers/attention.h"

#include <algorithm>
#include <numeric>

namespace limpid {
namespace {

Sequences cached_keys(const std::vector<KeyValueCache::Entry>& entries) {
  std::vector<int64_t> lengths;
  for (const auto& entry : entries) lengths.push_back(entry.count());
  return Sequences(lengths);
}

void check_count(const std::vector<KeyValueCache::Entry>& entries, const Sequences& sequences) {
  check(static_cast<int64_t>(entries.size()) == sequences.count(), "[attention] a cache for {} sequences meets {}",
        entries.size(), sequences.count());
}

void append(KeyValueCache::Entry& entry, const Tensor& k, const Tensor& v, const Sequences& sequences, int64_t i) {
  entry.append(k.values().rows_from(sequences.begin(i), sequences.length(i)),
               v.values().rows_from(sequences.begin(i), sequences.length(i)));
}

using Rows = std::vector<int32_t>;

bool pairs_neighbours(const AttentionOptions& options) { return options.rope && options.rope->interleaved; }

// The rows of `heads` heads in the file: number i of a head's turned ones is at 2i where the file pairs neighbours.
Rows head_rows(const AttentionOptions& options, int64_t heads) {
  const int64_t size = options.shape.head_size;
  const int64_t turned = pairs_neighbours(options) ? options.rope->turned(size) : 0;
  Rows rows;
  for (int64_t row = 0; row < heads * size; ++row) {
    const int64_t i = row % size;
    const int64_t at = i >= turned ? i : i < turned / 2 ? 2 * i : 2 * (i - turned / 2) + 1;
    rows.push_back(static_cast<int32_t>(row - i + at));
  }
  return rows;
}

// None where the file has the same order: most do, and the rows of a large model are many.
std::shared_ptr<const Rows> heads_in_file(const AttentionOptions& options, int64_t heads) {
  return pairs_neighbours(options) ? std::make_shared<const Rows>(head_rows(options, heads)) : nullptr;
}

// The file has for each head of keys: its queries, itself, its values. Ours: all queries, all keys, all values.
Rows grouped_rows(const AttentionOptions& options) {
  const AttentionShape& shape = options.shape;
  const int64_t size = shape.head_size, each = shape.heads / shape.kv_heads, group = (each + 2) * size;
  const Rows order = head_rows(options, 1);
  Rows rows;
  const auto add = [&](int64_t first, bool turned) {
    for (int64_t i = 0; i < size; ++i) rows.push_back(static_cast<int32_t>(first + (turned ? order[i] : i)));
  };
  for (int64_t h = 0; h < shape.heads; ++h) add(h / each * group + h % each * size, true);
  for (int64_t h = 0; h < shape.kv_heads; ++h) add(h * group + each * size, true);
  for (int64_t h = 0; h < shape.kv_heads; ++h) add(h * group + (each + 1) * size, false);
  return rows;
}

}  // namespace

Attention::Attention(const AttentionNames& names, const AttentionOptions& options) : options_(options) {
  const AttentionShape& shape = options.shape;
  const int64_t q_size = shape.heads * shape.head_size, kv_size = shape.kv_heads * shape.head_size;
  const LinearOptions projection{ParameterRole::attention, options.bias, options.layout, options.initial};
  if (options.cross) {
    q_ = Linear(options.width, {{names.qkv[0], q_size}}, projection);
    kv_ = Linear(options.width, {{names.qkv[1], kv_size}, {names.qkv[2], kv_size}}, projection);
  } else if (names.qkv.size() == 1) {
    const auto rows = options.fused_by_heads ? std::make_shared<const Rows>(grouped_rows(options)) : nullptr;
    qkv_ = Linear(options.width, {{.name = names.qkv[0], .size = q_size + 2 * kv_size, .file_rows = rows}}, projection);
  } else {
    qkv_ = Linear(options.width,
                  {{.name = names.qkv[0], .size = q_size, .file_rows = heads_in_file(options, shape.heads)},
                   {.name = names.qkv[1], .size = kv_size, .file_rows = heads_in_file(options, shape.kv_heads)},
                   {names.qkv[2], kv_size}},
                  projection);
  }
  output_ = Linear(q_size, {{names.output, options.width}},
                   {ParameterRole::attention, options.output_bias, options.layout, options.initial_output});
  if (options.qk_norm && !options.cross) {
    const auto norm = [&](const std::string& name, int64_t heads) {
      NormOptions of_heads = *options.qk_norm;
      of_heads.parts = options.norm_heads ? heads : 1;
      return Norm(name, heads * shape.head_size / of_heads.parts, of_heads);
    };
    q_norm_ = norm(names.q_norm, shape.heads);
    k_norm_ = norm(names.k_norm, shape.kv_heads);
  }
  if (options.rope && !options.cross) rope_ = Rope(*options.rope, shape.head_size);
}

Tensor Attention::forward(Run& run, const Tensor& x, const TokenLayout& layout) const {
  const AttentionShape& shape = options_.shape;
  const int64_t q_size = shape.heads * shape.head_size, kv_size = shape.kv_heads * shape.head_size;
  const Sequences& tokens = layout.sequences;
  const Tensor qkv = qkv_.forward(run, x);  // (tokens, (H + 2·KV)·D)
  Tensor q = run.tap("q", qkv.columns(0, q_size), {&tokens, nullptr, shape.heads});
  Tensor k = run.tap("k", qkv.columns(q_size, kv_size), {&tokens, nullptr, shape.kv_heads});
  Tensor v = run.tap("v", qkv.columns(q_size + kv_size, kv_size), {&tokens, nullptr, shape.kv_heads});
  q = prepare(run, std::move(q), layout, "q", q_norm_, shape.heads);
  k = prepare(run, std::move(k), layout, "k", k_norm_, shape.kv_heads);
  if (options_.clip > 0) v = clip(run, v, options_.clip);
  if (!run.cache()) return attend(run, q, k, v, {shape, tokens, tokens, nullptr, layout.bias, layout.bias_zero});
  auto& entries = run.cache()->layer(options_.cache_layer);
  check_count(entries, tokens);
  for (int64_t i = 0; i < tokens.count(); ++i) {
    turn_on(entries[i], entries[i].count() + tokens.length(i));
    append(entries[i], k, v, tokens, i);
  }
  if (keeps_pairs(run))
    for (auto& entry : entries) entry.compact();
  return attend(run, q, k, v, {shape, tokens, cached_keys(entries), &entries, layout.bias, layout.bias_zero});
}

Tensor Attention::forward(Run& run, const Tensor& x, const TokenLayout& layout, const Tensor& memory,
                          const Sequences& memory_sequences) const {
  const AttentionShape& shape = options_.shape;
  const int64_t kv_size = shape.kv_heads * shape.head_size;
  const Tensor q = run.tap("q", q_.forward(run, x), {&layout.sequences, nullptr, shape.heads});
  Tensor k, v;
  auto project_memory = [&] {
    const Tensor kv = kv_.forward(run, memory);  // (memory tokens, 2·KV·D)
    k = run.tap("k", kv.columns(0, kv_size), {&memory_sequences, nullptr, shape.kv_heads});
    v = run.tap("v", kv.columns(kv_size, kv_size), {&memory_sequences, nullptr, shape.kv_heads});
  };
  if (!run.cache()) {
    project_memory();
    return attend(run, q, k, v, {shape, layout.sequences, memory_sequences});
  }
  auto& entries = run.cache()->layer(options_.cache_layer);
  if (!memory.empty()) {
    check_count(entries, memory_sequences);
    auto is_new = [](const KeyValueCache::Entry& entry) { return entry.count() == 0; };
    if (std::any_of(entries.begin(), entries.end(), is_new)) project_memory();
    for (int64_t i = 0; i < memory_sequences.count(); ++i)
      if (is_new(entries[i])) append(entries[i], k, v, memory_sequences, i);
  }
  return attend(run, q, k, v, {shape, layout.sequences, cached_keys(entries), &entries});
}

Tensor Attention::attend(Run& run, const Tensor& q, const Tensor& k, const Tensor& v,
                         const AttentionBatch& batch) const {
  const Tensor z =
      run.tap("z", attention(run, q, k, v, batch, options_.dropout), {&batch.queries, nullptr, batch.shape.heads});
  return output_.forward(run, z);
}

Tensor Attention::prepare(Run& run, Tensor x, const TokenLayout& layout, const char* name,
                          const std::optional<Norm>& norm, int64_t heads) const {
  if (options_.clip > 0) x = clip(run, x, options_.clip);
  if (norm) x = norm->forward(run, x, std::string(name) + "_norm", layout.sequences);
  if (rope_.none()) return x;
  const Tensor turned = rotary(run, x, layout.positions, rotations(layout));
  return run.tap(std::string("rot_") + name, turned, {&layout.sequences, nullptr, heads});
}

std::vector<RotatedRows> Attention::rotations(const TokenLayout& layout) const {
  const Sequences& tokens = layout.sequences;
  if (!rope_.by_length()) return {{tokens.tokens(), rope_.rotation(0)}};
  std::vector<RotatedRows> parts;
  for (int64_t i = 0; i < tokens.count(); ++i) {
    const int64_t count = tokens.length(i);
    const int64_t length = count == 0 ? 0 : layout.positions[tokens.begin(i) + count - 1] + 1;
    parts.push_back({count, rope_.rotation(length)});
  }
  return parts;
}

void Attention::turn_on(KeyValueCache::Entry& entry, int64_t length) const {
  const int64_t count = entry.count();
  if (count == 0 || rope_.none() || !rope_.differs(count, length)) return;
  entry.compact();
  Rotation difference = *rope_.rotation(length);
  const auto before = rope_.rotation(count);
  for (size_t i = 0; i < difference.frequencies.size(); ++i) difference.frequencies[i] -= before->frequencies[i];
  difference.factor /= before->factor;
  std::vector<int32_t> positions(count);
  std::iota(positions.begin(), positions.end(), 0);
  const ConstMatrix keys = entry.keys(), values = entry.values();
  std::vector<real> turned(keys.size()), kept;
  kernels::rotary(keys, positions.data(), difference, false, {turned.data(), count, keys.cols}, false);
  for (int64_t i = 0; i < count; ++i) kept.insert(kept.end(), values.row(i), values.row(i) + values.cols);
  const ConstMatrix new_keys(turned.data(), count, keys.cols), same_values(kept.data(), count, values.cols);
  entry.shorten(0);
  entry.append(new_keys, same_values);
}

void Attention::visit(const WeightVisitor& visitor) {
  qkv_.visit(visitor);
  q_.visit(visitor);
  kv_.visit(visitor);
  output_.visit(visitor);
  if (q_norm_) q_norm_->visit(visitor);
  if (k_norm_) k_norm_->visit(visitor);
}

}  // namespace limpid
