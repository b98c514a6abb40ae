import { describe, expect, it } from "vitest";
import type { TargetName } from "../../artifact/manifest.ts";
import { catalogueModel } from "../checkpoint/hub/catalogue.ts";
import { estimatedChoice, shapeOfModel } from "../latency/edge-forms.ts";
import { type EstimateInput, estimate } from "./estimate.ts";

const context = { folder: "/nowhere", progress: () => {} };
const int8 = { tableBits: 8, weightBits: 8 } as const;

async function input(name: string, changes: Partial<EstimateInput> = {}, form = int8): Promise<EstimateInput> {
  const shape = shapeOfModel(catalogueModel(name) ?? expect.unreachable());
  const { maxMemory } = changes;
  return {
    ...(await estimatedChoice(shape, form, maxMemory)),
    ...{ targets: ["edge"], force: false },
    ...changes,
  };
}
const refusal = (given: EstimateInput) =>
  estimate.run(given, context).then(
    () => undefined,
    ({ code, message, hint }: { code: string; message: string; hint: string }) => ({ code, message, hint }),
  );

describe("estimate", () => {
  it("says what the edge target will take", async () => {
    const small = await input("all-minilm-l6-v2");
    expect(estimate.describe(small)).toMatch(/^edge, estimated: 23 MB, 14 ms for 128 tokens, 0\.4 s cold$/);
    expect(await estimate.run(small, context)).toBe(small.form);
    expect(estimate.describe({ ...small, targets: ["regional-cpu"] })).toBe("23 MB of weights in int8");
    expect(estimate.describe(await input("bge-base-en-v1.5"))).toMatch(/: 112 MB, \d+ MB of it in pages, /);
  });

  it("refuses a model that no Worker can hold, if nothing else is asked for", async () => {
    const large = await input("bge-m3");
    expect(estimate.describe(large)).toMatch(/5\d\d MB of weights, 7\d\d MiB of memory: too large for a Worker$/);
    expect(await refusal(large)).toMatchObject({
      code: "model_too_large",
      hint: expect.stringMatching(/^Prepare it for a region with --targets regional-cpu.*--force/),
    });
    expect((await refusal(await input("gte-multilingual-base")))?.hint).toMatch(
      /^Give --table int4 --weights int4\. Or prepare it/,
    );
    expect(await refusal({ ...large, force: true })).toBeUndefined();
    for (const targets of [["edge", "regional-cpu"], ["regional-gpu"]] as TargetName[][]) {
      expect(await refusal({ ...large, targets })).toBeUndefined();
    }
  });

  it("refuses a maximum memory into which the weights do not fit, whatever else is asked for", async () => {
    const given = await input("all-minilm-l6-v2", { maxMemory: 9e6, force: true, targets: ["edge", "regional-cpu"] });
    const refused = await refusal(given);
    expect(refused).toMatchObject({
      code: "model_too_large",
      message: expect.stringContaining("--max-memory allows 9 MB"),
    });
    expect(refused?.hint).toMatch(/^Give --table int4 --weights int4\. .*models\.$/);
    expect(await refusal({ ...given, targets: ["regional-cpu"] })).toBeUndefined();
  });
});
