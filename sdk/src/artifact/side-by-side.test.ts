import { describe, expect, it } from "vitest";
import { sideBySide } from "./side-by-side.ts";

const later = () => new Promise<void>((resolve) => setTimeout(resolve));

describe("sideBySide", () => {
  it.each([1, 2, 5])("begins all items in order, %d at a time", async (limit) => {
    const begun: number[] = [];
    let running = 0;
    let most = 0;
    await sideBySide(["a", "b", "c", "d"], limit, async (_, index) => {
      begun.push(index);
      most = Math.max(most, ++running);
      await later();
      running--;
    });
    expect(begun).toEqual([0, 1, 2, 3]);
    expect(most).toBe(Math.min(limit, 4));
  });

  it("begins no item after one has failed", async () => {
    const begun: string[] = [];
    const work = sideBySide(["a", "b", "c", "d"], 2, async (item) => {
      begun.push(item);
      await later();
      if (item === "a") throw new Error("no a");
    });
    await expect(work).rejects.toThrow("no a");
    await later();
    expect(begun.slice(0, 2)).toEqual(["a", "b"]);
    expect(begun).not.toContain("d");
  });

  it("does nothing without items", async () => {
    await sideBySide([], 3, () => Promise.reject(new Error("called")));
  });
});
