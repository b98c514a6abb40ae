import { readTensors } from "#sdk/compile/checkpoint/read-tensors.ts";
import { float32Tensor, safetensorsFile, withHeader } from "../../fixtures/safetensors-file.ts";
import { SeededChoice } from "../choose.ts";
import { damagedBytes } from "../damage-bytes.ts";
import type { Json } from "../damage-json.ts";
import { damagedJsonText } from "../damaged-json-text.ts";
import { outcome } from "../outcome.ts";
import type { Target } from "../target.ts";

/** safetensors files of checkpoints. Every tensor that is accepted is read. */
export const safetensors: Target = {
  runs: { long: 200_000, short: 500 },
  refusals: ["safetensors_invalid"],
  async start() {
    const tensors = {
      "bert.weight": float32Tensor(
        [3, 4],
        Array.from({ length: 12 }, (_, i) => i),
      ),
      "bert.bias": float32Tensor([4], [1, 2, 3, 4]),
      half: { dtype: "F16", shape: [2, 3], data: new Uint8Array(12) } as const,
    };
    const sound = safetensorsFile(tensors, { format: "pt" });
    const headerEnd = 8 + Number(new DataView(sound.buffer).getBigUint64(0, true));
    const header = JSON.parse(Buffer.from(sound.subarray(8, headerEnd)).toString()) as Json;
    return (seed) => {
      const choice = new SeededChoice(seed);
      const file = choice.below(2)
        ? withHeader(damagedJsonText(header, choice), sound.subarray(headerEnd))
        : damagedBytes(sound, choice);
      return outcome(() => {
        for (const tensor of readTensors(file, "fuzzed").values()) void tensor.data;
      });
    };
  },
};
