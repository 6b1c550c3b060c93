#include "layers/attention.h"

#include <algorithm>

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

}  // namespace

Attention::Attention(const AttentionNames& names, const AttentionOptions& options) : options_(options) {
  const int64_t q_size = options.shape.heads * options.shape.head_size,
                kv_size = options.shape.kv_heads * options.shape.head_size;
  const LinearOptions projection{Part::attention, options.bias, options.layout, options.initial};
  if (options.cross) {
    q_ = Linear(options.width, {{names.qkv[0], q_size}}, projection);
    kv_ = Linear(options.width, {{names.qkv[1], kv_size}, {names.qkv[2], kv_size}}, projection);
  } else if (names.qkv.size() == 1) {
    qkv_ = Linear(options.width, {{names.qkv[0], q_size + 2 * kv_size}}, projection);
  } else {
    qkv_ =
        Linear(options.width, {{names.qkv[0], q_size}, {names.qkv[1], kv_size}, {names.qkv[2], kv_size}}, projection);
  }
  output_ = Linear(q_size, {{names.output, options.width}},
                   {Part::attention, options.bias, options.layout, options.initial_output});
}

Tensor Attention::forward(Run& run, const Tensor& x, const Stream& stream) const {
  const AttentionShape& shape = options_.shape;
  const int64_t q_size = shape.heads * shape.head_size, kv_size = shape.kv_heads * shape.head_size;
  const Sequences& tokens = stream.sequences;
  const Tensor qkv = qkv_.forward(run, x);  // (tokens, (H + 2·KV)·D)
  Tensor q = run.tap("q", qkv.columns(0, q_size), {&tokens, nullptr, shape.heads});
  Tensor k = run.tap("k", qkv.columns(q_size, kv_size), {&tokens, nullptr, shape.kv_heads});
  const Tensor v = run.tap("v", qkv.columns(q_size + kv_size, kv_size), {&tokens, nullptr, shape.kv_heads});
  if (options_.rope_theta > 0) {
    q = turn(run, q, stream, "rot_q", shape.heads);
    k = turn(run, k, stream, "rot_k", shape.kv_heads);
  }
  if (!run.cache()) return attend(run, q, k, v, {shape, tokens, tokens});
  auto& entries = run.cache()->layer(options_.cache_layer);
  check_count(entries, tokens);
  for (int64_t i = 0; i < tokens.count(); ++i) append(entries[i], k, v, tokens, i);
  if (keeps_pairs(run))
    for (auto& entry : entries) entry.put_in_order();
  return attend(run, q, k, v, {shape, tokens, cached_keys(entries), &entries});
}

Tensor Attention::forward(Run& run, const Tensor& x, const Stream& stream, const Tensor& memory,
                          const Sequences& memory_sequences) const {
  const AttentionShape& shape = options_.shape;
  const int64_t kv_size = shape.kv_heads * shape.head_size;
  const Tensor q = run.tap("q", q_.forward(run, x), {&stream.sequences, nullptr, shape.heads});
  Tensor k, v;
  auto project_memory = [&] {
    const Tensor kv = kv_.forward(run, memory);  // (memory tokens, 2·KV·D)
    k = run.tap("k", kv.columns(0, kv_size), {&memory_sequences, nullptr, shape.kv_heads});
    v = run.tap("v", kv.columns(kv_size, kv_size), {&memory_sequences, nullptr, shape.kv_heads});
  };
  if (!run.cache()) {
    project_memory();
    return attend(run, q, k, v, {shape, stream.sequences, memory_sequences});
  }
  auto& entries = run.cache()->layer(options_.cache_layer);
  if (!memory.empty()) {
    check_count(entries, memory_sequences);
    auto is_new = [](const KeyValueCache::Entry& entry) { return entry.count() == 0; };
    if (std::any_of(entries.begin(), entries.end(), is_new)) project_memory();
    for (int64_t i = 0; i < memory_sequences.count(); ++i)
      if (is_new(entries[i])) append(entries[i], k, v, memory_sequences, i);
  }
  return attend(run, q, k, v, {shape, stream.sequences, cached_keys(entries), &entries});
}

Tensor Attention::attend(Run& run, const Tensor& q, const Tensor& k, const Tensor& v,
                         const AttentionBatch& batch) const {
  const Tensor z =
      run.tap("z", attention(run, q, k, v, batch, options_.dropout), {&batch.queries, nullptr, batch.shape.heads});
  return output_.forward(run, z);
}

Tensor Attention::turn(Run& run, const Tensor& x, const Stream& stream, const char* tap, int64_t heads) const {
  const Tensor turned = rotary(run, x, stream.positions, options_.shape.head_size, options_.rope_theta);
  return run.tap(tap, turned, {&stream.sequences, nullptr, heads});
}

void Attention::visit(const WeightVisitor& visitor) {
  qkv_.visit(visitor);
  q_.visit(visitor);
  kv_.visit(visitor);
  output_.visit(visitor);
}

}  // namespace limpid
