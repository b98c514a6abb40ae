import { describe, expect, it } from "vitest";
import { refusal } from "#test/fixtures/refusal.ts";
import type { Modules } from "../checkpoint/sentence-transformers.ts";
import { assertNoPooling, chosenPooling } from "./chosen-pooling.ts";

const usual = { pooling: "mean", normalize: true, isAssumed: true } as Modules;
const stated = { ...usual, pooling: "cls", isAssumed: false } as Modules;

describe("chosenPooling", () => {
  it("is the choice for a folder without modules.json", () => {
    expect(chosenPooling("m", usual, {})).toEqual({ pooling: "mean", normalize: true });
    expect(chosenPooling("m", usual, { pooling: "last" })).toEqual({ pooling: "last", normalize: true });
    expect(chosenPooling("m", usual, { normalize: false })).toEqual({ pooling: "mean", normalize: false });
  });

  it("may repeat what modules.json says", () => {
    const expected = { pooling: "cls", normalize: true };
    expect(chosenPooling("m", stated, { pooling: "cls", normalize: true })).toEqual(expected);
    expect(chosenPooling("m", stated, {})).toEqual(expected);
  });

  it.each([
    [
      { pooling: "mean" },
      "--pooling mean contradicts m/modules.json, which says that vectors are pooled by cls, and normalized.",
    ],
    [{ normalize: false }, "--no-normalize contradicts m/modules.json"],
    [{ pooling: "max", normalize: false }, "--pooling max --no-normalize contradicts"],
  ] as const)("does not contradict modules.json: %j", (choice, message) => {
    expect(() => chosenPooling("m", stated, choice)).toThrow(
      expect.objectContaining({ code: "setting_invalid", message: expect.stringContaining(message) }),
    );
  });

  it("is refused for other tasks", () => {
    expect(refusal(() => assertNoPooling("classify", { pooling: "cls" }))).toBe("setting_invalid");
    expect(refusal(() => assertNoPooling("classify", {}))).toBe("accepted");
  });
});
