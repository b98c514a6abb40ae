import { expect, it } from "vitest";
import { issuedPredictions } from "./observer.ts";

it("takes each prediction once, as its header says it, and only from its key", () => {
  const given = issuedPredictions();
  given.give("web", 12.345_678);
  given.give("web", 7);
  given.give(undefined, 3);
  expect(given.take("batch", 12.35)).toBe(false);
  expect([given.take("web", 12.35), given.take("web", 12.35)]).toEqual([true, false]);
  expect([given.take("web", 3), given.take(undefined, 3)]).toEqual([false, true]);
});

it("forgets old predictions, and old keys", () => {
  const given = issuedPredictions();
  for (let ms = 0; ms < 1_000; ms++) given.give("web", ms);
  expect([given.take("web", 0), given.take("web", 999)]).toEqual([false, true]);
  for (let key = 0; key < 1_000; key++) given.give(`key-${key}`, 1);
  expect([given.take("web", 998), given.take("key-999", 1)]).toEqual([false, true]);
});
