import { writeFile } from "node:fs/promises";
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

it("prints the keys of a folder that is refused, and why it is", async () => {
  const checkpoint = join(await temporaryFolder(), "checkpoint");
  await writePreparableCheckpoint(checkpoint);
  await writeFile(join(checkpoint, "config_sentence_transformers.json"), '{"truncate_dim": 8}');
  expect(await runCommandLine(["inspect", checkpoint])).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/^keys of [\s\S]*refused: truncate_dim is 8, which is not supported so far/),
    stderr: expect.stringContaining("Error checkpoint_unsupported"),
  });
  const { stdout } = await runCommandLine(["inspect", checkpoint, "--json"]);
  expect(JSON.parse(stdout)).toMatchObject({ kind: "refused", refusal: { code: "checkpoint_unsupported" } });
});

it("shows a folder with unknown keys of modules, which `prepare` refuses", async () => {
  const checkpoint = join(await temporaryFolder(), "checkpoint");
  await writePreparableCheckpoint(checkpoint);
  await writeFile(join(checkpoint, "sentence_bert_config.json"), '{"mood": 1}');
  expect(await runCommandLine(["inspect", checkpoint])).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^before[\s\S]*not known, refused without --accept-key Transformer.<key>: mood/),
  });
});
