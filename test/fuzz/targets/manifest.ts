import { parseManifest } from "#sdk/artifact/manifest.ts";
import { smallFiles, smallManifest } from "../../fixtures/small-artifact.ts";
import { SeededChoice } from "../choose.ts";
import { damagedBytes } from "../damage-bytes.ts";
import type { Json } from "../damage-json.ts";
import { damagedJsonText } from "../damaged-json-text.ts";
import { outcome } from "../outcome.ts";
import type { Target } from "../target.ts";

/** manifest.json, of every task. */
export const manifest: Target = {
  runs: { long: 200_000, short: 800 },
  refusals: ["manifest_invalid"],
  async start() {
    const { ...embed } = (await smallManifest(smallFiles())) as unknown as { [key: string]: Json };
    const sound: { [key: string]: Json }[] = [
      { ...embed, prompts: { query: "query: " }, defaultPrompt: "query" },
      { ...embed, task: "classify", labels: ["a", "b"], input: "text" },
      { ...embed, task: "tag", labels: ["O", "B-x"] },
      { ...embed, task: "fill-mask", mask: { id: 3, token: "[MASK]" } },
    ];
    return (seed) => {
      const choice = new SeededChoice(seed);
      const document = choice.of(sound);
      const text =
        choice.below(4) === 0
          ? new TextDecoder().decode(damagedBytes(Buffer.from(JSON.stringify(document)), choice))
          : damagedJsonText(document, choice);
      return outcome(() => parseManifest(text, "fuzzed"));
    };
  },
};
