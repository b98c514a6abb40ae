import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { writtenCase } from "#test/fixtures/checked-golden.ts";
import { type Edit, quick } from "#test/fixtures/preparable.ts";
import { prepared, preparedDefault } from "#test/fixtures/prepared.ts";
import { preparedTiny } from "#test/fixtures/prepared-tiny.ts";
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

/** Without onnxruntime's int8 kernels. */
const targets = ["edge", "regional-gpu"] as const;

describe("verify", () => {
  let whole: string;
  beforeAll(async () => {
    whole = await preparedDefault();
  });

  it("runs each target on its own file, and compares it with the most precise target", async () => {
    const { "regional-gpu": half, ...others } = await verify({ artifact: whole });
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
    const [artifact, stranger] = [
      await openFolder(await preparedTiny(targets)),
      await openFolder(await preparedTiny(targets, { edit: negate })),
    ];
    const { model } = stranger.manifest.targets.edge as Target;
    const own = (artifact.manifest.targets.edge as Target).model;
    const swapped: Artifact = {
      ...artifact,
      read: (file) => (file === own ? stranger.read(model) : artifact.read(file)),
    };
    const report = await verify({ artifact: swapped });
    expect(report.edge?.failure).toMatch(/cosine/);
    expect(report["regional-gpu"]?.failure).toBeUndefined();
  });

  it("scores every target on the user's data", async () => {
    const sts = join(await temporaryFolder(), "sts.tsv");
    const pairs = ["the mill\ta mill", "the river\ta bridge", "one boat\ttwo boats", "bread\tthe night"];
    await writeFile(sts, pairs.map((pair, i) => `a\tb\tc\td\t${i}\t${pair}`).join("\n"));
    const report = await verify({ artifact: await preparedTiny(targets), sts });
    expect(Object.keys(report)).toHaveLength(2);
    for (const { task } of Object.values(report)) {
      expect(task).toMatchObject({ metric: "sts" });
      expect(Math.abs(task?.score ?? Number.NaN)).toBeLessThanOrEqual(100);
    }
  });

  it("compares every target with a golden file", async () => {
    const { folder, golden, lines } = await writtenCase("embed");
    const artifact = await prepared({ model: folder, name: "mine", targets, ...quick });
    const report = await verify({ artifact, golden });
    for (const each of Object.values(report)) {
      expect(each.golden).toMatchObject({ lines: lines.length, failure: undefined });
      expect(each.golden?.worst.agreement).toBeGreaterThan(INT8_LIMIT.minCosine);
    }
    const exact = await verify({ artifact, golden, goldenMin: 1 });
    expect(exact.edge?.golden?.failure).toMatch(/^line \d+, ".*": cosine 0\.99\d+ \(must be at least 1\)$/);
    expect(exact.edge?.failure).toBeUndefined();
  });

  it("compares the scores of a classifier with a golden file", async () => {
    const { folder, golden, lines } = await writtenCase("classify");
    const artifact = await prepared({ model: folder, name: "mine", targets: ["edge"], ...quick });
    expect((await verify({ artifact, golden })).edge?.golden?.failure).toBeUndefined();
    await writeFile(golden, (lines[0] ?? "").replace(/0\.3/g, "0.9"));
    expect((await verify({ artifact, golden })).edge?.golden?.failure).toMatch(
      /score of "\w+" 0\.9.*may differ by 0\.05/,
    );
  });

  it("reports its progress within each target", async () => {
    const sts = join(await temporaryFolder(), "sts.tsv");
    await writeFile(sts, Array.from({ length: 96 }, (_, i) => `${i}\tmill ${i}\triver ${i}`).join("\n"));
    const seen: Progress[] = [];
    const report = await verify({
      artifact: await preparedTiny(targets),
      sts,
      onProgress: (progress) => seen.push(progress),
    });
    for (const [name, target] of Object.entries(report)) {
      const message = `measure ${name} on ${target.engine}`;
      const shares = seen
        .filter((progress) => progress.message === message)
        .map(({ fraction }) => fraction ?? Number.NaN);
      // 61 probe texts in four parts, then 192 texts in twelve parts.
      const probed = [0, 16, 32, 48, 61].map((done) => done / 61);
      expect(shares).toEqual([...probed, ...Array.from({ length: 13 }, (_, part) => part / 12)]);
    }
  });
});
