import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { EncoderConfig } from "#sdk/compile/checkpoint/encoder-config.ts";
import { HIDDEN_STATES } from "#sdk/compile/checkpoint/export-outputs.ts";
import { exportedGraph } from "#sdk/compile/checkpoint/exported-graph.ts";
import { fuseGraph } from "#sdk/compile/fusions/fuse-graph.ts";
import { copyGraph } from "#sdk/compile/graph/copy-graph.ts";
import type { Graph } from "#sdk/compile/graph/graph.ts";
import { encodeProgram } from "#sdk/compile/lower/encode-program.ts";
import { encodeOnnx } from "#sdk/compile/onnx/to-onnx.ts";
import { precisions } from "#sdk/compile/quantize/precisions.ts";
import { engineOnThisMachine } from "#sdk/local/engines.ts";
import { type Engine, oneModel } from "#sdk/runtime/engine/engine.ts";
import { ortNodeEngine } from "#sdk/runtime/engine/ort-node/index.ts";
import { cosine } from "#sdk/runtime/tasks/sentence-vector.ts";
import { sampled } from "../fixtures/sampled.ts";
import { describeShared } from "../fixtures/shared.ts";
import { casesIn, EXPORTS } from "./exported-model.ts";

/** Minimum cosine of vectors with 32 random channels, after two layers. The lowest measured cosine is 0.9998. */
const MIN_COSINE = 0.9995;
/** Minimum cosine of vectors with 16 channels, in models with larger weights. The lowest measured cosine is 0.9993. */
const MIN_COSINE_16 = 0.999;
const MAX_TOKENS = 12;

const texts = [
  [2, 5, 9, 14, 3],
  [2, 17, 20, 11, 6, 7, 8, 3],
].map((ids) => Int32Array.from(ids));

/**
 * Exports that must be refused: patterns of their names, each with a pattern of the expected reason. Only float32
 * models with dynamic sizes are accepted.
 */
const refused: readonly (readonly [RegExp, RegExp])[] = [
  [/^khub-torch-/, /none of the outputs|with a fixed size/],
  [/^q-|^qat-/, /is quantized/],
  [/-fp16-/, /half precision/],
  [/deberta-(v2|eager)/, /no embedding table with \d+ rows \(max_position_embeddings/],
  [/-nomask-/, /no input attention_mask/],
  [/mobilebert-eager-l17/, /of unknown shape/],
];

/** The engine has no operators for bottlenecks, for Keras's selection of the first token, or for masks that a file of fixed sizes stores. */
const unsupported = /mobilebert|tf215-.*-seq-cls|^(t213|tf215)-bert-fixed-/;

interface EdgeCase {
  readonly config: Readonly<Record<string, unknown>>;
  readonly outputs: readonly Readonly<Record<string, { readonly shape: readonly number[] }>>[];
}

/** Sizes that a model's config.json contains. The case.json files in ../shared/corpus use other names for them. */
interface Sizes {
  readonly vocabulary: number;
  readonly hidden: number;
  readonly positions: number;
}

/**
 * Reads the float32 graph of a case, and makes its program for the edge engine. Both steps can fail: an export is
 * refused, or the engine does not support a graph.
 */
function atEdge(folder: string, name: string, { vocabulary, hidden, positions }: Sizes) {
  const { outputs } = readCase(folder, name);
  const logits = outputs[0]?.["logits"]?.shape;
  const answers = ["start_logits", "end_logits"];
  const results = logits
    ? [{ names: ["logits"], shape: [...logits.slice(0, -1).map(() => undefined), logits.at(-1)] }]
    : outputs[0]?.["start_logits"]
      ? answers.map((each) => ({ names: [each], shape: [undefined, undefined] }))
      : [{ names: HIDDEN_STATES, shape: [undefined, undefined, hidden] }];
  const config = {
    vocabularySize: vocabulary,
    hiddenSize: hidden,
    maxPositions: positions,
    rotaryTheta: /modernbert|nomic|eurobert/.test(name) ? [1] : undefined,
  } as EncoderConfig;
  const reading = exportedGraph(join(folder, name, "model.onnx"), config, results).then(({ graph }) => graph);
  const program = async () => {
    const fused = copyGraph(await reading);
    await fuseGraph(fused);
    return encodeProgram(await precisions["int8-edge"](fused)(), { maxTokens: MAX_TOKENS, vocabulary });
  };
  return { reading, program };
}

const readCase = (folder: string, name: string): EdgeCase =>
  JSON.parse(readFileSync(join(folder, name, "case.json"), "utf8"));

let edge: Engine;
beforeAll(async () => {
  edge = await engineOnThisMachine("wasm");
});

/** Expects the vectors of an edge program and of its graph to have nearly the same direction. */
async function expectClose(graph: Graph, program: Uint8Array<ArrayBuffer>, minCosine: number): Promise<void> {
  const session = await edge.load(oneModel(program));
  const reference = await ortNodeEngine({ threads: 1, optimize: false }).load(oneModel(encodeOnnx(graph)));
  const [found, wanted] = [await session.run(texts), await reference.run(texts)];
  await reference.release();
  await session.release();
  for (const [i, values] of found.entries()) {
    expect(values).toHaveLength(wanted[i]?.length as number);
    expect(cosine(values, wanted[i] as Float32Array)).toBeGreaterThan(minCosine);
  }
}

describe("an export in this repository, on the WebAssembly engine,", () => {
  const claims: Readonly<Record<string, { readonly edge?: string }>> = JSON.parse(
    readFileSync(join(EXPORTS, "claims.json"), "utf8"),
  );

  it.each(Object.entries(claims))("%s computes nearly the same, or is refused as claimed", async (name, claim) => {
    const { vocab_size, hidden_size = 16, max_position_embeddings } = readCase(EXPORTS, name).config;
    const { reading, program } = atEdge(EXPORTS, name, {
      vocabulary: vocab_size as number,
      hidden: hidden_size as number,
      positions: max_position_embeddings as number,
    });
    if (claim.edge) await expect(program()).rejects.toMatchObject({ code: claim.edge });
    else await expectClose(await reading, await program(), MIN_COSINE_16);
  });
});

describeShared("corpus", "an export of the large corpus, on the WebAssembly engine,", (folder) => {
  const cases = sampled(casesIn(folder), 2);
  let computed = 0;
  afterAll(() => expect(computed).toBeGreaterThanOrEqual(Math.floor((110 * cases.length) / 150)));

  it.each(cases)("%s computes nearly the same, or is refused with a reason", async (name) => {
    const { vocab, hidden, max_pos } = readCase(folder, name).config;
    const { reading, program } = atEdge(folder, name, {
      vocabulary: vocab as number,
      hidden: hidden as number,
      positions: max_pos as number,
    });
    const reason = refused.find(([names]) => names.test(name))?.[1];
    if (reason) return expect(reading).rejects.toThrow(reason);
    const graph = await reading;
    if (unsupported.test(name)) return expect(program()).rejects.toMatchObject({ code: "engine_unsupported" });
    await expectClose(graph, await program(), MIN_COSINE);
    computed++;
  });
});
