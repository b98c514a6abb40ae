import { maxTokensOf } from "#sdk/compile/checkpoint/encoder-config.ts";
import { fuseGraph } from "#sdk/compile/fusions/fuse-graph.ts";
import { copyGraph } from "#sdk/compile/graph/copy-graph.ts";
import type { Graph } from "#sdk/compile/graph/graph.ts";
import { encodeProgram } from "#sdk/compile/lower/write-model-file.ts";
import { describeModel } from "#sdk/compile/model/describe-model.ts";
import { readTextModel, type TextModel } from "#sdk/compile/model/text-model.ts";
import { normalizeGraph } from "#sdk/compile/normalize/normalize-graph.ts";
import { encodeOnnx } from "#sdk/compile/onnx/to-onnx.ts";
import { allInGroups, edgeQuantizers, precisions } from "#sdk/compile/quantize/precisions.ts";
import { Questions } from "#sdk/compile/rewrite/questions.ts";
import { Trace } from "#sdk/compile/rewrite/trace.ts";
import type { WeightGroup } from "#sdk/runtime/engine/wasm/ops/linear.ts";

type File = Uint8Array<ArrayBuffer>;

/**
 * Forms of a model. A form is a file format with a precision. Its function encodes a model as a file in this form.
 * Weights are quantized without calibration, because calibration does not change the time of a run. Models of
 * sentence-transformers often allow fewer tokens than they have positions: "all positions" is for texts of 512 tokens.
 * In forms with "int4", all linear layers and the token embedding table have 4 bits. The weights are in groups of 16, and expanded
 * once, unless the name says otherwise.
 */
const forms = {
  "wasm, all positions": async ({ model, fused }: Graphs) =>
    packed(model, await precisions["int8-edge"](fused)(), maxTokensOf(model.config)),
  wasm: async ({ model, fused }: Graphs) => packed(model, await precisions["int8-edge"](fused)()),
  "wasm, int4 table": async ({ model, fused }: Graphs) =>
    packed(model, await precisions["int8-edge"](fused, { tableBits: 4 })()),
  "wasm, int4": async ({ model, fused }: Graphs) => packed(model, await inFourBits(fused, 16)),
  "wasm, int4 in each call": async ({ model, fused }: Graphs) => inEachCall(model, await inFourBits(fused, 16)),
  "wasm, int4 in groups of 32, in each call": async ({ model, fused }: Graphs) =>
    inEachCall(model, await inFourBits(fused, 32)),
  fp32: async ({ fused }: Graphs) => encodeOnnx(copyGraph(fused)),
  int8: async ({ fused }: Graphs) => encodeOnnx(await precisions.int8(fused)()),
  "int8-blocks": async ({ fused }: Graphs) => encodeOnnx(await precisions["int8-blocks"](fused)()),
  "int8, not fused": async ({ plain }: Graphs) => encodeOnnx(await precisions.int8(plain)()),
} as const;
export type Form = keyof typeof forms;

interface Graphs {
  readonly model: TextModel;
  readonly fused: Graph;
  /** The normalized graph before fusion, with standard operators only. */
  readonly plain: Graph;
}

/** A model that can be encoded in every form. Each file is made when it is first requested. */
export interface Subject {
  readonly model: TextModel;
  file(form: Form): Promise<File>;
}

export async function openSubject(folder: string): Promise<Subject> {
  const model = await readTextModel(await describeModel(folder));
  const [fused, plain] = [copyGraph(model.graph), copyGraph(model.graph)];
  await fuseGraph(fused);
  await normalizeGraph(plain, new Trace(), new Questions());
  const files = new Map<Form, Promise<File>>();
  return {
    model,
    file(form) {
      const made = files.get(form) ?? forms[form]({ model, fused, plain });
      files.set(form, made);
      return made;
    },
  };
}

const packed = (model: TextModel, graph: Graph, maxTokens = model.maxTokens): Promise<File> =>
  encodeProgram(graph, { maxTokens, vocabulary: model.config.vocabularySize });

/** Packs a model whose weights of 4 bits are expanded in each call: they never fit into one byte. */
const inEachCall = ({ maxTokens, config }: TextModel, graph: Graph): Promise<File> =>
  encodeProgram(graph, { maxTokens, vocabulary: config.vocabularySize, maxMemory: 1 });

/** Quantizes all linear layers and the token embedding table in 4 bits. */
async function inFourBits(fused: Graph, group: WeightGroup): Promise<Graph> {
  const { layers, quantizer } = edgeQuantizers(fused, undefined);
  return quantizer({ tableBits: 4, groups: allInGroups(layers, group) })();
}
