import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runCommandLine } from "#test/fixtures/run-command-line.ts";
import { writePreparableCheckpoint } from "#test/fixtures/tiny-bert.ts";
import { program } from "./program.ts";

const COLUMNS = 80;

/** URLs, paths and commands. Users copy them, so they stay in one line. */
const WHOLE = /https?:\/\/\S+|\S*\/\S+|`[^`]+`|\b(?:npx|npm|curl) .*/g;

let folder: string;
let checkpoint: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "bert-edge-screens-"));
  checkpoint = join(folder, "checkpoint");
  await writePreparableCheckpoint(checkpoint);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Runs a command in a terminal of 80 columns. Returns what it prints, and the lines that are wider without a reason. */
async function screenOf(args: readonly string[]) {
  const { stdout, stderr } = await runCommandLine(args, { columns: COLUMNS, cwd: folder });
  const text = stripVTControlCharacters(stdout + stderr);
  // A running stage is written over in its line.
  const lines = text.split(/\r|\n/);
  return { text, wide: lines.filter((line) => line.length > COLUMNS && line.replace(WHOLE, "").trim() !== "") };
}

const paths = (command: typeof program, path: readonly string[] = []): string[][] => [
  [...path],
  ...command.commands.flatMap((each) => paths(each, [...path, each.name()])),
];

describe("no line is wider than a terminal of 80 columns", () => {
  it.each(
    paths(program)
      .map((path) => [...path, "--help"])
      .map((args) => [args]),
  )("of the help: %j", async (args) => {
    const { text, wide } = await screenOf(args);
    expect(text).toContain("Usage: ");
    expect(wide).toEqual([]);
  });

  it.each<[string[], string]>([
    [[], "Models:"],
    [["models"], "all-minilm-l6-v2"],
    [["modles"], "Error usage_invalid"],
    [["prepare"], "Error usage_invalid"],
    [["prepare", "x", "--out", "y", "--bogus"], "Error usage_invalid"],
    [["prepare", "x", "--out", "y", "--targets", "edge,moon"], "Error usage_invalid"],
    [["prepare", "nowhere", "--out", "y"], "Error checkpoint_missing"],
    [["prepare", "checkpoint", "--out", "checkpoint"], "Error out_occupied"],
    [["prepare", "checkpoint", "--out", "y", "--sts", "nowhere.csv"], "Error data_missing"],
    [["prepare", "checkpoint", "--out", "y", "--name", "My Model"], "Error name_invalid"],
    [["dev", "nowhere"], "Error project_invalid"],
    [["explain", "accuracy_gate"], "accuracy_gate"],
  ])("%j", async (args, found) => {
    const { text, wide } = await screenOf(args);
    expect(text).toContain(found);
    expect(wide).toEqual([]);
  });

  it("of `prepare`: stages, report and next step", async () => {
    const { text, wide } = await screenOf(["prepare", "checkpoint", "--out", "artifact", "--fast", "--no-cache"]);
    expect(text).toMatch(/^checkpoint@[0-9a-f]{12}: .*✓ write artifact.*\n\nNext: .* npx bert-edge embed artifact\n$/s);
    expect(wide).toEqual([]);
  });
});
