import { describe, expect, it } from "vitest";
import { Graph } from "../graph/graph.ts";
import { tensor } from "../graph/tensor.ts";
import { checkMemory } from "./memory-need.ts";

const context = { folder: "/nowhere", progress: () => {} };

/** A graph with 100 MB of weights. */
function graph(): Graph {
  const made = new Graph("weights");
  const weight = made.constant("weight", tensor("float32", [5000, 5000], new Float32Array(25_000_000)));
  made.outputs.push({ name: "weight", value: weight, declaration: undefined });
  return made;
}

describe("checkMemory", () => {
  it("says what is needed and what is free", async () => {
    const input = { graph: graph(), memory: { total: 8e9, available: 3.21e9 } };
    expect(checkMemory.describe(input)).toBe("needs up to 1.0 GB of memory; 3.2 GB are free");
    expect(await checkMemory.run(input, context)).toMatchObject({ available: 3.21e9, total: 8e9 });
  });

  it("refuses a machine that has less memory than is needed", async () => {
    const input = { graph: graph(), memory: { total: 0.9e9, available: 0.9e9 } };
    await expect(checkMemory.run(input, context)).rejects.toMatchObject({
      code: "machine_too_small",
      message: "Preparing this model needs up to 1.0 GB of memory, but the machine has 0.9 GB.",
      hint: expect.stringContaining("container"),
    });
  });

  it("reads this machine's own memory", async () => {
    const { total, available } = await checkMemory.run({ graph: graph() }, context);
    expect(total).toBeGreaterThan(1e9);
    expect(available).toBeGreaterThan(0);
    expect(available).toBeLessThanOrEqual(total);
  });
});
