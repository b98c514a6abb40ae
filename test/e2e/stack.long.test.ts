import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Stack } from "#sdk/cli/dev/stack.ts";
import { BertEdge, type Embeddings } from "#sdk/client/index.ts";
import { cosine } from "#sdk/runtime/tasks/sentence-vector.ts";
import { startDefaultStack } from "./default-stack.ts";

/** Texts that take tenths of a second at the edge. */
const manyTexts = Array<string>(10).fill("The wheel still turns whenever the sluice is open. ".repeat(18));

describe("the whole product under load", () => {
  let stack: Stack;
  let edge: BertEdge;

  beforeAll(async () => {
    stack = await startDefaultStack();
    edge = new BertEdge({ baseURL: stack.edge.url, apiKey: stack.edge.key });
  });
  afterAll(() => stack?.stop());

  it("asks the region if the edge would exceed the budget, and the region is faster", async () => {
    const ofRegion = async () => (await askAtOnce()).find(({ tier }) => tier === "region");
    await expect.poll(ofRegion, { timeout: 45_000 }).toMatchObject({
      reason: expect.stringMatching(/^(edge-)?over-budget$/),
      embeddings: { length: manyTexts.length },
    });
  });

  it("serves the openai package with 2,048 inputs, at the edge and in the region", async () => {
    const input = Array.from({ length: 2_048 }, (_, i) => `mill ${i}`);
    if (!stack.region) throw new Error("The stack has no region.");
    for (const { url, key: apiKey } of [stack.edge, stack.region]) {
      const openai = new OpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries: 0 });
      const { data: answer, response } = await openai.embeddings
        .create({ model: "bert-edge-mini", input })
        .withResponse();
      const { data } = answer;
      expect(data).toHaveLength(input.length);
      const tier = response.headers.get("x-bert-edge-tier") as "edge" | "region";
      const [alone] = (await new BertEdge({ baseURL: url, apiKey }).embed(input[2_047] ?? "", { tier })).embeddings;
      expect(cosine(Float32Array.from(data[2_047]?.embedding ?? []), alone ?? new Float32Array())).toBeGreaterThan(
        0.999_99,
      );
    }
  });

  it("answers at the edge when the region is down, and reports it", async () => {
    await stack.services.region?.stop();
    // The region is asked only with a budget that it can be expected to keep, and the edge cannot. How much faster the region is
    // depends on the CPU and on other processes.
    const shares = [0.95, 0.85, 0.75, 0.65];
    let tries = 0;
    const ask = async () =>
      edge.embed(manyTexts, { latencyBudgetMs: (shares[tries++ % shares.length] ?? 1) * (await expectedMs()) });
    await expect.poll(ask, { timeout: 45_000 }).toMatchObject({
      ...{ tier: "edge", reason: "region-down" },
      embeddings: { length: manyTexts.length },
    });
  });

  /**
   * Sends requests at once, more of them each time, and returns their answers. The edge can answer some of them within the budget, and
   * a region needs less than the budget on every CPU, even if it is slower than the edge.
   */
  async function askAtOnce(): Promise<Embeddings[]> {
    const latencyBudgetMs = 3 * (await expectedMs());
    crowd += 4;
    const asked = Array.from({ length: crowd }, () => edge.embed(manyTexts, { latencyBudgetMs }));
    const outcomes = await Promise.allSettled(asked);
    return outcomes.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value] : []));
  }

  let crowd = 0;

  /** Returns the time that the edge is expected to need for `manyTexts`. The edge learns its speed from its answers. */
  async function expectedMs(): Promise<number> {
    for (let answers = 0; answers < 2; answers++) await edge.embed(manyTexts, { tier: "edge" });
    const { predictedMs = 0 } = await edge.embed(manyTexts, { tier: "edge" });
    return predictedMs;
  }
});
