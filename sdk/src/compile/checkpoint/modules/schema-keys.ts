import type * as v from "valibot";

/** The parts of valibot's schemas that this file looks into. */
interface Schema {
  readonly entries?: Readonly<Record<string, unknown>>;
  readonly pipe?: readonly Schema[];
  readonly wrapped?: Schema;
  readonly getter?: (input: unknown) => Schema;
}

/**
 * Returns the keys of an object that a schema reads. A key can be listed twice.
 *
 * @param input the object, because some schemas depend on it
 */
export const schemaKeys = (schema: v.GenericSchema, input: unknown): string[] =>
  keysOf(schema as unknown as Schema, input);

function keysOf({ pipe, getter, wrapped, entries = {} }: Schema, input: unknown): string[] {
  // The first part of a pipe is the schema that the others go on from.
  if (pipe) return pipe.flatMap((part) => keysOf(part, input));
  if (getter) return keysOf(getter(input), input);
  return wrapped ? keysOf(wrapped, input) : Object.keys(entries);
}
