import type { Task } from "../../artifact/manifest.ts";
import type { VectorHead } from "../../runtime/engine/engine.ts";

/** Returns how hidden states become a vector; undefined for classifiers, whose graphs end in logits. */
export const vectorHead = (task: Task): VectorHead | undefined => (task.task === "embed" ? task : undefined);
