// Clients for bench/serve: node serve-clients.mjs ADDRESS --clients N --seconds N --tokens N, or --prompts N to print prompts.
import http from "node:http";
import { parseArgs } from "node:util";

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: { clients: { type: "string", default: "1" }, seconds: { type: "string", default: "10" },
             tokens: { type: "string", default: "64" }, prompts: { type: "string" } },
});

const words = "the old man walked slowly along a river and thought about all that he had seen in his long life".split(" ");
// Prompts of some twenty words; the same number gives the same prompt.
function prompt(number) {
  const chosen = [];
  for (let i = 0, x = number * 2654435761 % 4294967296; i < 20; i++, x = (x * 1103515245 + 12345) % 2147483648)
    chosen.push(words[Math.floor(x / 65536) % words.length]);
  return chosen.join(" ");
}
if (options.prompts) {
  for (let i = 0; i < Number(options.prompts); i++) console.log(prompt(i));
  process.exit(0);
}

const address = new URL(positionals[0]);
const count = Number(options.clients), tokens = Number(options.tokens);
const agent = new http.Agent({ keepAlive: true, maxSockets: count });
const first = [], each = [];
let written = 0, failed = 0, next = 0;

function ask() {
  return new Promise((resolve) => {
    const body = JSON.stringify({ prompt: prompt(next++ % 256), max_tokens: tokens, temperature: 0, stream: true, ignore_eos: true });
    const begin = performance.now();
    let last = begin, heard = 0, rest = "";
    const request = http.request({ host: address.hostname, port: address.port, path: "/v1/completions", method: "POST", agent,
      headers: { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(body) } }, (response) => {
      if (response.statusCode !== 200) failed++;
      response.setEncoding("utf8");
      response.on("data", (part) => {
        rest += part;
        for (let end; (end = rest.indexOf("\n\n")) >= 0; rest = rest.slice(end + 2)) {
          if (!rest.startsWith("data: {") || !/"text": ?"[^"]/.test(rest.slice(0, end))) continue;
          const now = performance.now();
          (heard++ === 0 ? first : each).push(now - last);
          last = now;
        }
      });
      response.on("end", () => { if (response.statusCode === 200) written += tokens; resolve(); });
    });
    request.on("error", () => { failed++; resolve(); });
    request.end(body);
  });
}

const start = performance.now(), until = start + 1000 * Number(options.seconds);
async function client() { while (performance.now() < until) await ask(); }
await Promise.all(Array.from({ length: count }, client));
const seconds = (performance.now() - start) / 1000;
agent.destroy();
const at = (list, share) => list.length ? list.sort((a, b) => a - b)[Math.min(list.length - 1, Math.floor(share * list.length))].toFixed(1) : "-";
console.log(`${String(count).padStart(4)} clients ${(written / seconds).toFixed(1).padStart(9)} tokens/s   first token ${at(first, 0.5)} ms` +
  ` (99 %: ${at(first, 0.99)})   per token ${at(each, 0.5)} ms (99 %: ${at(each, 0.99)})   failed ${failed}`);
