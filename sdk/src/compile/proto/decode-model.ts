import { BertEdgeError } from "../../artifact/error.ts";
import type { StoredBytes } from "../files/stored-file.ts";
import { type ModelProto, modelSchema } from "./onnx-messages.ts";
import { FIXED32, FIXED64, LENGTH_DELIMITED, ProtobufReader, VARINT } from "./protobuf-reader.ts";
import type { AnySchema, FieldSchema, Message, Scalar } from "./schema.ts";

/** Sub-graphs nest through attributes; nobody writes them deeper than a few levels. */
const MAX_DEPTH = 64;

type Fields = Message & Record<string, unknown>;

type Bytes = Uint8Array<ArrayBuffer>;

/** What a model has in place of views of its file. */
interface Kept {
  readonly bytes: (view: Bytes) => Bytes;
  readonly weights: (view: Bytes) => Bytes | StoredBytes;
}

const AS_VIEWS: Kept = { bytes: (view) => view, weights: (view) => view };

/**
 * Reads an ONNX file. Fields that are not known here are kept as they are.
 *
 * @param kept default: tensor bytes are views of `bytes`
 * @throws BertEdgeError `onnx_invalid`
 */
export function decodeModel(bytes: Bytes, kept = AS_VIEWS): ModelProto {
  return decodeMessage(bytes, modelSchema, { kept, depth: 0 }) as unknown as ModelProto;
}

interface Context {
  readonly kept: Kept;
  readonly depth: number;
}

function decodeMessage(bytes: Bytes, schema: AnySchema, context: Context): Fields {
  const { kept, depth } = context;
  if (depth > MAX_DEPTH) {
    throw new BertEdgeError("onnx_invalid", `The file nests messages more than ${MAX_DEPTH} deep.`);
  }
  const { byNumber, empty } = compile(schema);
  const message: Fields = Object.fromEntries(empty.map((name) => [name, []]));
  const reader = new ProtobufReader(bytes);
  while (!reader.done) {
    const start = reader.position;
    const { field: number, wireType } = reader.tag();
    const known = byNumber.get(number);
    if (known && wireType === wireTypeOf(known.field)) {
      const value = readValue(reader, known.field.type, context);
      if (known.field.repeated) (message[known.name] as unknown[]).push(value);
      else message[known.name] = value;
    } else if (known?.field.repeated && wireType === LENGTH_DELIMITED && isPackable(known.field.type)) {
      readPacked(reader.bytes(), known.field.type, kept, message[known.name] as unknown[]);
    } else {
      reader.skip(wireType);
      message.unknown ??= [];
      message.unknown.push(kept.bytes(reader.since(start)));
    }
  }
  return message;
}

function readValue(reader: ProtobufReader, type: FieldSchema["type"], { kept, depth }: Context): unknown {
  return typeof type === "function"
    ? decodeMessage(reader.bytes(), type(), { kept, depth: depth + 1 })
    : readScalar[type](reader, kept);
}

function readPacked(bytes: Bytes, type: Scalar, kept: Kept, into: unknown[]): void {
  const reader = new ProtobufReader(bytes);
  while (!reader.done) into.push(readScalar[type](reader, kept));
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

function readString(reader: ProtobufReader): string {
  const bytes = reader.bytes();
  try {
    return utf8.decode(bytes);
  } catch (cause) {
    throw new BertEdgeError("onnx_invalid", "The file has a name that is not UTF-8.", { cause });
  }
}

const readScalar: Record<Scalar, (reader: ProtobufReader, kept: Kept) => unknown> = {
  int32: (reader) => Number(BigInt.asIntN(32, reader.varint())),
  int64: (reader) => BigInt.asIntN(64, reader.varint()),
  uint64: (reader) => reader.varint(),
  float: (reader) => reader.float(),
  double: (reader) => reader.double(),
  string: readString,
  bytes: (reader, kept) => kept.bytes(reader.bytes()),
  weights: (reader, kept) => kept.weights(reader.bytes()),
};

const wireTypes: Record<Scalar, number> = {
  int32: VARINT,
  int64: VARINT,
  uint64: VARINT,
  float: FIXED32,
  double: FIXED64,
  string: LENGTH_DELIMITED,
  bytes: LENGTH_DELIMITED,
  weights: LENGTH_DELIMITED,
};

const wireTypeOf = ({ type }: FieldSchema) => (typeof type === "function" ? LENGTH_DELIMITED : wireTypes[type]);

const isPackable = (type: FieldSchema["type"]): type is Scalar =>
  typeof type === "string" && wireTypes[type] !== LENGTH_DELIMITED;

interface CompiledSchema {
  byNumber: Map<number, { name: string; field: FieldSchema }>;
  /** Names of repeated fields. */
  empty: string[];
}
const compiled = new WeakMap<AnySchema, CompiledSchema>();

function compile(schema: AnySchema): CompiledSchema {
  const known = compiled.get(schema);
  if (known) return known;
  const fields = Object.entries(schema).map(([name, field]) => ({ name, field }));
  const result = {
    byNumber: new Map(fields.map((entry) => [entry.field.number, entry])),
    empty: fields.filter(({ field }) => field.repeated).map(({ name }) => name),
  };
  compiled.set(schema, result);
  return result;
}
