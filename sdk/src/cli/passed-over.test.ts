import { expect, it } from "vitest";
import type { PrepareReport } from "../compile/commands/prepare.ts";
import { passedOver } from "./passed-over.ts";

it("says which function to deploy for a target, and why the faster engine is not used", () => {
  const report = {
    manifest: { targets: { edge: { engine: "ort-web" }, "regional-cpu": { engine: "ort-node" } } },
    passedOver: [{ target: "edge", engine: "wasm", why: "It has no kernel: Conv (conv)." }],
  } as unknown as PrepareReport;
  const [line, ...others] = passedOver(report);
  expect(line).toBe(
    "edge uses ort-web instead of wasm: It has no kernel: Conv (conv).\n  Deploy functions/edge-ort-web.ts for this target. README.md of created projects contains this file.",
  );
  expect(others).toEqual([]);
});
