import { BertEdgeError } from "../../artifact/error.ts";
import type { Target, TargetName } from "../../artifact/manifest.ts";
import { FP16_LIMIT, INT8_LIMIT, type Limit } from "../accuracy/limits.ts";

export interface Recipe {
  readonly engine: Target["engine"];
  /** The fastest first; the first that reaches the limit is taken. */
  readonly precisions: readonly Target["precision"][];
  readonly limit: Limit;
}

/** What each target runs, the fastest engine first; a model that it cannot run, or not accurately, goes to the next. */
export const recipes: Record<TargetName, readonly Recipe[]> = {
  edge: [
    { engine: "wasm", precisions: ["int8-edge"], limit: INT8_LIMIT },
    { engine: "ort-web", precisions: ["int8"], limit: INT8_LIMIT },
  ],
  "regional-cpu": [{ engine: "ort-node", precisions: ["int8", "int8-blocks"], limit: INT8_LIMIT }],
  "regional-gpu": [{ engine: "ort-node", precisions: ["fp16"], limit: FP16_LIMIT }],
};

/** Reasons to try another engine. */
const elsewhere = new Set(["engine_unsupported", "accuracy_gate"]);

/** An engine that was tried first, and what it was refused for. */
export interface PassedOver {
  readonly engine: Target["engine"];
  readonly why: string;
}

/** What the first recipe makes that can make it; the last one's error when none can. */
export async function firstOf<T>(
  [recipe, ...others]: readonly Recipe[],
  build: (recipe: Recipe) => Promise<T>,
  onPassedOver: (which: PassedOver) => void,
): Promise<T> {
  const { engine } = recipe as Recipe;
  try {
    return await build(recipe as Recipe);
  } catch (error) {
    if (others.length === 0 || !(error instanceof BertEdgeError && elsewhere.has(error.code))) throw error;
    onPassedOver({ engine, why: error.message });
    return firstOf(others, build, onPassedOver).catch((last: unknown) => {
      if (last instanceof Error) last.cause ??= error;
      throw last;
    });
  }
}
