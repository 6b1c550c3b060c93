import assert from 'node:assert/strict';
import test from 'node:test';
import { matrix, row, subtract, toCsv } from '../src/data/matrix';
import { entropyBits, format, histogram, percent, softmax } from '../src/data/numbers';
import { distribution, plainSampling } from '../src/data/sampling';

const close = (a: number, b: number) => assert.ok(Math.abs(a - b) < 1e-12, `${a} is not ${b}`);

test('softmax of large numbers and of minus infinity', () => {
  const p = softmax([1000, 1001, -Infinity]);
  close(p[0] + p[1] + p[2], 1);
  close(p[1] / p[0], Math.E);
  assert.equal(p[2], 0);
  close(entropyBits([0.25, 0.25, 0.25, 0.25]), 2);
});

test('sampling: temperature, top-k, top-p, min-p in this order', () => {
  const logits = [0.5, 0.3, 0.15, 0.05].map(Math.log);
  const of = (s: object) => distribution(logits, { ...plainSampling, ...s }, 4);
  assert.equal(of({}).kept, 4);
  of({}).choices.forEach((choice, i) => close(choice.probability, [0.5, 0.3, 0.15, 0.05][i]));
  assert.deepEqual(of({ temperature: 0 }).choices.map((c) => c.probability), [1, 0, 0, 0]);
  close(of({ topK: 2 }).choices[0].probability, 0.625);
  assert.equal(of({ topP: 0.79 }).kept, 2); // the one that reaches it stays
  assert.equal(of({ topP: 0.81 }).kept, 3);
  assert.equal(of({ topK: 2, topP: 0.6 }).kept, 1); // top-p is of what top-k left: 0.625 reaches 0.6
  assert.equal(of({ minP: 0.3 }).kept, 3);
  close(of({ temperature: 2 }).choices[0].probability / of({ temperature: 2 }).choices[1].probability, Math.sqrt(5 / 3));
  assert.equal(of({ topP: 0.0001 }).kept, 1);
});

test('matrices: views, tiles, differences', () => {
  const m = matrix(Float32Array.from({ length: 12 }, (_, i) => i), 3, 4);
  assert.deepEqual([...subtract(m, m).data], new Array(12).fill(0));
  assert.equal(toCsv({ ...m, cols: 2 }, ['a', 'b,"c"'], ['x', 'y']), ',x,y\na,0,1\n"b,""c""",4,5\n2,8,9\n');
});

test('numbers as people read them', () => {
  assert.equal(format(-0.12345), '−0.123');
  assert.equal(format(1234.5), '1235');
  assert.equal(format(0.00001234), '1.23e−5');
  assert.equal(format(-Infinity), '−∞');
  assert.equal(format(null), '–');
  assert.equal(percent(0.9999), '>\u00a099.9\u00a0%');
  assert.equal(percent(1), '100\u00a0%');
  assert.equal(percent(0.0001), '<\u00a00.1\u00a0%');
  assert.deepEqual(histogram(Float32Array.of(0, 0.1, 0.9, 1), 2).counts, [2, 2]);
});
