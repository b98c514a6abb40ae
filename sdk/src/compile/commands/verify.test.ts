import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type Edit, preparable } from "#test/fixtures/preparable.ts";
import { temporaryFolder } from "#test/fixtures/temporary-folder.ts";
import type { Artifact } from "../../artifact/artifact.ts";
import type { Target } from "../../artifact/manifest.ts";
import { openFolder } from "../../storage/folder-artifact.ts";
import { INT8_LIMIT } from "../accuracy/limits.ts";
import type { Progress } from "../stages/stage.ts";
import { verify } from "./verify.ts";

/** Negates weights, so that the model computes different vectors. */
const negate: Edit = (values) => {
  const gain = values.get("encoder.layer.0.output.LayerNorm.weight")?.values;
  gain?.forEach((value, i) => {
    gain[i] = i % 2 ? value : -value;
  });
};

async function prepared(options?: Parameters<typeof preparable>[0]): Promise<Artifact> {
  const { run, out } = await preparable(options);
  await run({ calibration: ["a few words", "and a few more of them"] });
  return openFolder(out);
}

describe("verify", () => {
  it("runs each target on its own file, and compares it with the most precise target", async () => {
    const { "regional-gpu": half, ...others } = await verify({ artifact: await prepared() });
    expect(half).toMatchObject({ precision: "fp16", agreement: undefined, failure: undefined });
    expect(Object.keys(others).sort()).toEqual(["edge", "regional-cpu"]);
    for (const { agreement, failure } of Object.values(others)) {
      expect(failure).toBeUndefined();
      expect(agreement?.minCosine).toBeGreaterThanOrEqual(INT8_LIMIT.minCosine);
      // int8 and fp16 results cannot be equal.
      expect(agreement?.maxAbsDiff).toBeGreaterThan(1e-5);
    }
  });

  it("reports by how much a target with another model's vectors misses the limit", async () => {
    const [artifact, stranger] = [await prepared(), await prepared({ edit: negate })];
    const { model } = stranger.manifest.targets["regional-cpu"] as Target;
    const own = (artifact.manifest.targets["regional-cpu"] as Target).model;
    const swapped: Artifact = {
      ...artifact,
      read: (file) => (file === own ? stranger.read(model) : artifact.read(file)),
    };
    const report = await verify({ artifact: swapped });
    expect(report["regional-cpu"]?.failure).toMatch(/cosine/);
    expect(report.edge?.failure).toBeUndefined();
  });

  it("scores every target on the user's data", async () => {
    const sts = join(await temporaryFolder(), "sts.tsv");
    const pairs = ["the mill\ta mill", "the river\ta bridge", "one boat\ttwo boats", "bread\tthe night"];
    await writeFile(sts, pairs.map((pair, i) => `a\tb\tc\td\t${i}\t${pair}`).join("\n"));
    const report = await verify({ artifact: await prepared(), sts });
    for (const { task } of Object.values(report)) {
      expect(task).toMatchObject({ metric: "sts" });
      expect(Math.abs(task?.score ?? Number.NaN)).toBeLessThanOrEqual(100);
    }
  });

  it("reports its progress within each target", async () => {
    const sts = join(await temporaryFolder(), "sts.tsv");
    await writeFile(sts, Array.from({ length: 96 }, (_, i) => `${i}\tmill ${i}\triver ${i}`).join("\n"));
    const seen: Progress[] = [];
    const report = await verify({ artifact: await prepared(), sts, onProgress: (progress) => seen.push(progress) });
    for (const [name, target] of Object.entries(report)) {
      const message = `measure ${name} on ${target.engine}`;
      const shares = seen
        .filter((progress) => progress.message === message)
        .map(({ fraction }) => fraction ?? Number.NaN);
      // 21 probe texts in two parts, then 192 texts in twelve parts.
      expect(shares).toEqual([0, 16 / 21, 1, ...Array.from({ length: 13 }, (_, part) => part / 12)]);
    }
  });
});
