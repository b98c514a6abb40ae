/** The script of the threads of `quantizeWeights`: quantizes one weight for each message. */
import { parentPort } from "node:worker_threads";
import { quantizeWeight } from "./quantize-weight.ts";
import type { WorkerTask } from "./quantize-weights.ts";

parentPort?.on("message", (task: WorkerTask) => {
  const quantized = quantizeWeight(...task);
  const arrays = [quantized.values, quantized.scales, quantized.zeroPoints];
  parentPort?.postMessage(
    quantized,
    arrays.map(({ buffer }) => buffer as ArrayBuffer),
  );
});
