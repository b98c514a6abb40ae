import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { caseOf, writeClassifier } from "#test/fixtures/classifier-case.ts";
import { fusedGraph } from "#test/fixtures/fused-graph.ts";
import { readHeadedModel } from "#test/fixtures/read-checkpoint.ts";
import { runs } from "#test/fixtures/sampled.ts";
import { randomNumbers } from "#test/fixtures/seeded.ts";
import { temporaryFolder } from "#test/fixtures/temporary-folder.ts";
import { tinyBert } from "#test/fixtures/tiny-bert.ts";
import { tinyNomic } from "#test/fixtures/tiny-nomic.ts";
import { referenceSession } from "#test/oracles/interpreter/reference-session.ts";
import { engineOnThisMachine } from "../../local/engines.ts";
import { oneModel, type TokenPair, type TokenSequence } from "../../runtime/engine/engine.ts";
import { ortNodeEngine } from "../../runtime/engine/ort-node/index.ts";
import { parity } from "../accuracy/parity.ts";
import { type EncoderConfig, maxTokensOf } from "../checkpoint/encoder-config.ts";
import { type EncoderWeights, encoderWeights } from "../checkpoint/encoder-weights.ts";
import { encodeOnnx } from "../onnx/to-onnx.ts";
import { precisions } from "../quantize/precisions.ts";
import { encodeProgram } from "./encode-program.ts";
import { lowerGraph } from "./lower-graph.ts";

/** Minimum cosine of the int8 hidden states of a pair with those of float32, for encoders with random weights. */
const MIN_COSINE = 0.995;
const PADDING = 1;

interface Encoder {
  readonly config: EncoderConfig;
  readonly weights: EncoderWeights;
}

/** Encoders, and whether their hidden states depend on token types. */
const encoders: Record<string, { typed: boolean; draw: () => Encoder | Promise<Encoder> }> = {
  "BERT, whose pairs fill several blocks of rows": {
    typed: true,
    draw: () => tinyBert({ config: { max_position_embeddings: runs(150, 300) } }),
  },
  "RoBERTa with one token type": { typed: false, draw: () => roberta(1) },
  "RoBERTa with two token types, whose positions skip padding": { typed: true, draw: () => roberta(2) },
  "Nomic, whose token types are added without positions": {
    typed: true,
    draw: () => {
      const { current } = tinyNomic();
      return { config: current.config, weights: encoderWeights(current) };
    },
  },
  "DeBERTa without token types": {
    typed: false,
    async draw() {
      const folder = join(await temporaryFolder(), "model");
      await writeClassifier(folder, caseOf("deberta-v2"));
      const model = await readHeadedModel(folder, "sequence-classification");
      return { config: model.config, weights: encoderWeights(model) };
    },
  },
};

function roberta(types: number): Encoder {
  const config = {
    model_type: "roberta",
    pad_token_id: PADDING,
    max_position_embeddings: 42,
    type_vocab_size: types,
  };
  return tinyBert({ config });
}

/** Draws pairs of all lengths. In some, one of the texts is empty. All contain the padding token now and then. */
function drawPairs(maxTokens: number, vocabulary: number): TokenPair[] {
  const random = randomNumbers(3);
  const below = (end: number) => Math.floor(end * random());
  return [1, 2, 3, maxTokens - 1, maxTokens, ...Array.from({ length: runs(1, 8) }, () => 1 + below(maxTokens))].map(
    (length) => ({
      ids: Int32Array.from({ length }, () => (random() < 0.1 ? PADDING : below(vocabulary))),
      secondFrom: below(length + 1),
    }),
  );
}

describe.each(Object.entries(encoders))("a program of %s", (_, { typed, draw }) => {
  async function opened() {
    const { config, weights } = await draw();
    const fused = await fusedGraph(config, weights);
    const quantized = await precisions["int8-edge"](fused)();
    const size = { maxTokens: Math.min(maxTokensOf(config), 300), vocabulary: config.vocabularySize };
    const file = await encodeProgram(quantized, { ...size, pairs: true });
    const edge = await (await engineOnThisMachine("wasm")).load(oneModel(file));
    const float32 = await ortNodeEngine({ threads: 1 }).load(oneModel(encodeOnnx(fused)));
    const pairs = drawPairs(size.maxTokens, size.vocabulary);
    return { edge, float32, reference: referenceSession(quantized), pairs };
  }

  it("computes the same bits as the reference kernels, in every batch", async () => {
    const { edge, reference, pairs } = await opened();
    const sequences: TokenSequence[] = [...pairs, ...pairs.map(({ ids }) => ids)];
    const wanted = await reference.run(sequences);
    expect(await edge.run(sequences)).toEqual(wanted);
    for (const [i, sequence] of sequences.entries()) expect(await edge.run([sequence])).toEqual([wanted[i]]);
  });

  it("computes what onnxruntime computes in float32", async () => {
    const { edge, float32, pairs } = await opened();
    expect(parity(await float32.run(pairs), await edge.run(pairs)).minCosine).toBeGreaterThan(MIN_COSINE);
  });

  it(`${typed ? "tells" : "does not tell"} the second text from the first`, async () => {
    const { edge, float32, pairs } = await opened();
    const last = { ids: (pairs[4] as TokenPair).ids, secondFrom: 5 };
    for (const session of [edge, float32]) {
      const [pair, text] = await session.run([last, last.ids]);
      const { minCosine } = parity([text as Float32Array], [pair as Float32Array]);
      if (typed) expect(minCosine).toBeLessThan(0.97);
      else expect(pair).toEqual(text);
    }
  });
});

describe("a program for single texts", () => {
  it("has no tables for token type 1, and refuses pairs unless all their tokens have type 0", async () => {
    const { config, weights } = tinyBert();
    const graph = await precisions["int8-edge"](await fusedGraph(config, weights))();
    const size = { maxTokens: 16, vocabulary: config.vocabularySize };
    const { program, tensors } = await lowerGraph(graph, size);
    expect(program).not.toHaveProperty("pairs");
    expect([...tensors.keys()].filter((name) => name.includes("second"))).toEqual([]);
    const session = await (await engineOnThisMachine("wasm")).load(oneModel(await encodeProgram(graph, size)));
    const ids = Int32Array.of(2, 9, 3, 8, 3);
    expect(await session.run([{ ids, secondFrom: 5 }])).toEqual(await session.run([ids]));
    await expect(session.run([ids, { ids, secondFrom: 3 }])).rejects.toMatchObject({
      code: "input_invalid",
      message: expect.stringContaining("Sequence 1 is a pair of texts"),
    });
  });

  it.each([-1, 6, 1.5, Number.NaN])("refuses a second text that begins at %d", async (secondFrom) => {
    const { config, weights } = tinyBert();
    const graph = await precisions["int8-edge"](await fusedGraph(config, weights))();
    const size = { maxTokens: 16, vocabulary: config.vocabularySize, pairs: true };
    const session = await (await engineOnThisMachine("wasm")).load(oneModel(await encodeProgram(graph, size)));
    await expect(session.run([{ ids: Int32Array.of(2, 9, 3, 8, 3), secondFrom }])).rejects.toMatchObject({
      code: "input_invalid",
    });
  });
});
