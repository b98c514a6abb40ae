import type * as v from "valibot";

/** The parts of valibot's schemas that this file looks into. */
interface Schema {
  readonly type: string;
  readonly entries?: Readonly<Record<string, unknown>>;
  readonly pipe?: readonly Schema[];
  readonly wrapped?: Schema;
  readonly getter?: (input: unknown) => Schema;
}

/**
 * Returns the keys of an object that a schema reads.
 *
 * @param input the object, because some schemas depend on it
 */
export function schemaKeys(schema: v.GenericSchema, input: unknown): string[] {
  return keysOf(schema as unknown as Schema, input);
}

function keysOf({ pipe, getter, wrapped, entries = {} }: Schema, input: unknown): string[] {
  if (pipe)
    return [
      ...new Set([
        ...Object.keys(entries),
        ...pipe.slice(1).flatMap((part) => keysOf(part, input)),
        ...firstKeys(pipe, input),
      ]),
    ];
  if (getter) return keysOf(getter(input), input);
  if (wrapped) return keysOf(wrapped, input);
  return Object.keys(entries);
}

/** The first part of a pipe is the schema itself, whose keys the pipe has too. */
const firstKeys = ([first]: readonly Schema[], input: unknown): string[] =>
  first && !first.pipe ? keysOf(first, input) : [];
