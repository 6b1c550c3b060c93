// Clients for bench/serve.
//   node serve-clients.mjs ADDRESS --beside captures|long [--seconds N]   one client that captures, or sends long prompts
//   node serve-clients.mjs ADDRESS --compare N [--tokens N]   N requests at once and each alone: are the answers the same?
//   node serve-clients.mjs ADDRESS --inspect N                N times: how long looking inside takes on a text of 64 tokens
//   node serve-clients.mjs --prompts N                        prints prompts
import assert from "node:assert/strict";
import http from "node:http";
import { parseArgs } from "node:util";

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seconds: { type: "string", default: "10" }, tokens: { type: "string", default: "64" }, beside: { type: "string" },
    compare: { type: "string" }, inspect: { type: "string" }, prompts: { type: "string" },
  },
});
const words = "the old man walked slowly along a river and thought about all that he had seen in his long life".split(" ");
// So many words; the same number gives the same prompt.
function prompt(number, length = 20) {
  const chosen = [];
  for (let i = 0, x = (number + 1) * 2654435761 % 4294967296; i < length; i++, x = (x * 1103515245 + 12345) % 2147483648)
    chosen.push(words[Math.floor(x / 65536) % words.length]);
  return chosen.join(" ");
}
if (options.prompts) {
  for (let i = 0; i < Number(options.prompts); i++) console.log(prompt(i));
  process.exit(0);
}

const address = new URL(positionals[0]);
const tokens = Number(options.tokens);
const agent = new http.Agent({ keepAlive: true });
const now = () => performance.now();
const sorted = (list) => [...list].sort((a, b) => a - b);
const at = (list, share) => list.length ? sorted(list)[Math.min(list.length - 1, Math.floor(share * list.length))].toFixed(1) : "-";

// The answer's status and body.
function post(path, fields) {
  return new Promise((resolve) => {
    const body = JSON.stringify(fields);
    const headers = { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(body) };
    const request = http.request({ host: address.hostname, port: address.port, path, method: "POST", agent, headers }, (response) => {
      const parts = [];
      response.on("data", (part) => parts.push(part));
      response.on("end", () => resolve({ status: response.statusCode, body: Buffer.concat(parts) }));
    });
    request.on("error", () => resolve({ status: 0, body: Buffer.alloc(0) }));
    request.end(body);
  });
}

// One client beside those of limpid bench serve: it captures, or sends prompts as long as the model's context.
async function beside(kind, seconds) {
  const times = [];
  let failed = 0;
  for (let next = 0, until = now() + 1000 * seconds; now() < until; next++) {
    const begin = now();
    const { status } = kind === "captures" ? await post("/inspect/capture", { text: prompt(next, 50), taps: ["blocks.5.resid_post"] })
      : await post("/v1/completions", { prompt: prompt(next, 800), max_tokens: 1, temperature: 0 });
    if (status !== 200) failed++; else times.push(now() - begin);
  }
  console.log(`${kind} beside: ${times.length}, median ${at(times, 0.5)} ms, longest ${at(times, 1)} ms, ${failed} failed`);
}

// Greedy and seeded requests with beginnings in common and prompts of every length, all at once and then one by one.
async function compare(count) {
  const requests = Array.from({ length: count }, (_, i) => ({
    prompt: prompt(i % 5, 30) + " " + prompt(i, 1 + i % 40), max_tokens: tokens - i % 16, logprobs: 3, ignore_eos: true,
    ...(i % 2 ? { temperature: 1, seed: i } : { temperature: 0 }),
  }));
  const answer = async (request) => {
    const { status, body } = await post("/v1/completions", request);
    assert.equal(status, 200, body.toString());
    return JSON.parse(body).choices;
  };
  const together = await Promise.all(requests.map(answer));
  let equal = 0;
  for (let i = 0; i < count; i++) equal += JSON.stringify(await answer(requests[i])) === JSON.stringify(together[i]) ? 1 : 0;
  console.log(`${equal} of ${count} answers at once have the tokens and log-probabilities of the same request alone`);
  process.exitCode = equal === count ? 0 : 1;
}

// Of a text that nobody has asked about before, and of the same text again, whose values the server still has.
async function inspect(count) {
  const { body } = await post("/inspect/tokens", { text: prompt(0, 200) });
  const ids = JSON.parse(body).input_ids;
  let next = 0;
  for (const [name, path, fields] of [["capture of one layer", "capture", { taps: ["blocks.5.*"] }],
    ["patterns of one head", "attention", { attention: "blocks.5.attn", head: 3 }], ["lens over all layers", "lens", {}]]) {
    const times = { "a new text": [], "again": [] };
    let size = 0;
    for (let i = 0; i < count; i++) {
      const text = ids.slice(next, ++next + 63);
      assert.equal(text.length, 64);
      for (const list of Object.values(times)) {
        const begin = now();
        const answer = await post(`/inspect/${path}`, { ids: text, ...fields });
        list.push(now() - begin);
        assert.equal(answer.status, 200, `${path}: ${answer.status}`);
        size = answer.body.length;
      }
    }
    const told = Object.entries(times).map(([which, list]) => `${which} median ${at(list, 0.5)} ms, longest ${at(list, 1)} ms`);
    console.log(`${name}: ${told.join("; ")}; ${size} bytes`);
  }
}

if (options.compare) await compare(Number(options.compare));
else if (options.inspect) await inspect(Number(options.inspect));
else await beside(options.beside, Number(options.seconds));
agent.destroy();
