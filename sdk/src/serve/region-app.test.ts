import { describe, expect, it, vi } from "vitest";
import { fakeEngine, TINY, tinyStore } from "#test/fixtures/tiny-model.ts";
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
    await vi.waitFor(() => expect(engine.sessions).toHaveLength(1));
  });

  it("starts and is healthy even if its model cannot be loaded", async () => {
    const log = vi.spyOn(console, "error").mockReturnValue(undefined);
    const app = createRegionApp({ models: await tinyStore(), model: "other", engine: fakeEngine(), keys: [] });
    await vi.waitFor(() => expect(log).toHaveBeenCalled());
    expect((await app.request("/health")).status).toBe(200);
    expect((await app.request("/ready")).status).toBe(503);
    log.mockRestore();
  });
});
