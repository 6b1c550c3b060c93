// Vectors of texts by onnxruntime, a batch at a time, padded to the longest text of the batch.
//
//   ONNXRUNTIME=FOLDER node bench/onnx/embed.mjs MODEL.onnx IDS BATCH THREADS ROUNDS [--vectors]
//
// FOLDER holds node_modules/onnxruntime-node; IDS has the token ids of a text in every line. Prints texts per second of the best
// round as JSON; with --vectors the vector of every text instead.

import {readFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {resolve} from 'node:path';

const require = createRequire(resolve(process.env.ONNXRUNTIME ?? '.', 'package.json'));
const ort = require('onnxruntime-node');
const [model, file, batch, threads, rounds] = process.argv.slice(2);
const texts = readFileSync(file, 'utf8').trim().split('\n').map(line => line.trim().split(/\s+/).map(Number));
const session = await ort.InferenceSession.create(model,
  {intraOpNumThreads: Number(threads), interOpNumThreads: 1, executionMode: 'sequential', graphOptimizationLevel: 'all'});

const feeds = [];
for (let first = 0; first < texts.length; first += Number(batch)) {
  const some = texts.slice(first, first + Number(batch)), longest = Math.max(...some.map(ids => ids.length));
  const ids = new BigInt64Array(some.length * longest), mask = new Float32Array(some.length * longest);
  some.forEach((text, i) => text.forEach((id, j) => {
    ids[i * longest + j] = BigInt(id);
    mask[i * longest + j] = 1;
  }));
  const shape = [some.length, longest];
  feeds.push({ids: new ort.Tensor('int64', ids, shape), mask: new ort.Tensor('float32', mask, shape)});
}
let best = Infinity;
for (let round = 0; round <= Number(rounds); ++round) {  // the first one warms up
  const begin = performance.now();
  for (const feed of feeds) {
    const {vectors} = await session.run(feed);
    if (process.argv.includes('--vectors') && round === 0)
      for (let i = 0; i < vectors.dims[0]; ++i)
        console.log(JSON.stringify([...vectors.data.slice(i * vectors.dims[1], (i + 1) * vectors.dims[1])]));
  }
  if (round > 0) best = Math.min(best, performance.now() - begin);
}
if (!process.argv.includes('--vectors'))
  console.log(JSON.stringify({texts: texts.length, texts_per_second: texts.length / best * 1000, version: ort.env.versions?.node}));
