import { expect, it } from "vitest";
import { runCommandLine } from "#test/fixtures/run-command-line.ts";

it("lists the catalogue", async () => {
  const { code, stdout } = await runCommandLine(["models"]);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^embedding\n(\S.*\n)*bge-small-en-v1\.5 +en +512 +35 MB +edge +mit$/m);
  expect(stdout).toMatch(/^bge-m3 +many +8192 +5\d\d MB +region +mit$/m);
  expect(stdout).toMatch(/^multilingual-e5-base +many +512 +28\d MB +int4\* +mit$/m);
  for (const line of stdout.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
  const { stdout: json } = await runCommandLine(["models", "--json"]);
  expect(JSON.parse(json)).toContainEqual(
    expect.objectContaining({
      name: "all-minilm-l6-v2",
      hub: "sentence-transformers/all-MiniLM-L6-v2",
      fits: "",
    }),
  );
});

it("says what the forms of a model take", async () => {
  const { stdout } = await runCommandLine(["models", "gte-multilingual-base"]);
  expect(stdout).toMatch(/^estimated +start +memory +fits +pages +16 tok\. +128 tok\. +cold$/m);
  expect(stdout).toMatch(/^int8 .* ✗ /m);
  expect(stdout).toMatch(/^int4 +\d+ MB +\d+ +≤ \d+ +\d+ +/m);
  expect(stdout).toMatch(/^Next: npx bert-edge prepare gte-multilingual-base --table int4 --weights int4 --out/m);
  const long = stdout.split("\n").filter((line) => line.length > 80);
  expect(long).toEqual([expect.stringMatching(/^Next/)]);
  const { stdout: region } = await runCommandLine(["models", "bge-m3"]);
  expect(region).toMatch(/^Only a region can run it: .* --targets regional-cpu/m);
  const { stdout: json } = await runCommandLine(["models", "bge-m3", "--json"]);
  expect(JSON.parse(json).forms.map(({ source, fits }: { source: string; fits: boolean }) => [source, fits])).toEqual(
    Array(3).fill(["estimated", false]),
  );
});

it("refuses a model that is not in the list", async () => {
  const { code, stderr } = await runCommandLine(["models", "bge-m4"]);
  expect([code, stderr]).toEqual([expect.any(Number), expect.stringMatching(/usage_invalid.*bge-m4[\s\S]*bge-m3/)]);
  expect(code).not.toBe(0);
});
