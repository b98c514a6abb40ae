import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { writtenCase } from "#test/fixtures/checked-golden.ts";
import { quick } from "#test/fixtures/preparable.ts";
import { prepared } from "#test/fixtures/prepared.ts";
import { runCommandLine } from "#test/fixtures/run-command-line.ts";

describe("--golden", () => {
  it("ends prepare with 1 and the reading that fits, and writes nothing", async () => {
    const { folder } = await writtenCase("embed", { "1_Pooling/config.json": { pooling_mode: "cls" } });
    const cwd = join(folder, "..");
    const args = ["prepare", "my-model", "--out", "out", "--golden", "golden.jsonl", "--no-cache"];
    const { code, stderr } = await runCommandLine(args, { cwd });
    expect(code).toBe(1);
    expect(stderr).toContain("Error golden_mismatch");
    expect(stderr).toContain("with mean pooling instead of cls");
    const json = await runCommandLine([...args, "--json"], { cwd });
    expect(JSON.parse(json.stdout)).toMatchObject({ error: { code: "golden_mismatch" } });
  });

  it("gives verify a column, and ends it with 1 if a line is below --golden-min", async () => {
    const { folder, golden } = await writtenCase("embed");
    const artifact = await prepared({ model: folder, name: "mine", targets: ["edge"], ...quick });
    const good = await runCommandLine(["verify", artifact, "--golden", golden]);
    expect(good).toMatchObject({ code: 0, stdout: expect.stringContaining("golden, worst") });
    const strict = await runCommandLine(["verify", artifact, "--golden", golden, "--golden-min", "1"]);
    expect(strict).toMatchObject({ code: 1, stderr: expect.stringContaining("edge does not give the answers of") });
  });

  it("takes shares only", async () => {
    const { code, stderr } = await runCommandLine(["verify", "artifact", "--golden", "a.jsonl", "--golden-min", "2"]);
    expect([code, stderr]).toEqual([2, expect.stringContaining("not a number from 0 to 1")]);
  });
});
