import { expect, it } from "vitest";
import { type SmallVersion, smallVersion } from "#test/fixtures/small-version.ts";
import { memoryStore } from "../storage/memory.ts";
import { publish } from "../storage/publish.ts";
import { areComparable } from "./are-comparable.ts";

/** Asks about two versions of a model. */
async function compare(before: SmallVersion, after: SmallVersion): Promise<boolean | null> {
  const store = memoryStore();
  const first = await publish(await smallVersion(before), store);
  const second = await publish(await smallVersion(after), store);
  return areComparable(store, "small", [first.version, second.version]);
}

const a = { content: "a" };
const b = { content: "b" };
const golden = { "a text": [1, 0, 0, 0], "another text": [0, 1, 0, 0] };

it("yes: the same version, the same files, or the same vectors of some text", async () => {
  expect(await compare(a, a)).toBe(true);
  expect(await compare({}, { fields: { maxTokens: 8 } })).toBe(true);
  expect(await compare({ ...a, golden }, { ...b, golden: { "a text": [0.9999, 0.001, 0, 0] } })).toBe(true);
  expect(await compare({ ...a, fields: { task: "answer" } }, { ...b, fields: { task: "answer" } })).toBe(true);
});

it.each([
  ["other vectors of a text", { golden }, { golden: { ...golden, "another text": [0, 0, 1, 0] } }],
  ["NaN as a vector", { golden }, { golden: { "a text": [Number.NaN, 0, 0, 0] } }],
  ["other dimensions", {}, { fields: { dimensions: 8 } }],
  ["other pooling", {}, { fields: { pooling: "cls" } }],
  ["vectors that are not normalized", {}, { fields: { normalize: false } }],
  ["another vocabulary", {}, { fields: { vocabulary: 51 } }],
  ["another task", {}, { fields: { task: "token-vectors" } }],
  ["another default prompt", {}, { fields: { prompts: { query: "query: " }, defaultPrompt: "query" } }],
  [
    "another prompt of the same name",
    { fields: { prompts: { query: "query: " } } },
    { fields: { prompts: { query: "search_query: " } } },
  ],
  [
    "token vectors of other dimensions",
    { fields: { task: "token-vectors", dimensions: 4 } },
    { fields: { task: "token-vectors", dimensions: 128 } },
  ],
  [
    "sparse vectors of another vocabulary",
    { fields: { task: "sparse" } },
    { fields: { task: "sparse", vocabulary: 51 } },
  ],
])("no: %s", async (_, before, after) => {
  expect(await compare(before, after)).toBe(false);
  expect(await compare({ ...a, ...before }, { ...b, ...after })).toBe(false);
});

it.each([
  ["without golden texts", {}, {}],
  ["golden texts of one version alone", { golden }, {}],
  ["no golden text in common", { golden }, { golden: { other: [1, 0, 0, 0] } }],
  ["token vectors of other weights", { fields: { task: "token-vectors" } }, { fields: { task: "token-vectors" } }],
  ["sparse vectors of other weights", { fields: { task: "sparse" } }, { fields: { task: "sparse" } }],
  ["a prompt that one version alone has", {}, { fields: { prompts: { query: "query: " } } }],
])("unknown: %s", async (_, before, after) => {
  expect(await compare({ ...a, ...before }, { ...b, ...after })).toBeNull();
});
