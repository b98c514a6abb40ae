import * as ort from "onnxruntime-node";
import { BertEdgeError } from "../../../artifact/error.ts";
import type { Engine } from "../engine.ts";
import { engineFailed } from "../engine-error.ts";
import { runOneByOne, runPadded } from "../ort-run.ts";
import { withHead } from "../with-head.ts";

export type { Destination } from "../../../artifact/fill.ts";
export type { EmbedManifest, Manifest, Pooling, Target, TargetName } from "../../../artifact/manifest.ts";
export type { Engine, EngineSession, ModelFiles, TokenIds, VectorHead } from "../engine.ts";

/** Execution providers of onnxruntime-node that are of use to encoders. */
export type Provider = "tensorrt" | "cuda" | "cpu";

export interface OrtNodeOptions {
  /** Tried in this order; the first that loads the model is used. Default `["cpu"]`. */
  providers?: readonly Provider[];
  /** Threads one call may use on the CPU. Default: onnxruntime's, one a core. */
  threads?: number;
  /** Whether onnxruntime may rewrite the graph. Default true; false for a reference that must stay as written. */
  optimize?: boolean;
}

/** onnxruntime's native build on Node: `regional-cpu` on the CPU, `regional-gpu` on the others. */
export function ortNodeEngine({ providers = ["cpu"], threads, optimize = true }: OrtNodeOptions = {}): Engine {
  return {
    name: "ort-node",
    async load(source) {
      const failures: unknown[] = [];
      for (const provider of providers) {
        const target = provider === "cpu" ? "regional-cpu" : "regional-gpu";
        try {
          const session = await ort.InferenceSession.create(await source.read(target), {
            executionProviders: [provider],
            graphOptimizationLevel: optimize ? "all" : "disabled",
            ...(threads !== undefined && { intraOpNumThreads: threads }),
          });
          const run = provider === "cpu" ? runOneByOne : runPadded;
          return {
            provider,
            target,
            run: withHead((sequences) => run({ session, Tensor: ort.Tensor }, sequences)),
            memoryBytes: () => undefined,
            release: () => session.release(),
          };
        } catch (error) {
          if (error instanceof BertEdgeError && !isMissing(error)) throw error;
          failures.push(error);
        }
      }
      if (failures.every(isMissing)) throw failures[0];
      throw engineFailed("ort-node", `none of ${providers.join(", ")} took it`, new AggregateError(failures));
    },
  };
}

const isMissing = (error: unknown) => error instanceof BertEdgeError && error.code === "target_missing";
