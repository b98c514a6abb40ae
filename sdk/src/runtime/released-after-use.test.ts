import { describe, expect, it } from "vitest";
import { latch } from "#test/fixtures/tiny-model.ts";
import { releasedAfterUse } from "./released-after-use.ts";

function setUp() {
  const released: string[] = [];
  return { released, uses: releasedAfterUse(async (item: string) => void released.push(item)) };
}

describe("releasedAfterUse", () => {
  it("releases a retired item at once when nobody uses it", async () => {
    const { released, uses } = setUp();
    await uses.retire("a");
    expect(released).toEqual(["a"]);
    expect(uses.retiring()).toEqual([]);
  });

  it("releases a retired item after its last user, even if that fails, and releases no other item", async () => {
    const { released, uses } = setUp();
    const [first, last] = [latch(), latch()];
    const works = [first, last].map(({ promise }) => uses.using("a", () => promise));
    await uses.using("b", async () => {});
    await uses.retire("a");
    expect(uses.retiring()).toEqual(["a"]);
    first.resolve();
    await works[0];
    expect({ released, isUsed: uses.isUsed("a") }).toEqual({ released: [], isUsed: true });
    last.reject(new Error("it failed"));
    await expect(works[1]).rejects.toThrow("it failed");
    expect({ released, isUsed: uses.isUsed("a"), retiring: uses.retiring() }).toEqual({
      released: ["a"],
      isUsed: false,
      retiring: [],
    });
  });

  it("releases an item once, even if it is retired twice", async () => {
    const { released, uses } = setUp();
    await uses.using("a", async () => {
      await uses.retire("a");
      await uses.retire("a");
    });
    expect(released).toEqual(["a"]);
    await uses.using("a", async () => {});
    expect(released).toEqual(["a"]);
  });

  it("says that an item has been released only when its release has ended", async () => {
    const gate = latch();
    const uses = releasedAfterUse<string>(() => gate.promise);
    const retired = uses.retire("a");
    const order: string[] = [];
    const released = uses.released("a").then(() => order.push("released"));
    await Promise.resolve();
    order.push("ends");
    gate.resolve();
    await Promise.all([retired, released]);
    expect(order).toEqual(["ends", "released"]);
    await uses.released("a");
  });
});
