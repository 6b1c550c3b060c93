// OpenAI's client against limpid serve: node openai.mjs ADDRESS WRITER CHATTER READER (models' ids; CHATTER and READER may be "-").
import assert from "node:assert/strict";
import OpenAI from "openai";

const [address, writer, chatter, reader] = process.argv.slice(2);
const client = new OpenAI({ baseURL: `${address}/v1`, apiKey: process.env.LIMPID_API_KEY ?? "none", maxRetries: 0 });
const prompt = "the quick ";
const greedy = { model: writer, prompt, max_tokens: 8, temperature: 0 };

// models
const ids = [];
for await (const model of client.models.list()) ids.push(model.id);
assert.ok(ids.includes(writer));
assert.equal((await client.models.retrieve(writer)).id, writer);

// completion, logprobs
const whole = await client.completions.create({ ...greedy, logprobs: 2 });
assert.equal(whole.object, "text_completion");
assert.equal(whole.choices[0].logprobs.tokens.length, whole.usage.completion_tokens);
assert.equal(whole.usage.total_tokens, whole.usage.prompt_tokens + whole.usage.completion_tokens);

// streaming
let text = "", usage;
const stream = await client.completions.create({ ...greedy, stream: true, stream_options: { include_usage: true } });
for await (const chunk of stream) {
  text += chunk.choices[0]?.text ?? "";
  usage = chunk.usage ?? usage;
}
assert.equal(text, whole.choices[0].text);
assert.deepEqual(usage, whole.usage);

// several prompts, several texts, a seed
const drawn = { ...greedy, temperature: 1, seed: 7, n: 2, prompt: [prompt, "the lazy "] };
const once = await client.completions.create(drawn);
assert.equal(once.choices.length, 4);
assert.deepEqual((await client.completions.create(drawn)).choices, once.choices);

// several texts in one stream, each its own; penalties, bias, stop, an echoed prompt and the best of some
const streamed = ["", ""];
for await (const chunk of await client.completions.create({ ...greedy, temperature: 1, seed: 7, n: 2, stream: true }))
  for (const choice of chunk.choices) streamed[choice.index] += choice.text;
assert.deepEqual(streamed, once.choices.slice(0, 2).map((choice) => choice.text));
const other = await client.completions.create({ ...greedy, presence_penalty: 2, frequency_penalty: 2, user: "me" });
assert.equal(other.usage.completion_tokens, whole.usage.completion_tokens);
const stop = [...whole.choices[0].text.trim()][0];
const stopped = await client.completions.create({ ...greedy, stop: [stop] });
assert.equal(stopped.choices[0].finish_reason, "stop");
assert.equal(stopped.choices[0].text, whole.choices[0].text.split(stop)[0]);
const echoed = await client.completions.create({ ...greedy, echo: true, logprobs: 0, max_tokens: 1 });
assert.ok(echoed.choices[0].text.startsWith(prompt));
assert.equal(echoed.choices[0].logprobs.token_logprobs[0], null);
const best = await client.completions.create({ ...greedy, temperature: 1, seed: 7, n: 1, best_of: 3 });
assert.equal(best.choices.length, 1);

// errors
await assert.rejects(client.completions.create({ ...greedy, model: "none" }), (error) => {
  assert.ok(error instanceof OpenAI.NotFoundError);
  assert.equal(error.code, "model_not_found");
  return true;
});
await assert.rejects(client.completions.create({ ...greedy, temperature: -1 }), OpenAI.BadRequestError);
await assert.rejects(client.chat.completions.create({ model: writer, messages: [{ role: "user", content: "hi" }] }),
  /chat template/);

// abort
const controller = new AbortController();
const aborted = await client.completions.create({ ...greedy, max_tokens: 200, temperature: 1, stream: true },
  { signal: controller.signal });
for await (const _ of aborted) {
  controller.abort();
  break; // a short text may have come whole: nothing would follow, and the client would wait for it
}
assert.equal((await client.completions.create(greedy)).choices[0].text, text);

if (chatter !== "-") {
  const messages = [{ role: "system", content: "the" }, { role: "user", content: "the quick fox" }];
  const ask = { model: chatter, messages, max_completion_tokens: 6, temperature: 0 };
  const answer = await client.chat.completions.create({ ...ask, logprobs: true, top_logprobs: 2 });
  assert.equal(answer.choices[0].message.role, "assistant");
  assert.equal(answer.choices[0].logprobs.content[0].top_logprobs.length, 2);
  let said = "";
  for await (const chunk of await client.chat.completions.create({ ...ask, stream: true }))
    said += chunk.choices[0]?.delta?.content ?? "";
  assert.equal(said, answer.choices[0].message.content);
  // the client's own collector of streams, and its message given back as it came
  const { message } = (await client.chat.completions.stream(ask).finalChatCompletion()).choices[0];
  assert.equal(message.content, said);
  const goesOn = [...messages, message, { role: "user", content: "the dog" }];
  assert.ok((await client.chat.completions.create({ ...ask, messages: goesOn })).usage.prompt_tokens > answer.usage.prompt_tokens);
}

if (reader !== "-") {
  const packed = await client.embeddings.create({ model: reader, input: ["the fox", "the dog"] });
  const plain = await client.embeddings.create({ model: reader, input: "the fox", encoding_format: "float" });
  assert.equal(packed.data.length, 2);
  assert.deepEqual(packed.data[0].embedding.map(Math.fround), plain.data[0].embedding.map(Math.fround));
}
console.log("openai: all well");
