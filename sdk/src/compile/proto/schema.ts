import type { StoredBytes } from "../files/stored-file.ts";

/** TypeScript types of protobuf's scalar types. "weights" are bytes that may stay in their file until they are used. */
interface ScalarTypes {
  int32: number;
  /** A bigint, because exporters write INT64_MAX as the end of slices. A number cannot represent INT64_MAX exactly. */
  int64: bigint;
  uint64: bigint;
  float: number;
  double: number;
  string: string;
  bytes: Uint8Array<ArrayBuffer>;
  weights: Uint8Array<ArrayBuffer> | StoredBytes;
}

/** Encoding of a field's value: https://protobuf.dev/programming-guides/encoding. */
export type Scalar = keyof ScalarTypes;

/** One field of a message. `Item` is the type of one decoded value. */
export interface FieldSchema<Item = unknown, IsRepeated extends boolean = boolean> {
  readonly number: number;
  /** Message types are functions, because messages contain each other. */
  readonly type: Scalar | (() => AnySchema);
  readonly repeated: IsRepeated;
  /** Whether a repeated scalar is written in protobuf's packed encoding. Both encodings can be read. */
  readonly packed: boolean;
  /** Carries the type `Item`. Never set at run time. */
  readonly item?: Item;
}

export type AnySchema = Readonly<Record<string, FieldSchema>>;

/**
 * Base of every decoded message. `unknown` holds the fields that are missing in the message's schema, each as bytes
 * that begin with the field's tag.
 */
export interface Message {
  unknown?: Uint8Array<ArrayBuffer>[];
}

type RepeatedNames<S extends AnySchema> = {
  [Name in keyof S]: S[Name] extends FieldSchema<unknown, true> ? Name : never;
}[keyof S];

type ItemOf<Field> = Field extends FieldSchema<infer Item> ? Item : never;

/**
 * The type of the messages of a schema. In a decoded message, absent repeated fields are empty lists, and other absent
 * fields are undefined.
 */
export type Decoded<S extends AnySchema> = Message & {
  -readonly [Name in RepeatedNames<S>]: ItemOf<S[Name]>[];
} & { -readonly [Name in Exclude<keyof S, RepeatedNames<S>>]?: ItemOf<S[Name]> };

type TypeOf<T> = T extends Scalar ? ScalarTypes[T] : T extends () => AnySchema ? Decoded<ReturnType<T>> : never;

export const optional = <T extends Scalar | (() => AnySchema)>(
  number: number,
  type: T,
): FieldSchema<TypeOf<T>, false> => ({ number, type, repeated: false, packed: false });

export const repeated = <T extends Scalar | (() => AnySchema)>(
  number: number,
  type: T,
): FieldSchema<TypeOf<T>, true> => ({ number, type, repeated: true, packed: false });

export const packedRepeated = <T extends Scalar>(number: number, type: T): FieldSchema<TypeOf<T>, true> => ({
  number,
  type,
  repeated: true,
  packed: true,
});
