import { describe, expect, it } from "vitest";
import { preparable } from "#test/fixtures/preparable.ts";
import { preparableConfig } from "#test/fixtures/tiny-bert.ts";
import { tokenizerJson } from "#test/fixtures/tokenizer-json.ts";
import { referenceSession } from "#test/oracles/interpreter/reference-session.ts";
import { fuseGraph } from "../fusions/fuse-graph.ts";
import { precisions } from "../quantize/precisions.ts";
import { describeModel } from "./describe-model.ts";
import { readTextModel } from "./text-model.ts";

const [first, second] = ["to be", "or not to be"];

it("encodes and computes texts and pairs side by side", async () => {
  const { folder } = await preparable();
  const model = await readTextModel(await describeModel(folder));
  const [a, b] = [first, second].map((text) => [...(model.encode([text])[0] ?? [])]) as [number[], number[]];
  const ids = Int32Array.from([...a, ...b.slice(1)]);
  expect(model.encode([first, [first, second]])).toEqual([Int32Array.from(a), { ids, secondFrom: a.length }]);

  await fuseGraph(model.graph);
  const { run } = referenceSession(await precisions["int8-edge"](model.graph)());
  const vectors = await model.compute({ run }, [[first, second], second]);
  expect(vectors).toEqual([...(await run([{ ids, secondFrom: a.length }])), ...(await run([Int32Array.from(b)]))]);
  expect(vectors[0]).not.toEqual((await run([ids]))[0]);
});

it("cuts pairs to the model's maximum length", async () => {
  const { folder } = await preparable();
  const { encode, maxTokens } = await readTextModel(await describeModel(folder));
  const long = `${second} `.repeat(100);
  expect(encode([[first, long]])).toMatchObject([{ ids: { length: maxTokens }, secondFrom: 4 }]);
});

it("refuses pairs if the tokenizer has no template for them", async () => {
  const { folder } = await preparable({ files: { "tokenizer.json": withoutPairs() } });
  const { encode } = await readTextModel(await describeModel(folder));
  expect(encode([first])).toHaveLength(1);
  expect(() => encode([[first, second]])).toThrow(expect.objectContaining({ code: "pairs_unsupported" }));
});

it.each([
  ["packed", {}],
  ["JSON", { normalizer: { type: "Strip", strip_left: true, strip_right: true } }],
])("refuses an added token that the weights do not have: %s tokenizer", async (_, changes) => {
  const json = JSON.parse(tokenizerJson(preparableConfig.vocab_size));
  const token = { single_word: false, lstrip: false, rstrip: false, normalized: false, special: false };
  const added = Array.from({ length: 99 }, (_, i) => ({
    ...token,
    id: json.added_tokens.length + i,
    content: `zz${i}`,
  }));
  const text = JSON.stringify({ ...json, ...changes, added_tokens: [...json.added_tokens, ...added] });
  const { folder } = await preparable({ files: { "tokenizer.json": text } });
  await expect(describeModel(folder).then(readTextModel)).rejects.toMatchObject({
    code: "checkpoint_invalid",
    message: expect.stringMatching(/has the token id \d+, but the model's vocabulary size is/),
  });
});

function withoutPairs(): string {
  const json = JSON.parse(tokenizerJson(preparableConfig.vocab_size));
  return JSON.stringify({ ...json, post_processor: { ...json.post_processor, pair: [] } });
}

describe("question answering", () => {
  const tokens = { cls_token: "[CLS]" };

  it.each<[string, Record<string, string>, string]>([
    ["padding at the left", { "tokenizer_config.json": '{"padding_side":"left"}' }, "checkpoint_unsupported"],
    ["no template for pairs", { "tokenizer.json": withoutPairs() }, "pairs_unsupported"],
    [
      "another cls_token",
      { "tokenizer_config.json": JSON.stringify({ cls_token: "[SEP]" }) },
      "checkpoint_unsupported",
    ],
    ["no cls_token", { "tokenizer_config.json": JSON.stringify({ cls_token: null }) }, "checkpoint_unsupported"],
  ])("is refused with %s", async (_, files, code) => {
    const { folder } = await preparable({ files });
    const found = await describeModel(folder);
    const model = readTextModel({ ...found, task: { task: "answer" } });
    await expect(model).rejects.toMatchObject({ code });
  });

  it("is read with the cls_token before the question", async () => {
    const { folder } = await preparable({ files: { "tokenizer_config.json": JSON.stringify(tokens) } });
    const found = await describeModel(folder);
    expect(await readTextModel({ ...found, task: { task: "answer" } })).toMatchObject({ task: { task: "answer" } });
  });
});
