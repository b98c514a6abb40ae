import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { edgeModel } from "../fixtures/edge-model.ts";
import { float32Model } from "../fixtures/float32-model.ts";
import { answersOf, type SettingsCase, settingsCases, writeSettingsCase } from "../fixtures/settings-case.ts";
import { temporaryFolder } from "../fixtures/temporary-folder.ts";
import { meanCosine } from "../oracles/mean-cosine.ts";

/** Maximum difference from the libraries' float32 answers, relative to the largest number. */
const FLOAT32_ROUNDING = 1e-5;

/** Minimum mean cosine of int8 vectors. A wrong reading of a folder gives less than 0.999. */
const MIN_COSINE = 0.9999;

type Rows = SettingsCase["answers"];

/** Returns the largest difference of two answers, relative to the largest number; infinity if they have other sizes. */
function differenceOf(found: Rows, expected: Rows): number {
  const sizes = (rows: Rows) => `${rows.map(({ length }) => length)}`;
  if (sizes(found) !== sizes(expected)) return Number.POSITIVE_INFINITY;
  const differences = found.flatMap((row, i) => row.map((value, j) => Math.abs(value - (expected[i]?.[j] as number))));
  return Math.max(...differences) / Math.max(...expected.flat().map(Math.abs));
}

/** Returns the answers of folders with the same weights that are read in another way. */
const otherReadings = ({ kind, tensors, answers }: SettingsCase): Rows[] =>
  settingsCases
    .filter((other) => other.kind === kind && other.tensors === tensors)
    .flatMap((other) => (differenceOf(answers, other.answers) > FLOAT32_ROUNDING ? [other.answers] : []));

async function folderOf(golden: SettingsCase): Promise<string> {
  const folder = join(await temporaryFolder(), "model");
  await writeSettingsCase(folder, golden);
  return folder;
}

describe.each(settingsCases)("$name, of transformers $version", (golden) => {
  it("has the answers of its authors' library in float32", async () => {
    const model = await float32Model(await folderOf(golden));
    onTestFinished(() => model.release());
    const answers = await answersOf(golden, (call) => model.call(call));
    expect(differenceOf(answers, golden.answers)).toBeLessThan(FLOAT32_ROUNDING);
  });

  it("has answers at the edge that are at least twice as near to the library's as to those of any other reading", async () => {
    const model = await edgeModel(await folderOf(golden));
    onTestFinished(() => model.release());
    const answers = await answersOf(golden, (call) => model.call(call));
    const others = otherReadings(golden).map((other) => differenceOf(answers, other));
    expect(2 * differenceOf(answers, golden.answers)).toBeLessThan(Math.min(1, ...others));
    if (golden.kind === "embed") expect(meanCosine(answers, golden.answers)).toBeGreaterThan(MIN_COSINE);
  });
});
