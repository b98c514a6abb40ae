import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { findKeys } from "#sdk/compile/checkpoint/modules/key-table.ts";
import { configTable } from "#sdk/compile/checkpoint/modules/transformers-keys.ts";

/** Keys that transformers saves and reads: config_keys.py. */
interface Golden {
  /** Content of config.json by default. */
  readonly defaults: Readonly<Record<string, unknown>>;
  /** Keys that change the logits of a classifier. */
  readonly changing: readonly string[];
  /** Keys with which no classifier can be made, if their value is another one. */
  readonly failing: readonly string[];
}

const golden = JSON.parse(readFileSync(join(import.meta.dirname, "config-keys.json"), "utf8")) as Record<
  string,
  Record<string, Golden>
>;
const cases = Object.entries(golden).flatMap(([version, families]) =>
  Object.entries(families).map(([family, keys]) => ({ version, family, ...keys })),
);

describe.each(cases)("config.json of $family, of transformers $version", ({ defaults, changing, failing }) => {
  const table = configTable(defaults);

  it("has only known keys, and no value that is refused", () => {
    expect(findKeys(defaults, table).filter(({ treatment }) => /unknown|refused/.test(treatment))).toEqual([]);
  });

  it("changes results only by keys that are obeyed or refused", () => {
    expect(changing.length + failing.length).toBeGreaterThan(5);
    expect(changing.filter((key) => table[key]?.is === "no-effect")).toEqual([]);
  });
});

it("says of no key that it has no effect if another family's results change by it", () => {
  const changed = new Set(cases.flatMap(({ changing }) => changing));
  const silent = cases.flatMap(({ defaults }) =>
    Object.entries(configTable(defaults)).filter(([, { is }]) => is === "no-effect"),
  );
  expect([...new Set(silent.map(([key]) => key))].filter((key) => changed.has(key))).toEqual([]);
});
