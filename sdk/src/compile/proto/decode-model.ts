import { BertEdgeError } from "../../artifact/error.ts";
import type { StoredBytes } from "../files/stored-file.ts";
import { type ModelProto, modelSchema } from "./onnx-messages.ts";
import { FIXED32, FIXED64, LENGTH_DELIMITED, ProtobufReader, VARINT } from "./protobuf-reader.ts";
import type { AnySchema, FieldSchema, Message, Scalar } from "./schema.ts";

/**
 * Maximum depth of nested messages. Sub-graphs are nested messages, but real models nest them only a few levels deep.
 */
const MAX_DEPTH = 64;

type Fields = Message & Record<string, unknown>;

type Bytes = Uint8Array<ArrayBuffer>;

/** Converts views of the file to byte fields of the decoded model, for example by copying the bytes. */
interface Conversion {
  readonly bytes: (view: Bytes) => Bytes;
  readonly weights: (view: Bytes) => Bytes | StoredBytes;
}

const KEEP_VIEWS: Conversion = { bytes: (view) => view, weights: (view) => view };

/**
 * Decodes an ONNX file. Fields without a schema are kept as raw bytes.
 *
 * @param conversion converts the byte fields; by default, these fields are views of `bytes`
 * @throws BertEdgeError `onnx_invalid` if the file is damaged
 */
export function decodeModel(bytes: Bytes, conversion = KEEP_VIEWS): ModelProto {
  return decodeMessage(bytes, modelSchema, { conversion, depth: 0 }) as unknown as ModelProto;
}

interface Context {
  readonly conversion: Conversion;
  readonly depth: number;
}

function decodeMessage(bytes: Bytes, schema: AnySchema, context: Context): Fields {
  const { conversion, depth } = context;
  if (depth > MAX_DEPTH) {
    throw new BertEdgeError("onnx_invalid", `The file nests messages more than ${MAX_DEPTH} levels deep.`, {
      hint: "The file is damaged; export the model again.",
    });
  }
  const { byNumber, repeated } = compiledSchema(schema);
  const message: Fields = Object.fromEntries(repeated.map((name) => [name, []]));
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
      readPacked(reader.bytes(), known.field.type, conversion, message[known.name] as unknown[]);
    } else {
      reader.skip(wireType);
      message.unknown ??= [];
      message.unknown.push(conversion.bytes(reader.since(start)));
    }
  }
  return message;
}

function readValue(reader: ProtobufReader, type: FieldSchema["type"], { conversion, depth }: Context): unknown {
  return typeof type === "function"
    ? decodeMessage(reader.bytes(), type(), { conversion, depth: depth + 1 })
    : readScalar[type](reader, conversion);
}

function readPacked(bytes: Bytes, type: Scalar, conversion: Conversion, into: unknown[]): void {
  const reader = new ProtobufReader(bytes);
  while (!reader.done) into.push(readScalar[type](reader, conversion));
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

function readString(reader: ProtobufReader): string {
  const bytes = reader.bytes();
  try {
    return utf8.decode(bytes);
  } catch (cause) {
    throw new BertEdgeError("onnx_invalid", "A name in the file is not valid UTF-8.", {
      hint: "The file is damaged; export the model again.",
      cause,
    });
  }
}

const readScalar: Record<Scalar, (reader: ProtobufReader, conversion: Conversion) => unknown> = {
  int32: (reader) => Number(BigInt.asIntN(32, reader.varint())),
  int64: (reader) => BigInt.asIntN(64, reader.varint()),
  uint64: (reader) => reader.varint(),
  float: (reader) => reader.float(),
  double: (reader) => reader.double(),
  string: readString,
  bytes: (reader, conversion) => conversion.bytes(reader.bytes()),
  weights: (reader, conversion) => conversion.weights(reader.bytes()),
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
  /** Names of repeated fields. A repeated field that is missing in the file becomes an empty list. */
  repeated: string[];
}
const compiled = new WeakMap<AnySchema, CompiledSchema>();

function compiledSchema(schema: AnySchema): CompiledSchema {
  const known = compiled.get(schema);
  if (known) return known;
  const fields = Object.entries(schema).map(([name, field]) => ({ name, field }));
  const result = {
    byNumber: new Map(fields.map((entry) => [entry.field.number, entry])),
    repeated: fields.filter(({ field }) => field.repeated).map(({ name }) => name),
  };
  compiled.set(schema, result);
  return result;
}
