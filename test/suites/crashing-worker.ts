import { parentPort } from "node:worker_threads";
import { answering } from "../../sdk/src/runtime/engine/wasm-pool/answering.ts";
import type { Task } from "../../sdk/src/runtime/engine/wasm-pool/thread.ts";

/** First tokens of sequences at which this thread ends: instead of an answer, with an error, or after an answer. */
export const CRASH = { exits: 41, throws: 42, exitsAfterwards: 43 } as const;

const answer = answering((message, buffers) => parentPort?.postMessage(message, buffers));

parentPort?.on("message", async (task: Task) => {
  const begins = (id: number) => "sequences" in task && task.sequences.some((ids) => ids[0] === id);
  if (begins(CRASH.exits)) process.exit(3);
  if (begins(CRASH.throws)) throw new RangeError("as wanted");
  await answer(task);
  if (begins(CRASH.exitsAfterwards)) setImmediate(() => process.exit(4));
});
