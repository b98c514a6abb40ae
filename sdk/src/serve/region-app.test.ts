import { describe, expect, it, vi } from "vitest";
import { fakeEngine, TINY, tinyStore } from "#test/fixtures/tiny-model.ts";
import { waitFor } from "#test/fixtures/wait-for.ts";
import { httpSurfaceSuite } from "#test/suites/http-surface.ts";
import { createRegionApp } from "./region-app.ts";

httpSurfaceSuite("createRegionApp", "region", ({ store, engine, keys, limits }) => {
  const app = createRegionApp({
    models: store,
    model: TINY.name,
    engine: fakeEngine({ ...engine, target: "regional-cpu" }),
    keys,
    limits,
  });
  return async (request) => app.fetch(request);
});

describe("createRegionApp", () => {
  it("loads its model before the first request", async () => {
    const engine = fakeEngine({ target: "regional-cpu" });
    createRegionApp({ models: await tinyStore(), model: TINY.name, engine, keys: [] });
    await waitFor(() => expect(engine.sessions).toHaveLength(1));
  });

  it("starts and is healthy even if its model cannot be loaded", async () => {
    const log = vi.spyOn(console, "error").mockReturnValue(undefined);
    const app = createRegionApp({ models: await tinyStore(), model: "other", engine: fakeEngine(), keys: [] });
    await waitFor(() => expect(log).toHaveBeenCalled());
    expect((await app.request("/health")).status).toBe(200);
    expect((await app.request("/ready")).status).toBe(503);
    log.mockRestore();
  });

  it("shows its queue and its model to Prometheus, if it is asked to", async () => {
    const options = { models: await tinyStore(), model: TINY.name, engine: fakeEngine(), keys: [] };
    expect((await createRegionApp(options).request("/metrics")).status).toBe(404);

    const app = createRegionApp({ ...options, metrics: true });
    await waitFor(async () => expect((await app.request("/ready")).status).toBe(200));
    const response = await app.request("/metrics");
    expect(response.headers.get("content-type")).toContain("version=0.0.4");
    const text = await response.text();
    expect(text).toMatch(/^bert_edge_queue_wait_seconds [\d.e-]+$/m);
    expect(text).toMatch(/^bert_edge_model_bytes \d+$/m);
    expect(text).toMatch(
      new RegExp(`^bert_edge_model_info\\{model="${TINY.name}",version="[0-9a-f]{12}",provider="[a-z]+"\\} 1$`, "m"),
    );
  });
});
