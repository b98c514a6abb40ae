import { appendFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { correlatedTokens, statisticsOf } from "#test/fixtures/activation-statistics.ts";
import { refusal } from "#test/fixtures/refusal.ts";
import { temporaryFolder } from "#test/fixtures/temporary-folder.ts";
import { type ActivationStatistics, storedStatistics, writeStatistics } from "./activation-statistics.ts";

const [narrow, wide] = [statisticsOf(correlatedTokens(3, 20, 1)), statisticsOf(correlatedTokens(200, 30, 2))];
const all = new Map<string, ActivationStatistics>([
  ["query", narrow],
  ["key", narrow],
  ["output", wide],
]);

async function written() {
  const path = join(await temporaryFolder(), "statistics");
  const writer = await writeStatistics(path);
  await writer.write({ weights: ["query", "key"], ...narrow });
  await writer.write({ weights: ["output"], ...wide });
  return { path, calibration: storedStatistics(path, await writer.end()) };
}

describe("a file of statistics", () => {
  it("returns the statistics that were written", async () => {
    const { calibration } = await written();
    for (const [weight, statistics] of all) expect(calibration.get(weight)).toEqual(statistics);
    expect(calibration.get("value")).toBeUndefined();
  });

  it("stores shared statistics once", async () => {
    const floats = [3, 200].reduce((sum, width) => sum + width * (1 + width), 0);
    expect((await stat((await written()).path)).size).toBe(4 * floats);
  });

  it("fails to read after the file was replaced", async () => {
    const { path, calibration } = await written();
    await appendFile(path, "x");
    expect(refusal(() => calibration.get("output"))).toBe("file_changed");
  });
});
