import { expect, it } from "vitest";
import { runCommandLine } from "#test/fixtures/run-command-line.ts";

it("lists the catalogue", async () => {
  const { code, stdout } = await runCommandLine(["models"]);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^embedding\n(\S.*\n)*bge-small-en-v1\.5 +en +512 +33 MB +edge +mit$/m);
  const { stdout: json } = await runCommandLine(["models", "--json"]);
  expect(JSON.parse(json)).toContainEqual(
    expect.objectContaining({
      name: "all-minilm-l6-v2",
      hub: "sentence-transformers/all-MiniLM-L6-v2",
      fits: "edge",
    }),
  );
});
