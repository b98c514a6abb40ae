import { idsOf } from "#sdk/runtime/engine/token-sequence.ts";
import { answering } from "#sdk/runtime/engine/wasm-pool/answering.ts";
import type { ThreadTask } from "#sdk/runtime/engine/wasm-pool/thread-task.ts";
import { CRASHING } from "./crash-outcomes.ts";

const answer = answering((message, buffers) => self.postMessage(message, { transfer: buffers }));

self.onmessage = ({ data }: { data: ThreadTask }) => {
  if ("sequences" in data && data.sequences.some((sequence) => idsOf(sequence)[0] === CRASHING))
    throw new RangeError("A crash on purpose.");
  return answer(data);
};
