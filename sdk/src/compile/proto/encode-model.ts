import type { StoredBytes } from "../files/stored-file.ts";
import { type ModelProto, modelSchema } from "./onnx-messages.ts";
import { type Chunk, ProtobufWriter } from "./protobuf-writer.ts";
import type { AnySchema, FieldSchema, Message } from "./schema.ts";

/** A message in which every field is optional, also in nested messages. */
export type PartialMessage<M> = M extends Uint8Array | StoredBytes
  ? M
  : M extends readonly (infer Item)[]
    ? readonly PartialMessage<Item>[]
    : M extends object
      ? { readonly [Name in keyof M]?: PartialMessage<M[Name]> | undefined }
      : M;

type Fields = Message & Readonly<Record<string, unknown>>;

/** Encodes an ONNX file as a list of chunks to be written one after another. Weights are referenced, not copied. */
export function encodeModel(model: PartialMessage<ModelProto>): ProtobufWriter {
  const writer = new ProtobufWriter();
  writeMessage(writer, model as unknown as Fields, modelSchema);
  return writer;
}

function writeMessage(writer: ProtobufWriter, message: Fields, schema: AnySchema): void {
  for (const [name, field] of Object.entries(schema)) {
    const value = message[name];
    if (value === undefined) continue;
    if (!field.repeated) writeValue(writer, field, value);
    else if (field.packed) writePacked(writer, field, value as unknown[]);
    else for (const item of value as unknown[]) writeValue(writer, field, item);
  }
  for (const bytes of message.unknown ?? []) writer.raw(bytes);
}

function writeValue(writer: ProtobufWriter, { number, type }: FieldSchema, value: unknown): void {
  if (typeof type === "function") writer.message(number, (inner) => writeMessage(inner, value as Fields, type()));
  else if (type === "string") writer.string(number, value as string);
  else if (type === "bytes" || type === "weights") writer.bytes(number, value as Chunk);
  else if (type === "float") writer.float(number, value as number);
  else if (type === "double") writer.double(number, value as number);
  else writer.integer(number, value as number | bigint);
}

function writePacked(writer: ProtobufWriter, { number, type }: FieldSchema, values: readonly unknown[]): void {
  if (values.length === 0) return;
  writer.message(number, (inner) => {
    for (const value of values) {
      if (type === "float") inner.fixed32(value as number);
      else if (type === "double") inner.fixed64(value as number);
      else inner.varint(value as number | bigint);
    }
  });
}
