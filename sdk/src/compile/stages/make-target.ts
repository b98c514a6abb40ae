import { readFile } from "node:fs/promises";
import { BertEdgeError } from "../../artifact/error.ts";
import type { Target, TargetName } from "../../artifact/manifest.ts";
import { readModelFile } from "../../runtime/engine/wasm/load/model-file.ts";
import type { Measures } from "../accuracy/choose-precision.ts";
import { FP16_LIMIT, INT4_LIMIT, INT8_LIMIT, type Limit } from "../accuracy/limits.ts";
import { probesOf } from "../accuracy/probes.ts";
import type { TaskData } from "../accuracy/task-data.ts";
import { release } from "../files/stored-file.ts";
import type { Graph } from "../graph/graph.ts";
import { inputsOf } from "../model/run-task.ts";
import type { TextModel } from "../model/text-model.ts";
import { allInGroups, edgeQuantizers, type Precision, type Quantizer } from "../quantize/precisions.ts";
import { quantizableNodes } from "../quantize/quantize-graph.ts";
import type { CheckedFusion } from "./check.ts";
import { fitSize } from "./fit-size.ts";
import { type GraphRunner, graphRunner } from "./graph-runner.ts";
import { measure } from "./measure.ts";
import type { Observed } from "./observe.ts";
import { quantizeForEngine } from "./quantize.ts";
import type { StageContext, StageRun } from "./stage.ts";

interface Recipe {
  readonly engine: Target["engine"];
  /** Precisions to try, the fastest first. The first precision that reaches the limit is used. */
  readonly precisions: readonly Target["precision"][];
  readonly limit: Limit;
}

/**
 * The precisions that the target `regional-cpu` can have, the fastest first. Each is more accurate than the one before
 * (docs/accuracy.md).
 */
export const regionPrecisions = ["int8", "int8-mixed", "int8-blocks"] as const satisfies readonly Precision[];
export type RegionPrecision = (typeof regionPrecisions)[number];

/**
 * Returns the recipes of a target, one for each engine, the fastest first. If an engine cannot run a model, or is not accurate
 * enough, the next recipe is tried.
 */
export function recipesFor(target: TargetName, region: RegionPrecision, edge: EdgeChoice = {}): readonly Recipe[] {
  switch (target) {
    case "edge": {
      const wasm: Recipe = { engine: "wasm", precisions: ["int8-edge"], limit: INT8_LIMIT };
      // Only our engine has weights of 4 bits.
      if (edge.weightBits === 4 || edge.maxSize !== undefined) return [wasm];
      return [wasm, { engine: "ort-web", precisions: ["int8"], limit: INT8_LIMIT }];
    }
    case "regional-cpu":
      return [
        {
          engine: "ort-node",
          precisions: regionPrecisions.slice(regionPrecisions.indexOf(region)),
          limit: INT8_LIMIT,
        },
      ];
    case "regional-gpu":
      return [{ engine: "ort-node", precisions: ["fp16"], limit: FP16_LIMIT }];
  }
}

/** The user's choices for the edge's model file. */
export interface EdgeChoice {
  /** Bits of the weights of linear layers. Default: 8. */
  readonly weightBits?: 8 | 4 | undefined;
  /** Maximum bytes of the model file. It decides the bits of each layer and of the table. */
  readonly maxSize?: number | undefined;
  /** Maximum bytes of weights in memory. With more, the engine expands weights of 4 bits in each call. */
  readonly maxMemory?: number | undefined;
  /** Whether the token embedding table is cut into pages although it fits. */
  readonly pages?: boolean | undefined;
}

/** Input that all targets share. */
export interface TargetInput {
  readonly model: TextModel;
  /** The fused graph. */
  readonly graph: Graph;
  readonly checked: CheckedFusion;
  /** Runs the observe stage at the first call. */
  readonly observed: () => Promise<Observed>;
  readonly data: TaskData | undefined;
  readonly tableBits: 8 | 4;
  readonly edge: EdgeChoice;
  /** Returns the token ids of typical texts, the most frequent first. */
  readonly frequent: () => Int32Array<ArrayBuffer>;
  /** Preferred precision of the target `regional-cpu`. */
  readonly regionPrecision: RegionPrecision;
  /** Minimum mean cosine. The target's own limit applies if it is higher. */
  readonly minCosine: number;
  /** Quantizers by precision, shared by all targets. */
  readonly quantizers: Map<Precision, Quantizer>;
  readonly context: Pick<StageContext, "folder" | "signal">;
}

/** An engine that could not run a target, or was not accurate enough, and the reason. */
export interface PassedOver {
  readonly target: TargetName;
  readonly engine: Target["engine"];
  readonly why: string;
}

export interface MadeTarget {
  readonly name: TargetName;
  readonly target: Omit<Target, "model">;
  /** Path of the model file, which pages follow in the same file. */
  readonly path: string;
  readonly modelBytes: number;
  readonly extension: string;
  readonly passedOver: readonly PassedOver[];
}

/**
 * Quantizes and measures a target for its fastest engine. If that engine cannot run the model, or is not accurate
 * enough, the next engine is tried.
 *
 * @throws BertEdgeError `engine_unsupported` or `accuracy_gate` if no engine is left: the error of the last engine
 */
export async function makeTarget(run: StageRun["run"], name: TargetName, input: TargetInput): Promise<MadeTarget> {
  const passedOver: PassedOver[] = [];
  let refused: BertEdgeError | undefined;
  for (const recipe of recipesFor(name, input.regionPrecision, input.edge)) {
    try {
      return { ...(await followRecipe(run, name, recipe, input)), passedOver };
    } catch (error) {
      if (!(error instanceof BertEdgeError)) throw error;
      error.cause ??= refused;
      if (error.code !== "engine_unsupported" && error.code !== "accuracy_gate") throw error;
      refused = error;
      passedOver.push({ target: name, engine: recipe.engine, why: error.message });
    }
  }
  throw refused;
}

async function followRecipe(
  run: StageRun["run"],
  name: TargetName,
  { engine, precisions, limit }: Recipe,
  input: TargetInput,
): Promise<Omit<MadeTarget, "passedOver">> {
  const { model, graph, checked, observed, data, tableBits, minCosine, quantizers, context } = input;
  const runner = graphRunner(model, engine, context, { ...input.edge, frequent: input.frequent });
  const label = `${name} on ${engine}`;
  const probes = probesOf(model);
  const measures: Measures = {
    parity: async (candidate, progress) =>
      probes.compare(checked.reference, await runner.compute(candidate, inputsOf(model.task, probes.texts), progress)),
    async task(candidate, progress) {
      if (!data || checked.score === undefined) return undefined;
      return {
        metric: data.metric,
        score: await data.score((texts) => runner.compute(candidate, texts, progress)),
        fp32: checked.score,
      };
    },
  };
  const { layers, hasFourBits } = runner.mixesPrecisions
    ? { layers: quantizableNodes(graph), hasFourBits: false }
    : await inFourBits(run, input, runner, measures.parity);
  const { meanCosine, ...others } = hasFourBits ? INT4_LIMIT : limit;
  const quantized = await run(quantizeForEngine, {
    ...{ graph, precisions, observed: await observed(), tableBits, layers, quantizers, label },
  });
  const choice = await run(measure<Precision>(), {
    what: label,
    quantized,
    limit: { ...others, meanCosine: Math.max(meanCosine, minCosine) },
    measures,
  });
  const { path, modelBytes } = await runner.file(choice.graph);
  const weights = engine === "wasm" ? await fourBitWeights(path, modelBytes) : undefined;
  const target = {
    engine,
    precision: choice.label,
    kept: [...choice.kept],
    ...(weights && { weights }),
    ...choice.measured,
  };
  return { name, target, path, modelBytes, extension: runner.extension };
}

/** Counts the linear layers of a model file, and those whose weights have 4 bits. Returns undefined if nothing has 4 bits. */
async function fourBitWeights(path: string, modelBytes: number): Promise<Target["weights"]> {
  const bytes = await readFile(path);
  const { steps, expands = "once" } = readModelFile(bytes.subarray(0, modelBytes)).program;
  release(bytes);
  const layers = steps.filter((step) => step.op === "linearInt8");
  const layersInFourBits = layers.filter(({ group }) => group !== undefined).length;
  const tableBits = steps.find((step) => step.op === "lookup")?.bits ?? 8;
  if (layersInFourBits === 0 && tableBits === 8) return undefined;
  return { layers: layers.length, layersInFourBits, tableBits, expanded: expands };
}

/** Layers that can have 8 bits instead of 4, and whether some weights have 4 bits. */
interface FourBits {
  readonly layers: readonly string[];
  readonly hasFourBits: boolean;
}

/**
 * Adds the quantizer of our engine if some weights are to have 4 bits. If a maximum size has decided which, no layer can have 8 bits
 * instead.
 */
async function inFourBits(
  run: StageRun["run"],
  { graph, observed, tableBits, edge: { weightBits, maxSize }, quantizers }: TargetInput,
  { wholeSize }: GraphRunner,
  parity: Measures["parity"],
): Promise<FourBits> {
  if (weightBits !== 4 && maxSize === undefined) return { layers: [], hasFourBits: false };
  const edge = edgeQuantizers(graph, (await observed()).statistics);
  if (maxSize === undefined) {
    quantizers.set("int8-edge", edge.quantizer({ tableBits, groups: allInGroups(edge.layers, 16) }));
    return {
      layers: [...edge.layers.map(({ name }) => name), ...(tableBits === 4 ? edge.tables : [])],
      hasFourBits: true,
    };
  }
  const forms = await run(fitSize, { quantizers: edge, maxSize, parity, sizeOf: wholeSize });
  quantizers.set("int8-edge", edge.quantizer(forms));
  return { layers: [], hasFourBits: forms.groups.size > 0 };
}
