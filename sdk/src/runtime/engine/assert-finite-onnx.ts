import { BertEdgeError } from "../../artifact/error.ts";
import { PREPARE_AGAIN } from "../../artifact/manifest.ts";
import { areFinite, canBeConstant } from "../are-finite.ts";

// Field numbers of ONNX's protobuf messages: https://github.com/onnx/onnx/blob/main/onnx/onnx.proto
const MODEL = { graph: 7 };
const GRAPH = { node: 1, initializer: 5 };
const NODE = { attribute: 5 };
const ATTRIBUTE = { tensor: 5 };
const TENSOR = { type: 2, floats: 4, name: 8, raw: 9 };
const [FLOAT, FLOAT16] = [1, 10];

/** Protobuf's wire types: a varint, 8 bytes, a length followed by that many bytes, and 4 bytes. */
const [VARINT, FIXED64, BYTES, FIXED32] = [0, 1, 2, 5];

/** Maximum bytes of a part that `inParts` copies. */
const PART = 65_536;

type Bytes = Uint8Array<ArrayBufferLike>;

/**
 * Refuses an ONNX file with NaN or infinite weights. Constants such as masks may be infinite, see `canBeConstant`. Test texts would not
 * find all such weights: a text reads only a few rows of a table, and quantized operators can turn NaN into ordinary numbers. Accepts
 * files that are not ONNX, because onnxruntime refuses them.
 *
 * @throws BertEdgeError `model_invalid`
 */
export function assertFiniteOnnx(file: Bytes): void {
  for (const graph of messages(file, MODEL.graph)) {
    for (const tensor of messages(graph, GRAPH.initializer)) assertFinite(tensor);
    for (const node of messages(graph, GRAPH.node)) {
      for (const attribute of messages(node, NODE.attribute)) {
        for (const tensor of messages(attribute, ATTRIBUTE.tensor)) assertFinite(tensor);
      }
    }
  }
}

function assertFinite(tensor: Bytes): void {
  let type: number | Bytes = 0;
  let name = "";
  const data: Bytes[] = [];
  for (const [field, value] of fields(tensor)) {
    if (field === TENSOR.type) type = value;
    else if (typeof value === "number") continue;
    else if (field === TENSOR.name) name = new TextDecoder().decode(value);
    else if (field === TENSOR.raw || field === TENSOR.floats) data.push(value);
  }
  if (type !== FLOAT && type !== FLOAT16) return;
  const [hasFinite, numbersOf] = type === FLOAT ? [areFiniteFloats, floatsOf] : [areFiniteHalves, kindsOfHalves];
  if (data.every((bytes) => inParts(bytes).every(hasFinite))) return;
  if (canBeConstant(Float32Array.from(data.flatMap((bytes) => [...numbersOf(bytes.slice())])))) return;
  throw new BertEdgeError(
    "model_invalid",
    `The tensor ${name.slice(0, 80)} of the model has NaN or infinite numbers.`,
    {
      hint: PREPARE_AGAIN,
    },
  );
}

/** Yields aligned copies of the bytes, part by part, because numbers in a file can be unaligned. Each part overwrites the previous one. */
function* inParts(bytes: Bytes): Generator<Bytes> {
  const copy = new Uint8Array(PART);
  for (let at = 0; at < bytes.length; at += PART) {
    const part = bytes.subarray(at, at + PART);
    copy.set(part);
    yield copy.subarray(0, part.length);
  }
}

const floatsOf = ({ buffer, length }: Bytes) => new Float32Array(buffer, 0, length >> 2);
const halvesOf = ({ buffer, length }: Bytes) => new Uint16Array(buffer, 0, length >> 1);

const areFiniteFloats = (bytes: Bytes): boolean => areFinite(floatsOf(bytes));
const areFiniteHalves = (bytes: Bytes): boolean => halvesOf(bytes).every((half) => (half & EXPONENT) !== EXPONENT);

/** Masks for the bits of a float16 number. */
const [SIGN, EXPONENT, FRACTION] = [0x8000, 0x7c00, 0x03ff];

/** Converts float16 numbers as far as `canBeConstant` needs it: NaN, ±∞ and 0 stay, and all other numbers become 1. */
const kindsOfHalves = (bytes: Bytes): Float32Array =>
  Float32Array.from(halvesOf(bytes), (half) => {
    if ((half & EXPONENT) !== EXPONENT) return (half & ~SIGN) === 0 ? 0 : 1;
    if ((half & FRACTION) !== 0) return Number.NaN;
    return (half & SIGN) === 0 ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY;
  });

/** Yields the values of the fields with the number `wanted`, if they are bytes: strings, messages or packed numbers. */
function* messages(message: Bytes, wanted: number): Generator<Bytes> {
  for (const [field, value] of fields(message)) if (field === wanted && typeof value !== "number") yield value;
}

/** Yields the fields of a message. Ends early if the message is damaged. */
function* fields(message: Bytes): Generator<readonly [field: number, value: number | Bytes]> {
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let factor = 1; at < message.length; factor *= 128) {
      const byte = message[at++] as number;
      value += (byte & 127) * factor;
      if (byte < 128) break;
    }
    return value;
  };
  while (at < message.length) {
    const key = varint();
    const [field, wire] = [Math.floor(key / 8), key % 8];
    if (wire === VARINT) yield [field, varint()];
    else if (wire === BYTES) {
      const length = varint();
      if (length > message.length - at) return;
      yield [field, message.subarray(at, at + length)];
      at += length;
    } else if (wire === FIXED64) at += 8;
    else if (wire === FIXED32) at += 4;
    else return;
  }
}
