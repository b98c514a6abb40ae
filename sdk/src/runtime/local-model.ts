import { BertEdgeError } from "../artifact/error.ts";
import type { Manifest, TargetName } from "../artifact/manifest.ts";
import { shown } from "../artifact/shown.ts";
import { assertOptions } from "../artifact/similar-names.ts";
import type { Model } from "./model.ts";
import { methodCall, methodsOf, type TaskMethods, type TaskOptions } from "./tasks/task-methods.ts";
import { isTruncation } from "./truncation.ts";

/** Details that a loaded model adds to each result. */
export interface ModelDetails {
  /** Tokens of all sequences together. */
  readonly tokens: number;
  /** Name and version of the model. */
  readonly model: string;
  readonly version: string;
}

/** A model that is loaded into this process, or page. `await using` releases it at the end of its block. */
export interface LocalModel extends TaskMethods<object, ModelDetails>, AsyncDisposable {
  /** The artifact's description of the model: its name, its task, the number of tokens that it reads. */
  readonly manifest: Manifest;
  readonly version: string;
  /** The target that the engine loaded: `edge`, `regional-cpu`, … */
  readonly target: TargetName;
  /** The execution provider that runs the model: `wasm`, `cpu`, `cuda`, … */
  readonly provider: string;
  /** Frees the model's memory. Later calls fail. */
  release(): Promise<void>;
}

/** Gives a model the methods of the tasks. */
export const withMethods = (model: Model): LocalModel => {
  const { manifest, version, target, provider } = model;
  const methods = methodsOf((name) => async (...args: unknown[]) => {
    const { call, options } = methodCall(name, args);
    checkOptions(name, options);
    const { sequences, decode } = model.encode(call.on(manifest));
    const { outputs, tokens } = await model.run(sequences);
    return { ...decode(outputs), tokens, model: manifest.name, version };
  });
  const release = () => model.release();
  return {
    ...(methods as unknown as TaskMethods<object, ModelDetails>),
    ...{ manifest, version, target, provider, release },
    [Symbol.asyncDispose]: release,
  };
};

const encoding = ["truncate", "promptName"] as const;

/** Names of the options of each task. */
export const optionNames = {
  embed: [...encoding, "dimensions", "poolChunks", "normalize"],
  classify: ["truncate", "topK", "functionToApply"],
  zeroShot: ["truncate", "multiLabel", "hypothesisTemplate"],
  tag: ["truncate", "aggregationStrategy", "ignoreLabels"],
  answer: ["topK", "maxAnswerTokens", "docStride", "handleImpossibleAnswer"],
  fillMask: ["truncate", "topK", "targets"],
  similarity: encoding,
  rerank: ["truncate", "topN", "maxTokensPerDoc", "returnDocuments"],
  sparse: encoding,
  tokenVectors: [...encoding, "side"],
} as const satisfies { [Method in keyof TaskMethods]: readonly (keyof TaskOptions<Method>)[] };

/** Checks options, because plain JavaScript can pass any value. @throws BertEdgeError `request_invalid` */
function checkOptions(method: keyof TaskMethods, options: { readonly truncate?: unknown }): void {
  assertOptions(method, options, optionNames[method], "request_invalid");
  const { truncate } = options;
  if (truncate === undefined || isTruncation(truncate)) return;
  throw new BertEdgeError("request_invalid", `The option truncate of ${method} is ${shown(truncate)}.`, {
    hint: 'Give true, false, "left" or "right", or leave it out.',
  });
}
