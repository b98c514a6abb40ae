import { once } from "node:events";
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { startBertEdge } from "./fixtures/bert-edge-command.ts";
import { temporaryFolder } from "./fixtures/temporary-folder.ts";
import { writePreparableCheckpoint } from "./fixtures/tiny-bert.ts";

/** Large enough that each stage takes a part of a second. */
const SIZES = {
  hidden_size: 96,
  num_hidden_layers: 2,
  num_attention_heads: 4,
  intermediate_size: 384,
  max_position_embeddings: 256,
};

/** Resolves when a stream has printed a text. */
const printed = (stream: NodeJS.ReadableStream, text: string) =>
  new Promise<void>((resolve) => {
    let output = "";
    stream.on("data", (chunk: Buffer) => {
      output += chunk;
      if (output.includes(text)) resolve();
    });
  });

/** Runs a function when a child process has ended, and all processes that hold its output have ended too. */
const ended = (child: ReturnType<typeof startBertEdge>) => once(child, "close") as Promise<[number | null, string]>;

const files = (folder: string) => readdir(folder, { recursive: true });

describe("SIGINT ends prepare and leaves nothing behind", () => {
  let model: string;
  beforeAll(async () => {
    model = await mkdtemp(join(tmpdir(), "bert-edge-interrupt-"));
    await writePreparableCheckpoint(model, { config: SIZES });
    await writeFile(join(model, "few.txt"), "a few words\nand some more of them\n");
    return () => rm(model, { recursive: true });
  });

  // With few texts, the stage that observes them ends soon.
  it.each([
    ["observes activations", "✓ compare with the unfused graph", []],
    ["quantizes the edge's weights", "✓ observe activations", ["--calibration", "few.txt"]],
    ["times the targets", "✓ measure regional-gpu", ["--calibration", "few.txt"]],
  ])("while it %s", async (_, line, options) => {
    const folder = await temporaryFolder();
    const [temporary, cache, out] = [join(folder, "tmp"), join(folder, "cache"), join(folder, "out")];
    await mkdir(temporary);
    const env = { TMPDIR: temporary, XDG_CACHE_HOME: cache };
    const args = ["prepare", model, "--out", out, "--name", "interrupted", ...options];
    const child = startBertEdge(args, { env, cwd: model });
    await printed(child.stderr, line);
    expect(await files(temporary)).not.toEqual([]);
    child.kill("SIGINT");
    expect(await ended(child)).toEqual([null, "SIGINT"]);
    expect(await files(temporary)).toEqual([]);
    expect((await readdir(folder)).toSorted()).toEqual(["cache", "tmp"]);
    expect((await files(cache)).filter((name) => name.endsWith(".tmp"))).toEqual([]);
  });
});
