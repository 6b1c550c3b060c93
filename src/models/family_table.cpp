#include "models/family_table.h"

#include <fmt/format.h>

namespace limpid {

const std::vector<FamilyRow>& family_table() {
  static const std::vector<FamilyRow> table = {
      {"bert", "BERT, MiniLM, BGE, E5, GTE", "encoder",
       "post-norm, learned positions, segments; any class: with words, labels, pooler or nothing at its end",
       "bert-base, -no-pooler, -position-ids, -mlm, -classifier"},
      {"distilbert", "DistilBERT", "encoder", "BERT without segments and pooler", "distilbert-base, -mlm"},
      {"roberta", "RoBERTa", "encoder", "positions begin behind the padding token", "roberta-base, -mlm"},
      {"xlm-roberta", "XLM-RoBERTa, multilingual E5, BGE-M3", "encoder", "as RoBERTa", "xlm-roberta-base, -mlm"},
      {"camembert", "CamemBERT", "encoder", "as RoBERTa", ""},
      {"mpnet", "MPNet, all-mpnet-base-v2", "encoder", "relative buckets shared by all layers, besides positions",
       "mpnet-base"},
      {"modernbert", "ModernBERT", "encoder",
       "pre-norm, local and global layers with their own rotary bases, fused projections", "modernbert-base, -mlm"},
      {"gpt2", "GPT-2", "language model", "learned positions, one matrix for query, key and value",
       "gpt2-base, -lm, -inverse-layer"},
      {"gpt_neo", "GPT-Neo", "language model", "scores without scale, a window in every second layer", "gpt_neo"},
      {"gptj", "GPT-J", "language model",
       "parallel blocks on one norm, a part of each head turned, pairs of neighbours", "gptj"},
      {"gpt_neox", "GPT-NeoX, Pythia", "language model",
       "parallel blocks on two norms or in sequence, a quarter of each head turned", "gpt_neox, -sequential"},
      {"opt", "OPT", "language model", "positions with an offset, pre- or post-norm, narrow token vectors projected",
       "opt, -post-norm"},
      {"bloom", "BLOOM", "language model", "ALiBi, a norm on the embedding", "bloom"},
      {"falcon", "Falcon", "language model", "one key for all heads, grouped keys, or ALiBi", "falcon-7b, -40b, -rw"},
      {"llama", "Llama 1 to 3.x, SmolLM 1 and 2, TinyLlama", "language model",
       "RMS norm, rotary positions, grouped keys, gated; linear, dynamic, llama3, yarn and longrope stretching",
       "llama-bias, -head-dim, -rope-linear, -dynamic, -llama3, -yarn, -parameters"},
      {"mistral", "Mistral", "language model", "Llama in a window", "mistral"},
      {"mixtral", "Mixtral", "language model", "Mistral with a mixture of experts", "mixtral"},
      {"qwen2", "Qwen 2 and 2.5", "language model", "biases of query, key and value; later layers may have a window",
       "qwen2, -untied, -window"},
      {"qwen2_moe", "Qwen 1.5 and 2 MoE", "language model", "experts and one that all tokens share", "qwen2_moe"},
      {"qwen3", "Qwen 3", "language model", "norms of each query and key", "qwen3, -rope-parameters"},
      {"qwen3_moe", "Qwen 3 MoE", "language model", "Qwen 3 with a mixture of experts", "qwen3_moe"},
      {"gemma", "Gemma", "language model", "gains 1 + w, embeddings times the root of the width", "gemma"},
      {"gemma2", "Gemma 2", "language model", "four norms, caps on scores and logits, a window in every second layer",
       "gemma2"},
      {"gemma3_text", "Gemma 3 (text)", "language model",
       "norms of each query and key, local and global layers with their own rotary bases",
       "gemma3-text, -layer-types, -rope-parameters"},
      {"phi", "Phi 1, 1.5, 2", "language model", "parallel blocks on one norm, a part of each head turned", "phi"},
      {"phi3", "Phi 3, 3.5, 4, 4-mini", "language model", "fused projections, longrope", "phi3, -longrope, phi4-mini"},
      {"smollm3", "SmolLM 3", "language model", "some layers without positions", "smollm3"},
      {"olmo", "OLMo", "language model", "norms without weights, clipped queries, keys and values", "olmo"},
      {"olmo2", "OLMo 2", "language model", "norms behind the sub-layers and of all of query and key", "olmo2"},
      {"granite", "Granite 3", "language model", "factors on embedding, scores, residuals and logits", "granite"},
      {"starcoder2", "StarCoder 2", "language model", "layer norm, biases, a plain feed-forward network, a window",
       "starcoder2"},
      {"stablelm", "StableLM", "language model", "layer norm, a quarter of each head turned", "stablelm"},
      {"cohere", "Command R", "language model",
       "parallel blocks on one norm without bias, pairs of neighbours, a factor on logits", "cohere"},
      {"marian", "Marian, OPUS-MT", "encoder-decoder", "post-norm, sinusoidal positions", "marian"},
      {"pegasus", "Pegasus", "encoder-decoder", "pre-norm, sinusoidal positions", "pegasus"},
      {"bart", "BART", "encoder-decoder", "post-norm, learned positions, a norm on the embedding", "bart"},
      {"mbart", "mBART, mBART-50", "encoder-decoder", "BART, pre-norm; language tokens", "mbart"},
      {"m2m_100", "M2M-100, NLLB", "encoder-decoder", "pre-norm, sinusoidal positions; language tokens", "m2m_100"},
      {"t5", "T5, Flan-T5, sentence-T5", "encoder-decoder",
       "relative buckets, RMS norm, no biases; the encoder alone too", "t5, t5-encoder, flan-t5"},
      {"mt5", "mT5", "encoder-decoder", "as T5, gated", "mt5"},
      {"rnn_seq2seq", "our own", "recurrent encoder-decoder", "GRU or LSTM, with additive attention or none", ""},
  };
  return table;
}

std::optional<Family> family_of(std::string_view model_type) {
  for (const FamilyRow& row : family_table()) {
    if (row.model_type != model_type) continue;
    if (row.kind == "encoder") return Family::encoder;
    if (row.kind == "language model") return Family::language_model;
    return row.kind == "encoder-decoder" ? Family::seq2seq : Family::rnn_seq2seq;
  }
  return {};
}

std::string family_markdown(FamilyAbilities (*abilities)(std::string_view model_type)) {
  std::string text =
      "| model_type | models | what is its own | run | train | look | quantise | GGUF in | GGUF out | HF out | agrees "
      "with |\n"
      "|---|---|---|---|---|---|---|---|---|---|---|\n";
  for (const FamilyRow& row : family_table()) {
    const FamilyAbilities can = abilities(row.model_type);
    fmt::format_to(std::back_inserter(text), "| `{}` | {} | {}: {} |", row.model_type, row.models, row.kind, row.parts);
    for (const bool one : {can.run, can.train, can.look, can.quantize, can.gguf_in, can.gguf_out, can.hf_out})
      text += one ? " yes |" : " – |";
    fmt::format_to(std::back_inserter(text), " {} |\n", row.reference.empty() ? "–" : row.reference);
  }
  return text;
}

}  // namespace limpid
