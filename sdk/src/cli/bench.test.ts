import { cp, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { preparedTiny } from "#test/fixtures/prepared-tiny.ts";
import { runCommandLine } from "#test/fixtures/run-command-line.ts";
import { temporaryFolder } from "#test/fixtures/temporary-folder.ts";

/** Copies the artifact, since `bench` writes to it. */
async function timed() {
  const folder = await temporaryFolder();
  await cp(await preparedTiny(), folder, { recursive: true });
  const bench = (...args: string[]) => runCommandLine(["bench", folder, "--rounds", "1", ...args]);
  return { bench, read: (file: string) => readFile(join(folder, file), "utf8") };
}

describe("bench", () => {
  it("prints one JSON document on stdout, and stores the latencies next to the manifest", async () => {
    const { bench, read } = await timed();
    const manifest = await read("manifest.json");
    const { code, stdout, stderr } = await bench("--tokens", "4,16,64", "--json");
    expect([code, stderr]).toEqual([0, expect.stringContaining("Latencies stored in ")]);
    const report = JSON.parse(stdout);
    expect(report).toMatchObject({ model: "tiny", unit: "ms", rounds: 1 });
    expect(Object.keys(report.engines)).toEqual(["wasm"]);
    expect(report.engines.wasm.points.map(({ tokens }: { tokens: number }) => tokens)).toEqual([4, 16, 64]);
    expect(JSON.parse(await read("measurements.json")).edge.latency).toEqual(report.engines.wasm.latency);
    expect(await read("manifest.json")).toBe(manifest);
  });

  it.each(["8,16,20", "40,50,64", "8,64"])(
    "does not store latencies that were measured without short or without long texts: %s",
    async (tokens) => {
      const { bench, read } = await timed();
      const before = await read("measurements.json");
      const { code, stdout, stderr } = await bench("--tokens", tokens);
      expect({ code, stderr }).toMatchObject({ code: 0, stderr: expect.stringContaining("not stored") });
      const rows = stdout.trimEnd().split("\n").slice(3);
      expect(rows.map((row) => row.split(/ +/)[0])).toEqual(tokens.split(","));
      expect(await read("measurements.json")).toBe(before);
    },
  );
});
