import { BertEdgeError } from "../../artifact/error.ts";
import type { Target, TargetName } from "../../artifact/manifest.ts";
import type { Measures } from "../accuracy/choose-precision.ts";
import { FP16_LIMIT, INT8_LIMIT, type Limit } from "../accuracy/limits.ts";
import { probesOf } from "../accuracy/probes.ts";
import type { TaskData } from "../accuracy/task-data.ts";
import type { Graph } from "../graph/graph.ts";
import { inputsOf } from "../model/run-task.ts";
import type { TextModel } from "../model/text-model.ts";
import type { Precision, Quantizer } from "../quantize/precisions.ts";
import type { CheckedFusion } from "./check.ts";
import { graphRunner } from "./graph-runner.ts";
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
export function recipesFor(target: TargetName, region: RegionPrecision): readonly Recipe[] {
  switch (target) {
    case "edge":
      return [
        { engine: "wasm", precisions: ["int8-edge"], limit: INT8_LIMIT },
        { engine: "ort-web", precisions: ["int8"], limit: INT8_LIMIT },
      ];
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
  /** Path of the model file. */
  readonly path: string;
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
  for (const recipe of recipesFor(name, input.regionPrecision)) {
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
  { model, graph, checked, observed, data, tableBits, minCosine, quantizers, context }: TargetInput,
): Promise<Omit<MadeTarget, "passedOver">> {
  const { mixesPrecisions, extension, file, compute } = graphRunner(model, engine, context);
  const label = `${name} on ${engine}`;
  const quantized = await run(quantizeForEngine, {
    ...{ graph, precisions, observed: await observed(), tableBits, mixesPrecisions, quantizers, label },
  });
  const probes = probesOf(model);
  const measures: Measures = {
    parity: async (candidate, progress) =>
      probes.compare(checked.reference, await compute(candidate, inputsOf(model.task, probes.texts), progress)),
    async task(candidate, progress) {
      if (!data || checked.score === undefined) return undefined;
      return {
        metric: data.metric,
        score: await data.score((texts) => compute(candidate, texts, progress)),
        fp32: checked.score,
      };
    },
  };
  const choice = await run(measure<Precision>(), {
    what: label,
    quantized,
    limit: { ...limit, meanCosine: Math.max(limit.meanCosine, minCosine) },
    measures,
  });
  const target = { engine, precision: choice.label, kept: [...choice.kept], ...choice.measured };
  return { name, target, path: await file(choice.graph), extension };
}
