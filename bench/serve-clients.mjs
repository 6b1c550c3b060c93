// Clients for bench/serve.
//   node serve-clients.mjs ADDRESS --clients N [--seconds N] [--tokens N] [--extra JSON] [--captures] [--long]
//     N clients that send one request after another and read the stream; beside them, where asked for, one that captures and one
//     that sends prompts as long as the model's context
//   node serve-clients.mjs ADDRESS --compare N [--tokens N]   N requests at once and each alone: are the answers the same?
//   node serve-clients.mjs ADDRESS --inspect N                N times: how long looking inside takes on a text of 64 tokens
//   node serve-clients.mjs --prompts N                        prints prompts
import assert from "node:assert/strict";
import http from "node:http";
import net from "node:net";
import { parseArgs } from "node:util";

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    clients: { type: "string", default: "1" }, seconds: { type: "string", default: "10" }, tokens: { type: "string", default: "64" },
    extra: { type: "string", default: "{}" }, captures: { type: "boolean" }, long: { type: "boolean" }, compare: { type: "string" },
    inspect: { type: "string" }, prompts: { type: "string" },
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

// The answer's status and body; `heard` is told each part.
function post(path, fields, heard = () => {}) {
  return new Promise((resolve) => {
    const body = JSON.stringify(fields);
    const headers = { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(body) };
    const request = http.request({ host: address.hostname, port: address.port, path, method: "POST", agent, headers }, (response) => {
      const parts = [];
      response.on("data", (part) => { parts.push(part); heard(part); });
      response.on("end", () => resolve({ status: response.statusCode, body: Buffer.concat(parts) }));
    });
    request.on("error", () => resolve({ status: 0, body: Buffer.alloc(0) }));
    request.end(body);
  });
}

// A stream over a plain socket, since the clients' own work takes time from the server: heard() is called for each event with
// text. Returns the status.
function stream(fields, heard) {
  return new Promise((resolve) => {
    const body = JSON.stringify(fields);
    const socket = net.connect(Number(address.port), address.hostname);
    let rest = "", status = 0;
    socket.setNoDelay(true).setEncoding("latin1");
    socket.on("data", (part) => {
      if (!status) status = Number(part.slice(9, 12));
      rest += part;
      const end = rest.lastIndexOf("\n\n") + 2;
      if (end < 2) return;
      for (const _ of rest.slice(0, end).matchAll(/"(?:text|content)": ?"[^"]/g)) heard();
      rest = rest.slice(end);
    });
    socket.on("error", () => resolve(0));
    socket.on("close", () => resolve(status));
    socket.write(`POST /v1/completions HTTP/1.1\r\nHost: ${address.host}\r\nConnection: close\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  });
}

async function load(clients, seconds) {
  const first = [], each = [], captures = [];
  let events = 0, eventsOfWhole = 0, whole = 0, failed = 0, next = 0, inWindow = 0;
  const start = now(), warm = start + 1000 * Math.min(3, seconds / 4), until = start + 1000 * seconds;
  const extra = JSON.parse(options.extra);
  async function ask() {
    const begin = now();
    let last = begin, heard = 0;
    const status = await stream({ prompt: prompt(next++), max_tokens: tokens, temperature: 0, stream: true, ignore_eos: true, ...extra }, () => {
      const time = now();
      if (time > warm && time < until) { inWindow++; (heard === 0 ? first : each).push(time - last); }
      heard++;
      last = time;
    });
    if (status !== 200) failed++; else { whole++; eventsOfWhole += heard; }
  }
  const during = async (act) => { while (now() < until) await act(); };
  const work = Array.from({ length: clients }, () => during(ask));
  if (options.captures) work.push(during(async () => {
    const begin = now();
    const { status } = await post("/inspect/capture", { text: prompt(next++, 50), taps: ["blocks.5.resid_post"] });
    if (status !== 200) failed++; else captures.push(now() - begin);
  }));
  if (options.long) work.push(during(async () => {
    const { status } = await post("/v1/completions", { prompt: prompt(next++, 800), max_tokens: 1, temperature: 0 });
    if (status !== 200) failed++;
  }));
  await Promise.all(work);
  // Not every token is a text of its own: an event stands for so many.
  const tokensPerEvent = whole * tokens / Math.max(1, eventsOfWhole);
  const rate = inWindow * tokensPerEvent / ((until - warm) / 1000);
  console.log(`${String(clients).padStart(4)} clients ${rate.toFixed(1).padStart(9)} tokens/s   first token ${at(first, 0.5)} ms` +
    ` (99 %: ${at(first, 0.99)})   per token ${at(each, 0.5)} ms (99 %: ${at(each, 0.99)})   failed ${failed}` +
    (options.captures ? `   ${captures.length} captures beside, ${at(captures, 0.5)} ms (99 %: ${at(captures, 0.99)})` : ""));
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

async function inspect(count) {
  const { body } = await post("/inspect/tokens", { text: prompt(0, 200) });
  const asked = { ids: JSON.parse(body).input_ids.slice(0, 64) };
  for (const [name, path, fields] of [["capture of one layer", "capture", { taps: ["blocks.5.*"] }],
    ["patterns of one head", "attention", { attention: "blocks.5.attn", head: 3 }], ["lens over all layers", "lens", {}]]) {
    const times = [];
    let size = 0;
    for (let i = 0; i < count; i++) {
      const begin = now();
      const answer = await post(`/inspect/${path}`, { ...asked, ...fields });
      assert.equal(answer.status, 200, answer.body.toString());
      times.push(now() - begin);
      size = answer.body.length;
    }
    console.log(`${name}: median ${at(times, 0.5)} ms, longest ${at(times, 1)} ms, ${size} bytes`);
  }
}

if (options.compare) await compare(Number(options.compare));
else if (options.inspect) await inspect(Number(options.inspect));
else await load(Number(options.clients), Number(options.seconds));
agent.destroy();
