import { freePort } from "#sdk/cli/dev/ports.ts";
import { engineOnThisMachine } from "#sdk/local/engines.ts";
import { createEdgeApp } from "#sdk/serve/edge-app.ts";
import { regionTier } from "#sdk/serve/region/region.ts";
import { memoryStore } from "#sdk/storage/memory.ts";
import { publish } from "#sdk/storage/publish.ts";
import { KEY, servedRegion } from "../../fixtures/served-tiers.ts";
import type { Fault, Outcome } from "../fault.ts";
import { type ProxyFault, startFaultyProxy } from "../faulty-proxy.ts";
import { BUDGET_MS, NAME, texts, twoVersions } from "../two-versions.ts";

/** Longer than any budget here. */
const SLOW_MS = 2_000;

/** Edges whose region fails. The predicted times send every request to the region. */
const failing = (fault: ProxyFault | "killed"): Fault => ({
  name: `region: ${fault}`,
  times: { long: 20, short: 1 },
  async start() {
    const versions = await twoVersions();
    const models = memoryStore();
    await publish(versions.new, models);
    const region = await servedRegion([versions.new]);
    const proxy = await startFaultyProxy(region.url, SLOW_MS);
    const engine = await engineOnThisMachine("wasm");
    const edgeWith = (url: string) =>
      createEdgeApp({ models, model: NAME, engine, keys: false, log: false, region: regionTier({ url, key: KEY }) });
    const ask = async (edge: ReturnType<typeof edgeWith>, tier: string, random: () => number): Promise<Outcome> => {
      const text = texts[Math.floor(random() * texts.length)] as string;
      const headers = {
        "content-type": "application/json",
        "x-latency-budget-ms": `${BUDGET_MS}`,
        "x-bert-edge-tier": tier,
      };
      const init = { method: "POST", headers, body: JSON.stringify({ inputs: [text] }) };
      return versions.outcomeOf(await edge.request("/v1/embed", init), text);
    };
    return {
      async attempt(random) {
        const edge = edgeWith(fault === "killed" ? `http://127.0.0.1:${await freePort()}` : proxy.url);
        // A request makes the edge load its model.
        await ask(edge, "edge", random);
        if (fault !== "killed") proxy.impose(fault, random);
        const outcome = await ask(edge, random() < 0.5 ? "auto" : "region", random);
        const atEdge = await ask(edge, "auto", random);
        proxy.impose(undefined);
        const recovered = await ask(edgeWith(proxy.url), "region", random);
        const isRight = (each: Outcome) => typeof each === "string" || "code" in each;
        return { outcome: isRight(atEdge) ? outcome : atEdge, recovered: recovered === "new" };
      },
      async [Symbol.asyncDispose]() {
        await proxy.stop();
        await region.stop();
      },
    };
  },
});

export const faultyRegions: readonly Fault[] = (
  ["killed", "HTTP 500", "no answer", "too slow", "garbage", "truncated", "reset"] as const
).map(failing);
