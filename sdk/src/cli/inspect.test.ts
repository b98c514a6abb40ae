import { join } from "node:path";
import { expect, it } from "vitest";
import { preparedTiny } from "#test/fixtures/prepared-tiny.ts";
import { runCommandLine } from "#test/fixtures/run-command-line.ts";
import { temporaryFolder } from "#test/fixtures/temporary-folder.ts";
import { writePreparableCheckpoint } from "#test/fixtures/tiny-bert.ts";

it("prints a graph before and after fusion, and one JSON document on stdout with --json", async () => {
  const checkpoint = join(await temporaryFolder(), "checkpoint");
  await writePreparableCheckpoint(checkpoint);
  const text = await runCommandLine(["inspect", checkpoint]);
  const stdout = expect.stringMatching(/^before: \d+ nodes[\s\S]*\nafter: \d+ nodes/);
  expect(text).toMatchObject({ code: 0, stdout });
  const json = await runCommandLine(["inspect", await preparedTiny(), "--json"]);
  expect(JSON.parse(json.stdout)).toMatchObject({
    kind: "artifact",
    name: "tiny",
    targets: { edge: { engine: "wasm" } },
  });
});
