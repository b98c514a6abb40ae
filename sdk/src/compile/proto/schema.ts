/** How a field's value is written: https://protobuf.dev/programming-guides/encoding. Weights are bytes that need not be in memory. */
export type Scalar = "int32" | "int64" | "uint64" | "float" | "double" | "string" | "bytes" | "weights";

/** A message's fields by their names here. Lazy where messages contain each other. */
export type Schema<Message> = { readonly [Name in Exclude<keyof Message, "unknown">]-?: FieldSchema };

export interface FieldSchema {
  readonly number: number;
  readonly type: Scalar | (() => AnySchema);
  readonly repeated: boolean;
  /** Whether a repeated scalar is written as one run of values. Both forms are read. */
  readonly packedRepeated: boolean;
}

export type AnySchema = Readonly<Record<string, FieldSchema>>;

/** What every decoded message may carry: fields that no schema here knows, as they stood in the file. */
export interface Message {
  unknown?: Uint8Array<ArrayBuffer>[];
}

export const optional = (number: number, type: FieldSchema["type"]): FieldSchema => ({
  number,
  type,
  repeated: false,
  packedRepeated: false,
});
export const repeated = (number: number, type: FieldSchema["type"]): FieldSchema => ({
  number,
  type,
  repeated: true,
  packedRepeated: false,
});
export const packed = (number: number, type: Scalar): FieldSchema => ({
  number,
  type,
  repeated: true,
  packedRepeated: true,
});
