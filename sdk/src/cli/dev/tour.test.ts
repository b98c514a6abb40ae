import { expect, it } from "vitest";
import { serve } from "#test/fixtures/serve.ts";
import { encodeBytes } from "../../serve/contract/vector-text.ts";
import { crowd } from "./tour.ts";

it("counts, for each budget, who answered and what was refused", async () => {
  const vector = encodeBytes(Float32Array.of(1));
  const budgets = new Map<string, number>();
  const url = await serve((request, response) => {
    const budget = `${request.headers["x-latency-budget-ms"] ?? "none"}`;
    const before = budgets.get(budget) ?? 0;
    budgets.set(budget, before + 1);
    if (budget === "100") {
      const error = { code: "overloaded", message: "Full." };
      response.writeHead(503, { "content-type": "application/json" }).end(JSON.stringify({ error }));
      return;
    }
    const tier = before < 4 ? "region" : "edge";
    const answer = { embeddings: [vector, vector], model: "tiny", version: "012345", tier, usage: { tokens: 2 } };
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer));
  });
  const [head, , ...rows] = (await crowd({ edge: { url, key: "key" } })).split("\n");
  expect(head?.split(/ {2,}/)).toEqual(["budget", "edge", "region", "refused", "in time"]);
  expect([...budgets]).toEqual(["none", "800", "400", "200", "100"].map((budget) => [budget, 16]));
  const counts = rows.map((row) => row.split(/ {2,}/));
  expect(counts.map((row) => row.slice(0, 4))).toEqual([
    ["none", "12", "4", "0"],
    ...["800 ms", "400 ms", "200 ms"].map((budget) => [budget, "12", "4", "0"]),
    ["100 ms", "0", "0", "16"],
  ]);
  // Answers without a budget are always in time; refusals never.
  expect([counts[0]?.[4], counts[4]?.[4]]).toEqual(["16", "0"]);
});
