import { BertEdgeError } from "../../../artifact/error.ts";
import type { Manifest } from "../../../artifact/manifest.ts";
import { printable } from "../../../artifact/printable.ts";
import { searchRoles } from "../../../runtime/tasks/late-interaction.ts";
import { textsOf } from "../../../runtime/text-input.ts";
import { type ComparedLine, type GoldenLimit, INCOMPARABLE, limitOf } from "./compare-lines.ts";
import type { FoundReading } from "./find-reading.ts";
import { promptNameOf } from "./golden-call.ts";
import { namesOfPrompts } from "./names-of-prompts.ts";
import type { GoldenLine } from "./read-golden.ts";

/** Maximum number of characters of a text that messages show. */
const SHOWN = 60;

/** Minimum agreement at which the present system is probably quantized. Other weights, poolings or prompts rarely reach it. */
const QUANTIZED = 0.97;

const CAUSES =
  "Common causes: another prompt, pooling, normalization, activation, maximum length or end at which texts are cut, lower-cased texts, or another revision of the model.";

/**
 * Makes the error for a model folder whose float32 model does not give the answers of a golden file.
 *
 * @param failed the lines that do not agree, the worst first; at least one
 */
export function goldenMismatch(
  { file, folder, lines, limit }: { file: string; folder: string; lines: number; limit: GoldenLimit },
  failed: readonly ComparedLine[],
  { readings, tried }: FoundReading,
): BertEdgeError {
  const [worst] = failed as readonly [ComparedLine];
  const count = `${failed.length} of ${lines} ${lines === 1 ? "line" : "lines"}`;
  return new BertEdgeError(
    "golden_mismatch",
    `${file}: ${count} ${failed.length === 1 ? "differs" : "differ"} from the float32 model in ${folder}. Worst: ${describedLine(worst, limit)}.`,
    { hint: readings.length > 0 ? found(readings) : notFound(tried, worst) },
  );
}

/** Describes a line that does not agree: its number, its text and the difference. */
export const describedLine = ({ line, says, agreement }: Omit<ComparedLine, "answer">, limit: GoldenLimit): string =>
  `line ${line.line}, ${shortened(line)}: ${says}${agreement > INCOMPARABLE ? ` (${required(line, limit)})` : ""}`;

function required({ expected }: GoldenLine, limit: GoldenLimit): string {
  const minimum = limitOf(expected, limit);
  return expected.kind === "vectors"
    ? `must be at least ${minimum}`
    : `may differ by ${Number((1 - minimum).toPrecision(3))}`;
}

function shortened({ input }: GoldenLine): string {
  const short = (text: string) => (text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text);
  return printable(
    textsOf(input)
      .map((text) => JSON.stringify(short(text)))
      .join(" with "),
  );
}

const found = (readings: FoundReading["readings"]): string =>
  `All lines agree ${readings.map(({ says }) => says).join(", and ")}. ${readings.map(({ fix }) => fix).join(" ")}`;

function notFound(tried: number, { agreement }: ComparedLine): string {
  const quantized =
    agreement >= QUANTIZED
      ? ` If the present system is quantized or computes in half precision, give --golden-min ${Math.floor(agreement * 100) / 100}.`
      : "";
  return `None of ${tried} other ways to read the folder fits the file.${quantized} ${CAUSES}`;
}

/** Sentences about the gaps of a golden file. */
export interface GoldenGaps {
  readonly length?: string;
  readonly prompts?: string;
}

/**
 * Describes the gaps of a golden file: prompts that no line uses, and long texts if no line has one.
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

/** Names the prompts, and the sides of a late-interaction model, that no line uses. */
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
