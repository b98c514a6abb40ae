import { describe, expect, it } from "vitest";
import {
  assertKnownKeys,
  assertValues,
  type KeyTable,
  nested,
  noEffect,
  obeyed,
  only,
  unknownKeys,
} from "./key-table.ts";
import { denseKeys, poolingKeys, sentenceTransformersKeys, spladePoolingKeys, transformerKeys } from "./key-tables.ts";

const table: KeyTable = {
  size: obeyed,
  note: noEffect("for people"),
  mode: only(["a", null, { deep: [1] }], "Choose a."),
  more: nested({ inner: obeyed }),
};

const refusal = (config: object) => {
  try {
    assertKnownKeys("dir/config.json", config, table);
    return undefined;
  } catch (error) {
    return error;
  }
};

describe("a table of keys", () => {
  it.each([
    {},
    { size: 1, note: {}, mode: "a" },
    { mode: null },
    { mode: { deep: [1] } },
    { more: { inner: 1 } },
    { more: null },
  ])("accepts %j", (config) => {
    expect(refusal(config)).toBeUndefined();
  });

  it.each([
    [{ colour: 1 }, 'dir/config.json has the key "colour", which is not known.'],
    [{ constructor: 1 }, 'dir/config.json has the key "constructor", which is not known.'],
    [{ mode: "b" }, 'dir/config.json: mode is "b", which is not supported so far.'],
    [{ mode: { deep: [2] } }, 'dir/config.json: mode is {"deep":[2]}, which is not supported so far.'],
    [{ more: { outer: 1 } }, 'dir/config.json: more has the key "outer", which is not known.'],
  ])("refuses %j by name", (config, message) => {
    expect(refusal(config)).toMatchObject({ code: "checkpoint_unsupported", message, hint: expect.any(String) });
  });

  it("says what to do about a value", () => {
    expect(refusal({ mode: 1 })).toMatchObject({ hint: "Choose a." });
  });

  it("lists unknown keys of files that may have them", () => {
    expect(unknownKeys({ size: 1, colour: 2 }, table)).toEqual(["colour"]);
    expect(() => assertValues("config.json", { colour: 2 }, table)).not.toThrow();
  });
});

it("no table has an empty list of values or of reasons", () => {
  for (const keys of [denseKeys, poolingKeys, sentenceTransformersKeys, spladePoolingKeys, transformerKeys]) {
    for (const treatment of Object.values(keys)) {
      if (treatment.is === "only") expect(treatment.values).not.toEqual([]);
      if (treatment.is === "no-effect") expect(treatment.why).not.toBe("");
    }
  }
});
