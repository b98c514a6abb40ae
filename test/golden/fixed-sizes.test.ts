import { describe, expect, it, onTestFinished } from "vitest";
import { describeModel } from "#sdk/compile/model/describe-model.ts";
import { readTextModel } from "#sdk/compile/model/text-model.ts";
import { embedCall } from "#sdk/runtime/tasks/embed.ts";
import { outputsCall } from "#sdk/runtime/tasks/outputs.ts";
import { edgeModel } from "../fixtures/edge-model.ts";
import { writeFixedSizes } from "../fixtures/fixed-sizes.ts";
import { float32Model } from "../fixtures/float32-model.ts";
import { meanCosine } from "../oracles/mean-cosine.ts";

/** Maximum difference of a number in float32. The file stores six decimals, and torch adds in another order. */
const TOLERANCE = 1e-5;

/** Minimum mean cosine of vectors in int8. */
const EDGE_COSINE = 0.9999;

const differences = (found: readonly Float32Array[], wanted: readonly (readonly number[])[]) =>
  wanted.flatMap((row, i) => row.map((value, j) => Math.abs(value - (found[i]?.[j] as number))));

describe("an export of fixed sizes", () => {
  it.each([
    ["bert 1x24, TorchScript", "1 × 24", 24],
    ["bert 1xN, dynamo", "1 × …", 38],
    ["bert Nx24, dynamo", "… × 24", 24],
    ["roberta 1x24, dynamo", "1 × 24", 24],
  ])("has the vectors of PyTorch: %s", async (name, sizes, longest) => {
    const { folder, golden } = await writeFixedSizes(name);
    const { assumed, maxTokens } = await readTextModel(await describeModel(folder, { normalize: false }));
    expect(maxTokens).toBe(longest);
    expect(assumed).toContainEqual(expect.stringContaining(`model.onnx takes only inputs of ${sizes}.`));
    expect(assumed.some((sentence) => sentence.includes("Longer texts are cut"))).toBe(longest === 24);
    const model = await float32Model(folder, { normalize: false });
    onTestFinished(() => model.release());
    const found = await model.call(embedCall(golden.inputs as string[], { truncate: true }));
    expect(Math.max(...differences(found, golden.answers))).toBeLessThan(TOLERANCE);
    const edge = await edgeModel(folder, { normalize: false });
    onTestFinished(() => edge.release());
    const atEdge = await edge.call(embedCall(golden.inputs as string[], { truncate: true }));
    expect(meanCosine(atEdge, golden.answers)).toBeGreaterThan(EDGE_COSINE);
  });

  it("has the logits of PyTorch for pairs", async () => {
    const { folder, golden } = await writeFixedSizes("bert of pairs 2x24, dynamo");
    const model = await float32Model(folder, { input: "pair" });
    onTestFinished(() => model.release());
    const found = await model.call(outputsCall({ inputs: golden.inputs, truncate: true }));
    expect(Math.max(...differences(found, golden.answers))).toBeLessThan(TOLERANCE);
  });

  it("is refused if texts change each other's numbers", async () => {
    const { folder } = await writeFixedSizes("modernbert 1xN, TorchScript");
    const reading = describeModel(folder).then(readTextModel);
    await expect(reading).rejects.toMatchObject({
      code: "export_unsupported",
      message: expect.stringMatching(
        /has inputs of a fixed size \(1 × …\), and cannot be run at other sizes: a text of \d+ tokens gets other results in a batch with other texts\.$/,
      ),
      hint: expect.stringContaining("dynamic batch and sequence sizes"),
    });
  });
});
