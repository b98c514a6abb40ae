import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { attempt } from "../onnx/attempt.ts";
import { damaged } from "../onnx/damage.ts";
import type { Target } from "../target.ts";
import { workFolder } from "../work-folder.ts";

/** ONNX files: read, fused, encoded and decoded. */
export const onnx: Target = {
  runs: { long: 20_000, short: 150 },
  refusals: ["onnx_invalid", "graph_invalid"],
  async start() {
    const path = join(workFolder(), "model.onnx");
    return (seed) => {
      writeFileSync(path, damaged(seed).bytes);
      return attempt(path);
    };
  },
};
