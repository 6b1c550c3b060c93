// Reads a safetensors body (an 8-byte length, a JSON header, the numbers) into typed arrays.

export type Numbers = Float32Array | Float64Array | Int32Array | Uint8Array;

export interface Tensor {
  shape: number[];
  data: Numbers;
}

export interface TensorFile {
  tensors: Map<string, Tensor>;
  metadata: Record<string, string>;
}

interface HeaderEntry {
  dtype: string;
  shape: number[];
  data_offsets: [number, number];
}

function widen16(bytes: Uint8Array, convert: (bits: number) => number): Float32Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Float32Array.from({ length: bytes.byteLength / 2 }, (_, i) => convert(view.getUint16(2 * i, true)));
}

const scratch = new DataView(new ArrayBuffer(4));
function fromBfloat16(bits: number): number {
  scratch.setUint32(0, bits << 16);
  return scratch.getFloat32(0);
}

export function fromFloat16(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

function numbersOf(dtype: string, bytes: Uint8Array): Numbers {
  // A copy, since typed arrays insist on alignment and the header may have any length.
  const aligned = () => bytes.slice().buffer;
  switch (dtype) {
    case 'F32':
      return new Float32Array(aligned());
    case 'F64':
      return new Float64Array(aligned());
    case 'I32':
      return new Int32Array(aligned());
    case 'I64':
      return Float64Array.from(new BigInt64Array(aligned()), Number);
    case 'U8':
    case 'BOOL':
      return bytes.slice();
    case 'F16':
      return widen16(bytes, fromFloat16);
    case 'BF16':
      return widen16(bytes, fromBfloat16);
    default:
      throw new Error(`safetensors: dtype ${dtype} is not known here`);
  }
}

export function parseSafetensors(body: ArrayBuffer): TensorFile {
  if (body.byteLength < 8) throw new Error('safetensors: the body is shorter than its header');
  const length = Number(new DataView(body).getBigUint64(0, true));
  if (8 + length > body.byteLength) throw new Error('safetensors: the header is longer than the body');
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(body, 8, length))) as Record<string, unknown>;
  const metadata = (header['__metadata__'] ?? {}) as Record<string, string>;
  delete header['__metadata__'];
  const tensors = new Map<string, Tensor>();
  for (const [name, value] of Object.entries(header)) {
    const { dtype, shape, data_offsets: [begin, end] } = value as HeaderEntry;
    if (8 + length + end > body.byteLength) throw new Error(`safetensors: ${name} ends after the body`);
    tensors.set(name, { shape, data: numbersOf(dtype, new Uint8Array(body, 8 + length + begin, end - begin)) });
  }
  return { tensors, metadata };
}
