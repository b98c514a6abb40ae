/** A field of a protobuf message: a number for wire types 0 and 5, bytes for wire type 2. */
export interface Field {
  readonly field: number;
  readonly value: bigint | number | Uint8Array<ArrayBuffer>;
}

/**
 * Reads the protobuf wire format (https://protobuf.dev/programming-guides/encoding) without a schema. Tests check the
 * writer with this reader, so the two share no code.
 *
 * @throws RangeError if the bytes are not a message
 */
export function readFields(bytes: Uint8Array<ArrayBuffer>): Field[] {
  const fields: Field[] = [];
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = view.getUint8(at++);
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    throw new RangeError("A varint has more than ten bytes.");
  };
  while (at < bytes.length) {
    const tag = varint();
    const field = Number(tag >> 3n);
    const wireType = Number(tag & 7n);
    if (wireType === 0) fields.push({ field, value: varint() });
    else if (wireType === 5) {
      fields.push({ field, value: view.getFloat32(at, true) });
      at += 4;
    } else if (wireType === 2) {
      const length = Number(varint());
      if (at + length > bytes.length) throw new RangeError("A field is longer than its message.");
      fields.push({ field, value: bytes.slice(at, at + length) });
      at += length;
    } else throw new RangeError(`Wire type ${wireType} is not supported.`);
  }
  return fields;
}

/** Returns the values of a field, in order. */
export const valuesOf = (fields: readonly Field[], field: number): Field["value"][] =>
  fields.filter((entry) => entry.field === field).map(({ value }) => value);

/** Returns the messages in a field, in order. */
export const messagesOf = (fields: readonly Field[], field: number): Field[][] =>
  valuesOf(fields, field).map((value) => readFields(value as Uint8Array<ArrayBuffer>));
