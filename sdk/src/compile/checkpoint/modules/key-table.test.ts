import { describe, expect, it } from "vitest";
import { findKeys, type KeyTable, nested, noEffect, obeyed, only } from "./key-table.ts";
import { denseKeys, poolingKeys, sentenceTransformersKeys, spladePoolingKeys, transformerKeys } from "./key-tables.ts";

const table: KeyTable = {
  size: obeyed,
  note: noEffect("for people"),
  mode: only(["a", null, { deep: [1] }], "Choose a."),
  more: nested({ inner: obeyed }),
};

describe("findKeys", () => {
  it("says what becomes of each key", () => {
    const content = { size: 1, note: {}, mode: "a", more: { inner: 1, outer: 2 }, colour: 3, constructor: 4 };
    expect(findKeys(content, table)).toEqual([
      { key: "size", treatment: "obeyed" },
      { key: "note", treatment: "no-effect" },
      { key: "mode", treatment: "obeyed" },
      { key: "more", treatment: "obeyed" },
      { key: "more.inner", treatment: "obeyed" },
      { key: "more.outer", treatment: "unknown" },
      { key: "colour", treatment: "unknown" },
      { key: "constructor", treatment: "unknown" },
    ]);
  });

  it.each([{ mode: null }, { mode: { deep: [1] } }, { more: null }])("obeys %j", (content) => {
    expect(findKeys(content, table)).toEqual([{ key: Object.keys(content)[0], treatment: "obeyed" }]);
  });

  it.each([
    [{ mode: "b" }, 'mode is "b", which is not supported so far'],
    [{ mode: { deep: [2] } }, 'mode is {"deep":[2]}, which is not supported so far'],
  ])("refuses %j, and says what to do", (content, why) => {
    expect(findKeys(content, table)).toEqual([
      { key: "mode", treatment: "refused", refusal: { why, hint: "Choose a." } },
    ]);
  });

  it("lists the supported values without a hint of the table", () => {
    const [found] = findKeys({ mode: 3 }, { mode: only([1, null]) });
    expect(found?.refusal?.hint).toBe("Supported: 1, null.");
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
