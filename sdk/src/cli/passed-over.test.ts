import { expect, it } from "vitest";
import type { PrepareReport } from "../compile/commands/prepare.ts";
import { passedOver } from "./passed-over.ts";

it("says for every target which function to deploy, and why not the faster one", () => {
  const report = {
    manifest: { targets: { edge: { engine: "ort-web" }, "regional-cpu": { engine: "ort-node" } } },
    passedOver: [{ target: "edge", engine: "wasm", why: "It has no kernel: Conv (conv)." }],
  } as unknown as PrepareReport;
  const [line, ...others] = passedOver(report);
  expect(line).toBe(
    "edge is for ort-web, not for wasm: It has no kernel: Conv (conv).\n  Deploy functions/edge-ort-web.ts for it.",
  );
  expect(others).toEqual([]);
});
