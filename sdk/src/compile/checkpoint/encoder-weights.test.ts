import { describe, expect, it } from "vitest";
import { readCheckpoint } from "#test/fixtures/read-checkpoint.ts";
import { temporaryFolder } from "#test/fixtures/temporary-folder.ts";
import { type TinyOptions, tinyBert, writeTinyCheckpoint } from "#test/fixtures/tiny-bert.ts";
import { toFloat32 } from "../graph/tensor.ts";
import { encoderWeights } from "./encoder-weights.ts";

const query = "encoder.layer.1.attention.self.query.weight";

describe("encoderWeights", () => {
  it("finds every tensor by its name in transformers", () => {
    let expected: Float32Array | undefined;
    const { weights } = tinyBert({
      edit: (values) => {
        expected = values.get(query)?.values;
      },
    });
    expect(weights.layers).toHaveLength(2);
    expect(toFloat32(weights.layers[1]?.query.weight as never)).toEqual(expected);
    expect(weights.tokens.shape).toEqual([50, 32]);
    expect(weights.layers[0]?.intermediate.weight.shape).toEqual([64, 32]);
  });

  it("finds the same tensors with the prefix bert. of models with a task head", async () => {
    const [plain, prefixed] = [await temporaryFolder(), await temporaryFolder()];
    await writeTinyCheckpoint(plain);
    await writeTinyCheckpoint(prefixed, { prefix: "bert." });
    expect(encoderWeights(await readCheckpoint(prefixed))).toEqual(encoderWeights(await readCheckpoint(plain)));
  });

  const refused = (edit: TinyOptions["edit"], message: string) => {
    expect(() => tinyBert(edit ? { edit } : {})).toThrow(
      expect.objectContaining({ code: "checkpoint_invalid", message: expect.stringContaining(message) }),
    );
  };

  it("names the tensor that is missing, and the shape it should have", () => {
    refused((values) => values.delete(query), `tiny-bert has no tensor ${query} of shape [32,32].`);
  });

  it.each<[name: string, layers: number]>([
    [query, 2],
    ["embeddings.word_embeddings.weight", 2],
    ["encoder.layer.0.intermediate.dense.weight", 2],
    ["embeddings.word_embeddings.weight", 1],
  ])("names a missing tensor with the prefix of the others: %s of a model with %d layers", async (name, layers) => {
    const folder = await temporaryFolder();
    const config = { num_hidden_layers: layers };
    await writeTinyCheckpoint(folder, { prefix: "bert.", config, edit: (values) => values.delete(name) });
    const checkpoint = await readCheckpoint(folder);
    expect(() => encoderWeights(checkpoint)).toThrow(`has no tensor bert.${name} of shape`);
  });

  it("reads a table of one token type", () => {
    const { weights } = tinyBert({ config: { type_vocab_size: 1 } });
    expect(weights.tokenType?.shape).toEqual([1, 32]);
  });

  it("needs no projection of embeddings as wide as hidden states", async () => {
    const folder = await temporaryFolder();
    await writeTinyCheckpoint(folder, { prefix: "electra.", config: { model_type: "electra", embedding_size: 32 } });
    expect(encoderWeights(await readCheckpoint(folder)).projection).toBeUndefined();
  });

  it("names a tensor with the wrong shape, and both shapes", () => {
    refused(
      (values) => values.set(query, { shape: [32, 16], values: new Float32Array(512) }),
      `tiny-bert should have the tensor ${query} of shape [32,32], but its shape is [32,16].`,
    );
  });

  it("refuses a tensor of the right size but the wrong shape", () => {
    refused(
      (values) =>
        values.set("encoder.layer.0.intermediate.dense.weight", { shape: [32, 64], values: new Float32Array(2048) }),
      "encoder.layer.0.intermediate.dense.weight of shape [64,32], but its shape is [32,64]",
    );
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])(
    "refuses a single weight of %d, even in a row that no probe text reads, and names its tensor",
    (value) => {
      refused((values) => {
        const words = values.get("embeddings.word_embeddings.weight")?.values as Float32Array;
        words[words.length - 1] = value;
      }, "embeddings.word_embeddings.weight holds NaN or infinite");
    },
  );
});
