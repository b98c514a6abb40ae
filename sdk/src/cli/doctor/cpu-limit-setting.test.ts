import { expect, it } from "vitest";
import { cpuLimitSetting } from "./examine-project.ts";

it.each([
  ["10,", 10],
  ["30_000,", 30_000],
  ["1e4, // paid", 10_000],
  ["10 /* free */,", 10],
  ["30 * 1_000,", 30_000],
  ["50", 50],
])("reads cpuLimitMs: %s", (expression, ms) => {
  expect(cpuLimitSetting(`const settings = {\n  cpuLimitMs: ${expression}\n  region: 1,\n};`)).toBe(ms);
});

it.each(["limitOf(plan)", "LIMIT", "1 + 1", "Infinity"])("says that it cannot read %s", (expression) => {
  expect(cpuLimitSetting(`  cpuLimitMs: ${expression},`)).toEqual({ unread: expression });
});

it("is undefined without the setting", () => {
  expect(cpuLimitSetting("  // cpuLimitMs: 10,\n")).toBeUndefined();
});
