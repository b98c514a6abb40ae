import { expect, it } from "vitest";
import { issuedPredictions } from "./observer.ts";

it("takes each prediction once, as its header says it, and only from its key", () => {
  const issued = issuedPredictions();
  issued.record("web", 12.345_678);
  issued.record("web", 7);
  issued.record(undefined, 3);
  expect(issued.take("batch", 12.35)).toBe(false);
  expect([issued.take("web", 12.35), issued.take("web", 12.35)]).toEqual([true, false]);
  expect([issued.take("web", 3), issued.take(undefined, 3)]).toEqual([false, true]);
});

it("forgets old predictions, and old keys", () => {
  const issued = issuedPredictions();
  for (let ms = 0; ms < 1_000; ms++) issued.record("web", ms);
  expect([issued.take("web", 0), issued.take("web", 999)]).toEqual([false, true]);
  for (let key = 0; key < 1_000; key++) issued.record(`key-${key}`, 1);
  expect([issued.take("web", 998), issued.take("key-999", 1)]).toEqual([false, true]);
});
