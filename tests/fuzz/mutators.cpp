#include "fuzz/mutators.h"

#include <array>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/random.h"
#include "fuzz/gguf_form.h"

namespace limpid::fuzz {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<int64_t, 16> kEdges = {
    0,          1,          -1,        2,         127,       255,      65535, 65536, 2147483647, -2147483648LL,
    4294967295, 4294967296, 1LL << 40, 1LL << 53, INT64_MAX, INT64_MIN};

template <class List>
auto& one_of(List& list, Random& random) {
  return list[static_cast<size_t>(random.below(static_cast<int64_t>(std::size(list))))];
}

// ---- JSON

void collect(Json& at, std::vector<Json*>& nodes) {
  nodes.push_back(&at);
  if (at.is_structured())
    for (auto& [key, value] : at.items()) collect(value, nodes);
}

Json odd_value(Random& random) {
  switch (random.below(9)) {
    case 0: return nullptr;
    case 1: return one_of(kEdges, random);
    case 2: return 0.5;
    case 3: return 1e308;
    case 4: return true;
    case 5: return std::string(static_cast<size_t>(random.below(300)), 'a');
    case 6: return "\u2581\u00e9";
    case 7: return Json::array();
    default: return Json::object();
  }
}

std::string mutate_json(const std::string& input, Random& random) {
  Json json = Json::parse(input, nullptr, false);
  if (json.is_discarded()) return input;
  for (int64_t changes = 1 + random.below(3); changes > 0; --changes) {
    std::vector<Json*> nodes;
    collect(json, nodes);
    Json& node = *one_of(nodes, random);
    const Json& other = *one_of(nodes, random);
    switch (random.below(6)) {
      case 0: node = odd_value(random); break;
      case 1: node = Json(other); break;
      case 2:
        if (node.is_object() && !node.empty()) node.erase(node.begin());
        if (node.is_array() && !node.empty())
          node.erase(static_cast<size_t>(random.below(static_cast<int64_t>(node.size()))));
        break;
      case 3:
        if (node.is_array()) node.push_back(Json(other));
        if (node.is_object()) node["x" + std::to_string(random.below(100))] = Json(other);
        break;
      case 4:
        if (node.is_number_integer()) node = node.get<int64_t>() + random.below(5) - 2;
        if (node.is_string()) node = node.get<std::string>() + "\u00e9";
        break;
      default: node = Json::array({Json(node)}); break;
    }
    if (json.dump(-1, ' ', false, Json::error_handler_t::replace).size() > 1 << 16) return input;
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// ---- bytes

std::string mutate_bytes(std::string bytes, Random& random) {
  if (bytes.empty()) return "x";
  const auto place = [&](size_t width) {
    return bytes.size() < width ? 0 : static_cast<size_t>(random.below(static_cast<int64_t>(bytes.size() - width + 1)));
  };
  for (int64_t changes = 1 + random.below(4); changes > 0; --changes) {
    switch (random.below(7)) {
      case 0: bytes[place(1)] ^= static_cast<char>(1 << random.below(8)); break;
      case 1: bytes[place(1)] = static_cast<char>(random.below(256)); break;
      case 2:
      case 3: {
        const size_t width = random.below(2) == 0 ? 4 : 8;
        if (bytes.size() < width) break;
        int64_t edge = one_of(kEdges, random) - random.below(2);
        std::memcpy(bytes.data() + place(width), &edge, width);
        break;
      }
      case 4: bytes.resize(place(1) + 1); break;
      case 5: bytes.insert(place(1), bytes.substr(place(1), static_cast<size_t>(random.below(40)))); break;
      default: bytes.erase(place(1), static_cast<size_t>(1 + random.below(16))); break;
    }
    if (bytes.empty()) bytes = "x";
  }
  return bytes;
}

// ---- safetensors: eight bytes with the length of a JSON header, the header, the numbers

std::string mutate_safetensors(const std::string& bytes, Random& random) {
  uint64_t length = 0;
  if (bytes.size() < sizeof length) return mutate_bytes(bytes, random);
  std::memcpy(&length, bytes.data(), sizeof length);
  if (length > bytes.size() - sizeof length || random.below(4) == 0) return mutate_bytes(bytes, random);
  const std::string header = mutate_json(bytes.substr(sizeof length, length), random);
  const uint64_t now = header.size();
  return std::string(reinterpret_cast<const char*>(&now), sizeof now) + header + bytes.substr(sizeof length + length);
}

// ---- protobuf: fields of (tag, payload); a payload of bytes is mutated and gets its new length

uint64_t varint(const std::string& bytes, size_t& at) {
  uint64_t value = 0;
  for (int shift = 0; at < bytes.size() && shift < 64; shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes[at++]);
    value |= static_cast<uint64_t>(byte & 127) << shift;
    if (byte < 128) break;
  }
  return value;
}

void append_varint(std::string& bytes, uint64_t value) {
  for (; value > 127; value >>= 7) bytes += static_cast<char>(value | 128);
  bytes += static_cast<char>(value);
}

std::string mutate_protobuf(const std::string& bytes, Random& random, int depth = 0) {
  struct Field {
    uint64_t tag;
    std::string payload;  // as it lies there; of a text without its length
  };
  std::vector<Field> fields;
  for (size_t at = 0; at < bytes.size();) {
    Field field{varint(bytes, at), {}};
    const size_t begin = at;
    switch (field.tag & 7) {
      case 0: varint(bytes, at); break;
      case 1: at += 8; break;
      case 5: at += 4; break;
      case 2: {
        const uint64_t length = varint(bytes, at);
        if (length > bytes.size() - at) return mutate_bytes(bytes, random);
        field.payload = bytes.substr(at, length);
        at += length;
        fields.push_back(field);
        continue;
      }
      default: return mutate_bytes(bytes, random);
    }
    if (at > bytes.size()) return mutate_bytes(bytes, random);
    field.payload = bytes.substr(begin, at - begin);
    fields.push_back(field);
  }
  if (fields.empty()) return mutate_bytes(bytes, random);
  const auto chosen = static_cast<size_t>(random.below(static_cast<int64_t>(fields.size())));
  switch (random.below(6)) {
    case 0: fields.erase(fields.begin() + static_cast<ptrdiff_t>(chosen)); break;
    case 1: fields.push_back(fields[chosen]); break;
    case 2: std::swap(fields[chosen], fields.back()); break;
    default:
      fields[chosen].payload = depth < 3 && random.below(2) == 0
                                   ? mutate_protobuf(fields[chosen].payload, random, depth + 1)
                                   : mutate_bytes(fields[chosen].payload, random);
  }
  std::string result;
  for (const Field& field : fields) {
    append_varint(result, field.tag);
    if ((field.tag & 7) == 2) append_varint(result, field.payload.size());
    result += field.payload;
  }
  return result;
}

// ---- GGUF: one field becomes another; counts, lengths and padding fit again

void mutate_metadata(GgufForm& form, Random& random) {
  if (form.metadata.empty()) return;
  GgufForm::Metadata& entry = one_of(form.metadata, random);
  const GgufForm::Metadata other = one_of(form.metadata, random);
  switch (random.below(8)) {
    case 0: form.metadata.erase(form.metadata.begin() + (&entry - form.metadata.data())); return;
    case 1: form.metadata.push_back(other); return;
    case 2: entry.key = random.below(2) == 0 ? other.key : mutate_bytes(entry.key, random); return;
    case 3:  // another value under this name
      entry = {.key = entry.key, .type = other.type, .element_type = other.element_type, .values = other.values};
      return;
    case 4:
      (entry.type == GgufForm::kList ? entry.element_type : entry.type) = static_cast<uint32_t>(random.below(14));
      return;
    default: break;
  }
  if (entry.type == GgufForm::kList && random.below(3) == 0) {
    if (random.below(2) == 0 && !entry.values.empty())
      entry.values.resize(static_cast<size_t>(random.below(static_cast<int64_t>(entry.values.size()))));
    else if (!entry.values.empty())
      entry.values.push_back(std::string(one_of(entry.values, random)));
    return;
  }
  if (entry.values.empty()) return;
  std::string& value = one_of(entry.values, random);
  const size_t width = value.size();
  const bool is_text = (entry.type == GgufForm::kList ? entry.element_type : entry.type) == GgufForm::kText;
  if (is_text || width > 8 || random.below(3) == 0) {
    value = mutate_bytes(value, random);
    if (!is_text) value.resize(width);
  } else {
    const int64_t edge = one_of(kEdges, random) - random.below(2);
    std::memcpy(value.data(), &edge, width);
  }
}

void mutate_tensor(GgufForm& form, Random& random) {
  if (form.tensors.empty()) return;
  GgufForm::Tensor& tensor = one_of(form.tensors, random);
  const GgufForm::Tensor other = one_of(form.tensors, random);
  switch (random.below(7)) {
    case 0: form.tensors.erase(form.tensors.begin() + (&tensor - form.tensors.data())); return;
    case 1: form.tensors.push_back(other); return;
    case 2: tensor.name = random.below(2) == 0 ? other.name : mutate_bytes(tensor.name, random); return;
    case 3: tensor.type = static_cast<uint32_t>(random.below(40)); return;
    case 4:
      tensor.offset = static_cast<uint64_t>(random.below(2) == 0 ? one_of(kEdges, random) : 32 * random.below(64));
      return;
    case 5: tensor.sizes.resize(static_cast<size_t>(random.below(6)), 1); return;
    default: break;
  }
  if (tensor.sizes.empty()) return;
  uint64_t& size = one_of(tensor.sizes, random);
  size = random.below(2) == 0 ? static_cast<uint64_t>(one_of(kEdges, random))
                              : size + static_cast<uint64_t>(random.below(65)) - 32;
}

std::string mutate_gguf(const std::string& bytes, Random& random) {
  std::optional<GgufForm> form = GgufForm::parse(bytes);
  if (!form || random.below(6) == 0) return mutate_bytes(bytes, random);
  for (int64_t changes = 1 + random.below(3); changes > 0; --changes) {
    switch (random.below(8)) {
      case 0: form->numbers = mutate_bytes(form->numbers, random); break;
      case 1:
      case 2:
      case 3: mutate_tensor(*form, random); break;
      default: mutate_metadata(*form, random); break;
    }
  }
  return form->bytes();
}

std::string mutate_folder(const std::string& bytes, Random& random) {
  const size_t border = bytes.find('\0');
  if (border == std::string::npos || random.below(20) == 0) return mutate_bytes(bytes, random);
  const std::string config = bytes.substr(0, border), weights = bytes.substr(border + 1);
  if (random.below(2) == 0) return mutate_json(config, random) + '\0' + weights;
  return config + '\0' + mutate_safetensors(weights, random);
}

}  // namespace

std::string mutate(const std::string& input, Shape shape, uint64_t seed) {
  Random random(seed);
  switch (shape) {
    case Shape::json: return random.below(4) == 0 ? mutate_bytes(input, random) : mutate_json(input, random);
    case Shape::safetensors: return mutate_safetensors(input, random);
    case Shape::protobuf: return random.below(5) == 0 ? mutate_bytes(input, random) : mutate_protobuf(input, random);
    case Shape::gguf: return mutate_gguf(input, random);
    case Shape::folder: return mutate_folder(input, random);
    case Shape::bytes: break;
  }
  return mutate_bytes(input, random);
}

}  // namespace limpid::fuzz
