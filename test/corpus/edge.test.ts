import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { EncoderConfig } from "#sdk/compile/checkpoint/encoder-config.ts";
import { exportedGraph } from "#sdk/compile/checkpoint/exported-graph.ts";
import { fuseGraph } from "#sdk/compile/fusions/fuse-graph.ts";
import { copyGraph } from "#sdk/compile/graph/copy-graph.ts";
import { encodeProgram } from "#sdk/compile/lower/encode-program.ts";
import { encodeOnnx } from "#sdk/compile/onnx/to-onnx.ts";
import { precisions } from "#sdk/compile/quantize/precisions.ts";
import { engineOnThisMachine } from "#sdk/local/engines.ts";
import { type Engine, oneModel } from "#sdk/runtime/engine/engine.ts";
import { ortNodeEngine } from "#sdk/runtime/engine/ort-node/index.ts";
import { cosine } from "#sdk/runtime/tasks/sentence-vector.ts";
import { describeShared } from "../fixtures/shared.ts";

/** Of 32 random channels and two layers; 0.9998 is the lowest of all cases. */
const MIN_COSINE = 0.9995;
const MAX_TOKENS = 12;

const texts = [
  [2, 5, 9, 14, 3],
  [2, 17, 20, 11, 6, 7, 8, 3],
].map((ids) => Int32Array.from(ids));

/** Exports that are no encoder or classifier of float32 with open sizes, by what is said of them. */
const refused: readonly (readonly [RegExp, RegExp])[] = [
  [/^khub-/, /none of the results|an input padding_mask/],
  [/^(t213-bert-fixed-|tf215-bert-fixed-|optonnx-bert-static)/, /of a fixed size/],
  [/^q-|^qat-/, /is quantized/],
  [/-fp16-/, /half precision/],
  [/masked-lm|fill-mask|token-cls/, /a result logits of another shape/],
  [/-bert-qa-/, /none of the results/],
  [/deberta-(v2|eager)/, /no table of \d+ positions/],
  [/-nomask-/, /no input attention_mask/],
  [/mobilebert-eager-l17/, /of a shape that is not known/],
];

/** What the engine has no steps for: bottlenecks, and how Keras takes the first token. */
const unsupported = /mobilebert|tf215-.*-seq-cls/;

interface Case {
  readonly config: { readonly vocab: number; readonly hidden: number; readonly max_pos: number };
  readonly outputs: readonly Readonly<Record<string, { readonly shape: readonly number[] }>>[];
}

describeShared("corpus", "an export on the WebAssembly engine", (folder) => {
  const cases = existsSync(folder)
    ? readdirSync(folder).filter((name) => existsSync(join(folder, name, "case.json")))
    : [];
  let edge: Engine;
  let computed = 0;
  beforeAll(async () => {
    edge = await engineOnThisMachine("wasm");
  });
  afterAll(() => expect(computed).toBeGreaterThanOrEqual(110));

  it.each(cases)("%s computes what it computes in float32, or says why it cannot", async (name) => {
    const { config, outputs } = JSON.parse(readFileSync(join(folder, name, "case.json"), "utf8")) as Case;
    const { vocab, hidden, max_pos } = config;
    const labels = outputs[0]?.["logits"]?.shape;
    const result = labels
      ? { names: ["logits"], shape: [undefined, labels.at(-1)] }
      : { names: ["last_hidden_state", "token_embeddings"], shape: [undefined, undefined, hidden] };
    const rope_theta = /modernbert|nomic/.test(name) ? [1] : undefined;
    const size = {
      vocab_size: vocab,
      hidden_size: hidden,
      max_position_embeddings: max_pos,
      rope_theta,
    } as EncoderConfig;
    const reading = exportedGraph(join(folder, name, "model.onnx"), size, result);
    const reason = refused.find(([names]) => names.test(name))?.[1];
    if (reason) return expect(reading).rejects.toThrow(reason);

    const graph = await reading;
    const fused = copyGraph(graph);
    await fuseGraph(fused);
    const packing = encodeProgram(precisions["int8-edge"](fused)(), { maxTokens: MAX_TOKENS, vocabulary: vocab });
    if (unsupported.test(name)) return expect(packing).rejects.toMatchObject({ code: "engine_unsupported" });

    const session = await edge.load(oneModel(await packing));
    const reference = await ortNodeEngine({ threads: 1, optimize: false }).load(oneModel(encodeOnnx(graph)));
    const [found, wanted] = [await session.run(texts), await reference.run(texts)];
    await reference.release();
    for (const [i, values] of found.entries()) {
      expect(values).toHaveLength(wanted[i]?.length as number);
      expect(cosine(values, wanted[i] as Float32Array)).toBeGreaterThan(MIN_COSINE);
    }
    computed++;
  });
});
