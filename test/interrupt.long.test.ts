import { once } from "node:events";
import { mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { startBertEdge } from "./fixtures/bert-edge-command.ts";
import { temporaryFolder } from "./fixtures/temporary-folder.ts";

const model = join(import.meta.dirname, "../models/default");

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
  /** Folder of stage results. Each test continues with those of the test before it. */
  let cache: string;
  beforeAll(async () => {
    cache = await mkdtemp(join(tmpdir(), "bert-edge-interrupt-"));
    return () => rm(cache, { recursive: true });
  });

  it.each([
    ["observes activations", "✓ compare with the unfused graph"],
    ["quantizes the edge's weights", "✓ quantize for edge on wasm"],
    ["times the targets", "✓ measure: Target regional-gpu"],
  ])("while it %s", async (_, line) => {
    const folder = await temporaryFolder();
    const [temporary, out] = [join(folder, "tmp"), join(folder, "out")];
    await mkdir(temporary);
    const env = { TMPDIR: temporary, XDG_CACHE_HOME: cache };
    const child = startBertEdge(["prepare", model, "--out", out], { env });
    await printed(child.stderr, line);
    expect(await files(temporary)).not.toEqual([]);
    child.kill("SIGINT");
    expect(await ended(child)).toEqual([null, "SIGINT"]);
    expect(await files(temporary)).toEqual([]);
    expect(await readdir(folder)).toEqual(["tmp"]);
    expect((await files(cache)).filter((name) => name.endsWith(".tmp"))).toEqual([]);
  });
});
