import { isDeepStrictEqual } from "node:util";
import { BertEdgeError } from "../../../artifact/error.ts";

/**
 * Treatment of a key of a model's file:
 * - `obeyed`: the model computes what the key says.
 * - `no-effect`: no value of the key changes results.
 * - `only`: the key is refused unless it has one of the listed values, which are what we compute.
 * - `nested`: the value is an object, whose keys have a table of their own.
 */
export type Treatment =
  | { readonly is: "obeyed" }
  | { readonly is: "no-effect"; readonly why: string }
  | { readonly is: "only"; readonly values: readonly unknown[]; readonly otherwise?: string | undefined }
  | { readonly is: "nested"; readonly keys: KeyTable };

/** Every known key of a file. */
export type KeyTable = Readonly<Record<string, Treatment>>;

export const obeyed: Treatment = { is: "obeyed" };
export const noEffect = (why: string): Treatment => ({ is: "no-effect", why });
export const nested = (keys: KeyTable): Treatment => ({ is: "nested", keys });
/** @param otherwise what to do if the key has another value */
export const only = (values: readonly unknown[], otherwise?: string): Treatment => ({ is: "only", values, otherwise });

/** Returns the keys of a file that its table does not know. */
export const unknownKeys = (config: object, table: KeyTable): string[] =>
  Object.keys(config).filter((key) => !Object.hasOwn(table, key));

/**
 * Refuses a module's file that has a key which its table does not know, or a value that is not what we compute.
 *
 * @param file path of the file, for error messages
 * @throws BertEdgeError `checkpoint_unsupported`
 */
export function assertKnownKeys(file: string, config: object, table: KeyTable): void {
  const [unknown] = unknownKeys(config, table);
  if (unknown !== undefined) {
    throw new BertEdgeError(
      "checkpoint_unsupported",
      `${file} has the key ${JSON.stringify(unknown)}, which is not known.`,
      {
        hint: `It could change the model's results. If it does not, remove it. Known keys: ${Object.keys(table).join(", ") || "none"}.`,
      },
    );
  }
  assertValues(file, config, table);
}

/**
 * Refuses a file with a value that is not what we compute.
 *
 * @throws BertEdgeError `checkpoint_unsupported`
 */
export function assertValues(file: string, config: object, table: KeyTable): void {
  for (const [key, value] of Object.entries(config)) {
    const treatment = Object.hasOwn(table, key) ? table[key] : undefined;
    if (treatment?.is === "nested" && typeof value === "object" && value !== null) {
      assertKnownKeys(`${file}: ${key}`, value, treatment.keys);
    } else if (treatment?.is === "only" && !treatment.values.some((each) => isDeepStrictEqual(each, value))) {
      throw new BertEdgeError(
        "checkpoint_unsupported",
        `${file}: ${key} is ${JSON.stringify(value)}, which is not supported so far.`,
        {
          hint: treatment.otherwise ?? `Supported: ${treatment.values.map((each) => JSON.stringify(each)).join(", ")}.`,
        },
      );
    }
  }
}
