import { isDeepStrictEqual } from "node:util";

/**
 * Treatment of a key of a model's file:
 * - `obeyed`: the model computes what the key says.
 * - `no-effect`: no value of the key changes results.
 * - `only`: the key is refused unless it has one of the listed values. Other values are not supported.
 * - `nested`: the value is an object, whose keys have a table of their own.
 */
export type Treatment =
  | { readonly is: "obeyed" }
  | { readonly is: "no-effect"; readonly why: string }
  | { readonly is: "only"; readonly values: readonly unknown[]; readonly otherwise?: string | undefined }
  | { readonly is: "nested"; readonly keys: KeyTable };

/** Treatment of every known key of a file. */
export type KeyTable = Readonly<Record<string, Treatment>>;

export const obeyed: Treatment = { is: "obeyed" };
export const noEffect = (why: string): Treatment => ({ is: "no-effect", why });
export const nested = (keys: KeyTable): Treatment => ({ is: "nested", keys });
/** @param otherwise what to do if the key has another value */
export const only = (values: readonly unknown[], otherwise?: string): Treatment => ({ is: "only", values, otherwise });

/** A key of a file, and what becomes of it. */
export interface FoundKey {
  /** A key of a nested object has the outer key and a dot before it: `model_args.dtype`. */
  readonly key: string;
  readonly treatment: "obeyed" | "no-effect" | "refused" | "unknown";
  /** Why the key is refused, and what to do. */
  readonly refusal?: { readonly why: string; readonly hint: string };
}

/**
 * Returns the keys of an object, and what becomes of each. A key with the treatment `only` is obeyed if it has a listed value.
 *
 * @param within the keys that lead to the object, each followed by a dot; empty for the whole file
 */
export const findKeys = (content: object, table: KeyTable, within = ""): FoundKey[] =>
  Object.entries(content).flatMap(([name, value]) => {
    const treatment = Object.hasOwn(table, name) ? table[name] : undefined;
    return foundKey(`${within}${name}`, value, treatment);
  });

function foundKey(key: string, value: unknown, treatment: Treatment | undefined): FoundKey[] {
  switch (treatment?.is) {
    case undefined:
      return [{ key, treatment: "unknown" }];
    case "obeyed":
    case "no-effect":
      return [{ key, treatment: treatment.is }];
    case "nested":
      return [
        { key, treatment: "obeyed" },
        ...(typeof value === "object" && value !== null ? findKeys(value, treatment.keys, `${key}.`) : []),
      ];
    case "only": {
      const { values, otherwise } = treatment;
      if (values.some((each) => isDeepStrictEqual(each, value))) return [{ key, treatment: "obeyed" }];
      const hint = otherwise ?? `Supported: ${values.map((each) => JSON.stringify(each)).join(", ")}.`;
      const why = `${key} is ${JSON.stringify(value)}, which is not supported so far`;
      return [{ key, treatment: "refused", refusal: { why, hint } }];
    }
  }
}
