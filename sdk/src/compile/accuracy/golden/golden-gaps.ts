import type { Manifest } from "../../../artifact/manifest.ts";
import { searchRoles } from "../../../runtime/tasks/late-interaction.ts";
import { promptNameOf } from "./golden-call.ts";
import type { GoldenLine } from "./golden-line.ts";
import { namesOfPrompts } from "./names-of-prompts.ts";

/** Gaps of a golden file, as sentences. */
export interface GoldenGaps {
  readonly length?: string;
  readonly prompts?: string;
}

/**
 * Says what no line of a golden file shows.
 *
 * @param isCut whether a line is longer than the model's maximum
 */
export function goldenGaps(
  file: string,
  lines: readonly GoldenLine[],
  manifest: Manifest,
  isCut: (line: GoldenLine) => boolean,
): GoldenGaps {
  const missing = missingPrompts(lines, manifest);
  return {
    ...(!lines.some(isCut) && {
      length: `${file} has no text of more than ${manifest.maxTokens} tokens, so it does not show where and at which end long texts are cut.`,
    }),
    ...(missing.length > 0 && { prompts: `${file} has no line with ${missing.join(", ")}.` }),
  };
}

/** Names the prompts, or the sides of a late-interaction model, that no line has. */
function missingPrompts(lines: readonly GoldenLine[], manifest: Manifest): string[] {
  const sides =
    manifest.task === "token-vectors" && manifest.protocol
      ? searchRoles.filter((side) => !lines.some((line) => line.side === side)).map((side) => `the side ${side}`)
      : [];
  // Classifiers have only their default prompt, and each line has it.
  const isPrompted = "prompts" in manifest && manifest.task !== "classify";
  const prompts = isPrompted ? namesOfPrompts(manifest.prompts) : [];
  const used = new Set(lines.map((line) => promptNameOf(line, manifest)));
  return [...prompts.filter((name) => !used.has(name)).map((name) => `the prompt ${JSON.stringify(name)}`), ...sides];
}
