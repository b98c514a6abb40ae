import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { float32Model } from "../fixtures/float32-model.ts";
import { answersOf, settingsCases, writeSettingsCase } from "../fixtures/settings-case.ts";
import { temporaryFolder } from "../fixtures/temporary-folder.ts";

/** Maximum difference from the libraries' float32 answers, relative to the largest number. */
const FLOAT32_ROUNDING = 1e-5;

describe.each(settingsCases)("$name, of transformers $version", (golden) => {
  it("has the answers of its authors' library in float32", async () => {
    const folder = join(await temporaryFolder(), "model");
    await writeSettingsCase(folder, golden);
    const model = await float32Model(folder);
    onTestFinished(() => model.release());
    const answers = await answersOf(golden, (call) => model.call(call));
    expect(answers.map((row) => row.length)).toEqual(golden.answers.map((row) => row.length));
    const largest = Math.max(...golden.answers.flat().map(Math.abs));
    const different = answers.flatMap((row, i) => row.map((value, j) => value - (golden.answers[i]?.[j] as number)));
    expect(Math.max(...different.map(Math.abs)) / largest).toBeLessThan(FLOAT32_ROUNDING);
  });
});
