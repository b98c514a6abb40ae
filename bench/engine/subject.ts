import { maxTokensOf } from "#sdk/compile/checkpoint/encoder-config.ts";
import { fuseGraph } from "#sdk/compile/fusions/fuse-graph.ts";
import { copyGraph } from "#sdk/compile/graph/copy-graph.ts";
import type { Graph } from "#sdk/compile/graph/graph.ts";
import { byFrequency } from "#sdk/compile/lower/cut-into-pages.ts";
import {
  type Encoded,
  type EncodeOptions,
  encodeProgram,
  encodeWithPages,
  type PagingOptions,
} from "#sdk/compile/lower/encode-program.ts";
import { describeModel } from "#sdk/compile/model/describe-model.ts";
import { inputsOf } from "#sdk/compile/model/run-task.ts";
import { readTextModel, type TextModel } from "#sdk/compile/model/text-model.ts";
import { normalizeGraph } from "#sdk/compile/normalize/normalize-graph.ts";
import { encodeOnnx } from "#sdk/compile/onnx/to-onnx.ts";
import { calibrationTexts } from "#sdk/compile/quantize/calibration/calibration-texts.ts";
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
    packed(model, await precisions["int8-edge"](fused)(), { maxTokens: maxTokensOf(model.config) }),
  wasm: async ({ model, fused }: Graphs) => packed(model, await precisions["int8-edge"](fused)()),
  "wasm, int4 table": async ({ model, fused }: Graphs) =>
    packed(model, await precisions["int8-edge"](fused, { tableBits: 4 })()),
  "wasm, int4": async ({ model, fused }: Graphs) => packed(model, await inFourBits(fused, 16)),
  "wasm, int4 in each call": async ({ model, fused }: Graphs) => inEachCall(model, await inFourBits(fused, 16)),
  "wasm, int4 in groups of 32, in each call": async ({ model, fused }: Graphs) =>
    inEachCall(model, await inFourBits(fused, 32)),
  "wasm, int4, in pages": async ({ model, fused }: Graphs) =>
    inPages(model, await inFourBits(fused, 16), { pages: true }),
  "wasm, int4 in groups of 32, in each call, in pages": async ({ model, fused }: Graphs) =>
    inPages(model, await inFourBits(fused, 32), { maxMemory: PAGED_MEMORY }),
  fp32: async ({ fused }: Graphs) => ({ file: encodeOnnx(copyGraph(fused)) }),
  int8: async ({ fused }: Graphs) => ({ file: encodeOnnx(await precisions.int8(fused)()) }),
  "int8-blocks": async ({ fused }: Graphs) => ({ file: encodeOnnx(await precisions["int8-blocks"](fused)()) }),
  "int8, not fused": async ({ plain }: Graphs) => ({ file: encodeOnnx(await precisions.int8(plain)()) }),
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
  encoded(form: Form): Promise<Encoded>;
}

export async function openSubject(folder: string): Promise<Subject> {
  const model = await readTextModel(await describeModel(folder));
  const [fused, plain] = [copyGraph(model.graph), copyGraph(model.graph)];
  await fuseGraph(fused);
  await normalizeGraph(plain, new Trace(), new Questions());
  const made = new Map<Form, Promise<Encoded>>();
  function encoded(form: Form): Promise<Encoded> {
    const found = made.get(form) ?? forms[form]({ model, fused, plain });
    made.set(form, found);
    return found;
  }
  return { model, encoded, file: async (form) => (await encoded(form)).file };
}

const packed = async (
  { maxTokens, config }: TextModel,
  graph: Graph,
  options: Partial<EncodeOptions> = {},
): Promise<Encoded> => ({
  file: await encodeProgram(graph, { maxTokens, vocabulary: config.vocabularySize, ...options }),
});

/** Packs a model whose weights of 4 bits are expanded in each call: they never fit into one byte. */
const inEachCall = (model: TextModel, graph: Graph): Promise<Encoded> => packed(model, graph, { maxMemory: 1 });

/** Maximum bytes of weights in memory. A BERT-base in 4 bits has more, so that its token embedding table is cut into pages. */
const PAGED_MEMORY = 53e6;

/** Packs a model whose token embedding table is in pages, apart from rows of tokens in the calibration texts. */
function inPages(
  model: TextModel,
  graph: Graph,
  options: Pick<EncodeOptions & PagingOptions, "maxMemory" | "pages">,
): Promise<Encoded> {
  const frequent = byFrequency(model.encode(inputsOf(model.task, calibrationTexts, 2)));
  const { maxTokens, config } = model;
  return encodeWithPages(graph, { maxTokens, vocabulary: config.vocabularySize, frequent: () => frequent, ...options });
}

/** Quantizes all linear layers and the token embedding table in 4 bits. */
export async function inFourBits(fused: Graph, group: WeightGroup): Promise<Graph> {
  const { layers, quantizer } = edgeQuantizers(fused, undefined);
  return quantizer({ tableBits: 4, groups: allInGroups(layers, group) })();
}
