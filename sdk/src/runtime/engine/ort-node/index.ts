import { availableParallelism, cpus } from "node:os";
import { BertEdgeError } from "../../../artifact/error.ts";
import { assertFiniteOnnx } from "../assert-finite-onnx.ts";
import { ofSimilarLength, oneByOne } from "../batching.ts";
import type { Engine } from "../engine.ts";
import { engineFailed } from "../engine-error.ts";
import { mergedRuns } from "../merged-runs.ts";
import { type OrtSession, ortRun } from "../ort-run.ts";
import { inBatches } from "../with-head.ts";
import { onnxruntimeNode } from "./onnxruntime-node.ts";
import { EXACT_INT8, overflowsInt8 } from "./overflows-int8.ts";
import { sessionThreads } from "./session-threads.ts";

export type { Engine } from "../engine.ts";

/**
 * Maximum number of calls that can share the batches of a GPU. While one batch runs, the calls for the next batch wait in the
 * engine. Further calls wait in the scheduler's queue, which can still drop them or start more urgent calls first.
 */
const MERGED_CALLS = 64;

/** Execution providers of onnxruntime-node that encoders can use. */
export type Provider = "tensorrt" | "cuda" | "webgpu" | "cpu";

export interface OrtNodeOptions {
  /** Providers to try, in this order. The engine uses the first one that can load the model. Default `["cpu"]`. */
  providers?: readonly Provider[];
  /** CPU threads per call. Default: one per core that this process may use, divided by `sessions`. */
  threads?: number;
  /**
   * Number of sessions of the model on the CPU. They run calls side by side, each in its own thread and with its own copy of the
   * weights. The calling thread stays free for requests. On a GPU, any number above 0 means one session in a thread, and calls
   * that arrive while it computes share the next batch. Default 0: calls occupy the calling thread.
   */
  sessions?: number;
  /** Whether onnxruntime may rewrite the graph. Default true. Set false to run the graph exactly as written. */
  optimize?: boolean;
}

/**
 * Creates an engine from onnxruntime-node, the native build of onnxruntime. It loads the target `regional-cpu` with the
 * provider `cpu`, and the target `regional-gpu` with all other providers. `load` throws `package_missing` if the package
 * is not installed.
 *
 * @throws BertEdgeError `setting_invalid`
 */
export function ortNodeEngine({
  providers = ["cpu"],
  sessions = 0,
  threads = sessions > 0 ? Math.max(1, Math.floor(availableParallelism() / sessions)) : coresAllowed(),
  optimize = true,
}: OrtNodeOptions = {}): Engine {
  if (!(Number.isInteger(sessions) && sessions >= 0)) {
    throw new BertEdgeError("setting_invalid", `sessions must be a whole number of at least 0, but is ${sessions}.`, {
      hint: "Give the number of calls that run side by side, for example the number of cores.",
    });
  }
  return {
    name: "ort-node",
    // onnxruntime-node promises its results, but computes them on the calling thread.
    blocksThread: sessions === 0,
    async load(source) {
      const ort = await onnxruntimeNode();
      const failures: { provider: Provider; error: unknown }[] = [];
      for (const provider of providers) {
        const target = provider === "cpu" ? "regional-cpu" : "regional-gpu";
        try {
          const model = source.path?.(target) ?? (await source.read(target));
          if (typeof model !== "string") assertFiniteOnnx(model);
          const isCpu = provider === "cpu";
          const options = {
            executionProviders: [provider],
            graphOptimizationLevel: optimize ? "all" : "disabled",
            ...(threads !== undefined && { intraOpNumThreads: threads }),
            ...(isCpu && (await overflowsInt8()) && EXACT_INT8),
          } as const;
          const session: OrtSession =
            sessions > 0
              ? await sessionThreads({ size: isCpu ? sessions : 1, model, options })
              : await ort.InferenceSession.create(model as string, options);
          const run = ortRun({ session, Tensor: ort.Tensor });
          const batches = isCpu ? oneByOne : ofSimilarLength;
          const parallel = sessions === 0 ? 1 : isCpu ? sessions : MERGED_CALLS;
          return {
            provider,
            target,
            parallel,
            batches,
            run: isCpu ? inBatches(run, batches, parallel) : mergedRuns(run, batches),
            passedOver: failures.map(({ provider, error }) => ({ provider, why: messageOf(error) })),
            memoryBytes: () => undefined,
            release: () => session.release(),
          };
        } catch (error) {
          if (error instanceof BertEdgeError && !isMissing(error)) throw error;
          failures.push({ provider, error });
        }
      }
      const errors = failures.map(({ error }) => error);
      if (errors.every(isMissing)) throw errors[0];
      throw engineFailed(
        "ort-node",
        `none of the execution providers ${providers.join(", ")} could load it`,
        new AggregateError(errors),
      );
    },
  };
}

/**
 * Returns the number of cores that a container or a CPU affinity allows; undefined if all are allowed. onnxruntime does not
 * know such limits: it would start one thread per core of the machine, and the threads would wait for each other.
 */
function coresAllowed(): number | undefined {
  const allowed = availableParallelism();
  return allowed < cpus().length ? allowed : undefined;
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const isMissing = (error: unknown) => error instanceof BertEdgeError && error.code === "target_missing";
