import assert from 'node:assert/strict';
import test from 'node:test';
import { takeEvents } from '../src/client/client';
import { fromFloat16, parseSafetensors } from '../src/client/safetensors';

function file(header: Record<string, unknown>, data: Uint8Array): ArrayBuffer {
  const text = new TextEncoder().encode(JSON.stringify(header));
  const bytes = new Uint8Array(8 + text.length + data.length);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(text.length), true);
  bytes.set(text, 8);
  bytes.set(data, 8 + text.length);
  return bytes.buffer;
}
const bytesOf = (array: ArrayBufferView) => new Uint8Array(array.buffer);

test('safetensors: names, shapes and numbers, whatever the length of the header', () => {
  for (const pad of ['', ' ', '  ', '   ']) {
    const { tensors, metadata } = parseSafetensors(file({ ['a' + pad]: { dtype: 'F32', shape: [2, 2], data_offsets: [0, 16] }, b: { dtype: 'I32', shape: [1], data_offsets: [16, 20] }, __metadata__: { limpid: '{}' } },
      Uint8Array.from([...bytesOf(Float32Array.of(1, -2, 3.5, -Infinity)), ...bytesOf(Int32Array.of(-7))])));
    assert.deepEqual([...tensors.get('a' + pad)!.data], [1, -2, 3.5, -Infinity]);
    assert.deepEqual(tensors.get('a' + pad)!.shape, [2, 2]);
    assert.deepEqual([...tensors.get('b')!.data], [-7]);
    assert.equal(metadata.limpid, '{}');
  }
});

test('safetensors: 16-bit numbers are widened', () => {
  const { tensors } = parseSafetensors(file({ x: { dtype: 'BF16', shape: [2], data_offsets: [0, 4] }, y: { dtype: 'F16', shape: [1], data_offsets: [4, 6] } }, bytesOf(Uint16Array.of(0x3fc0, 0xc000, 0x3c00))));
  assert.deepEqual([...tensors.get('x')!.data], [1.5, -2]);
  assert.deepEqual([...tensors.get('y')!.data], [1]);
  assert.equal(fromFloat16(0x0001), 2 ** -24);
  assert.equal(fromFloat16(0xfc00), -Infinity);
});

test('safetensors: a body that is cut short is refused', () => {
  const whole = file({ x: { dtype: 'F32', shape: [2], data_offsets: [0, 8] } }, new Uint8Array(8));
  for (const length of [0, 7, 20, whole.byteLength - 1]) assert.throws(() => parseSafetensors(whole.slice(0, length)));
});

test('events: wherever the stream is cut', () => {
  const text = 'event: progress\ndata: {"done":0.5}\n\n: keep-alive\n\nid: 3\r\nevent: result\r\ndata: {"a":\r\ndata: 1}\r\n\r\n';
  for (let cut = 0; cut <= text.length; cut++) {
    const seen: unknown[] = [];
    const rest = takeEvents(takeEvents(text.slice(0, cut), (e) => seen.push(e)) + text.slice(cut), (e) => seen.push(e));
    if (cut > 0 && text[cut - 1] === '\r') continue; // a stream is decoded in larger parts than one half of a line's end
    assert.deepEqual(seen, [{ event: 'progress', data: { done: 0.5 } }, { event: 'result', data: { a: 1 } }], String(cut));
    assert.equal(rest, '');
  }
});
