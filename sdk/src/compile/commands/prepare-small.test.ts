import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { quick } from "#test/fixtures/preparable.ts";
import { writePreparableCheckpoint } from "#test/fixtures/tiny-bert.ts";
import { engineOnThisMachine } from "../../local/engines.ts";
import { wholeModel } from "../../runtime/start-model.ts";
import { embedCall } from "../../runtime/tasks/embed.ts";
import { cosine } from "../../runtime/tasks/sentence-vector.ts";
import { openFolder } from "../../storage/folder-artifact.ts";
import { type PrepareOptions, prepare } from "./prepare.ts";

const texts = ["Where is the mill?", "The mill is by the river."];

let parent: string;
let whole: Awaited<ReturnType<typeof edge>>;
beforeAll(async () => {
  parent = await mkdtemp(join(tmpdir(), "bert-edge-small-"));
  await writePreparableCheckpoint(join(parent, "model"), { config: { hidden_size: 64, intermediate_size: 256 } });
  whole = await edge({});
  return () => rm(parent, { recursive: true });
});

/** Prepares the edge target. Returns its size, its manifest, and vectors of two texts. */
async function edge(options: Partial<PrepareOptions>) {
  const out = join(parent, JSON.stringify(options).replaceAll(/\W/g, "-"));
  const files = { model: join(parent, "model"), out, cache: join(parent, "cache") };
  const report = await prepare({ ...files, targets: ["edge"], ...quick, ...options });
  const artifact = await openFolder(out);
  const target = report.manifest.targets.edge ?? expect.unreachable();
  await using model = await wholeModel(artifact, await engineOnThisMachine("wasm"));
  const vectors = await model.call(embedCall(texts));
  return {
    ...{ report, target, vectors },
    bytes: (await readFile(join(out, target.model))).length,
    memory: model.memoryBytes() ?? expect.unreachable(),
  };
}

describe("prepare", () => {
  it("makes a smaller file with weights of 4 bits, which the engine expands once", async () => {
    const small = await edge({ weightBits: 4, tableBits: 4 });
    expect(whole.target.weights).toBeUndefined();
    expect(small.target.weights).toEqual({ layers: 4, layersInFourBits: 4, tableBits: 4, expanded: "once" });
    expect(small.bytes).toBeLessThan(0.7 * whole.bytes);
    for (const [i, vector] of small.vectors.entries()) {
      const agreement = cosine(vector, whole.vectors[i] ?? expect.unreachable());
      expect(agreement).toBeGreaterThan(0.98);
      expect(agreement).toBeLessThan(1);
    }
  });

  it("expands weights in each call if they do not fit into the maximum memory, with the same vectors", async () => {
    const once = await edge({ weightBits: 4 });
    const each = await edge({ weightBits: 4, maxMemory: 90_000 });
    expect(each.target.weights).toMatchObject({ expanded: "each call" });
    expect(each.memory).toBeLessThanOrEqual(once.memory + 2 ** 16);
    expect(each.vectors).toEqual(once.vectors);
  });

  it("chooses the bits of each part for a maximum size", async () => {
    const maxSize = whole.bytes - 5_000;
    const fitted = await edge({ maxSize });
    expect(fitted.bytes).toBeLessThanOrEqual(maxSize);
    const { layersInFourBits = 0, tableBits = 0 } = fitted.target.weights ?? {};
    expect([layersInFourBits, tableBits]).not.toEqual([0, 8]);
    expect([layersInFourBits, tableBits]).not.toEqual([4, 4]);
    expect(fitted.report.stages.map(({ stage }) => stage)).toContain("fit");
    const unlimited = await edge({ maxSize: whole.bytes });
    expect(unlimited.target.weights).toBeUndefined();
    expect(unlimited.vectors).toEqual(whole.vectors);
  });

  it("names the smallest size if the maximum cannot be reached", async () => {
    const refused = await edge({ maxSize: 10_000 }).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: "model_too_large", hint: expect.stringMatching(/--max-size 0\.\dMB/) });
  });
});
