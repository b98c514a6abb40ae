import { parentPort } from "node:worker_threads";
import { quantizeWeight } from "./quantize-weight.ts";
import type { WorkerTask } from "./weight-quantizer.ts";

/** The script of the threads of `quantizeWeights`: quantizes one weight for each message. */

parentPort?.on("message", (task: WorkerTask) => {
  const quantized = quantizeWeight(...task);
  const arrays = [quantized.values, quantized.scales, quantized.zeroPoints];
  parentPort?.postMessage(
    quantized,
    arrays.map(({ buffer }) => buffer as ArrayBuffer),
  );
});
