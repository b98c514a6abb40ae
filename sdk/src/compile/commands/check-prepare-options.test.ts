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
