import { expect, it } from "vitest";
import { checkPrepareOptions } from "./check-prepare-options.ts";

const model = "./model";

it.each([
  undefined,
  "./model",
  {},
  { model: "" },
  { model, targets: "edge" },
  { model, targets: ["Edge"] },
  { model, tableBits: 3 },
  { model, pooling: "avg" },
  { model, calibration: "a text" },
  { model, minCosine: "0.9" },
  { model, timingRounds: 0 },
])("refuses the options %j", (options) => {
  expect(() => checkPrepareOptions(options as never)).toThrow(expect.objectContaining({ code: "setting_invalid" }));
});

it("asks which option was meant", () => {
  expect(() => checkPrepareOptions({ model, target: ["edge"] } as never)).toThrow(
    'prepare has no option "target". Did you mean targets?',
  );
});

it("takes options that are undefined, and a Map of files", () => {
  expect(() => checkPrepareOptions({ model: new Map(), out: undefined, targets: ["edge"], fast: true })).not.toThrow();
});

it.each([
  [{ maxSize: 1e7, tableBits: 4 }, "maxSize (--max-size) and tableBits (--table)", "Leave out tableBits"],
  [{ maxSize: 1e7, weightBits: 8 }, "maxSize (--max-size) and weightBits (--weights)", "Leave out weightBits"],
  [
    { weightBits: 4, targets: ["regional-cpu"] },
    "weightBits (--weights) is for the target edge",
    "add edge to targets",
  ],
  [{ maxSize: 1e7, targets: ["regional-gpu"] }, "maxSize (--max-size) is for the target edge", "add edge to targets"],
  [
    { maxMemory: 1e7, targets: ["regional-gpu"] },
    "maxMemory (--max-memory) is for the target edge",
    "add edge to targets",
  ],
  [{ maxSize: 0 }, "The option maxSize", "at least 1"],
  [{ maxMemory: 1.5 }, "The option maxMemory", "whole number of bytes"],
  [{ weightBits: 2 }, "The option weightBits", "one of 8, 4"],
])("refuses %j", (options, message, hint) => {
  expect(() => checkPrepareOptions({ model, ...options } as never)).toThrow(
    expect.objectContaining({
      code: "setting_invalid",
      message: expect.stringContaining(message),
      hint: expect.stringContaining(hint),
    }),
  );
});

it("accepts the options of the edge's model file", () => {
  expect(() => checkPrepareOptions({ model, maxSize: 13_500_000, maxMemory: 70_000_000 } as never)).not.toThrow();
  expect(() => checkPrepareOptions({ model, weightBits: 4, tableBits: 4, targets: ["edge"] } as never)).not.toThrow();
});
