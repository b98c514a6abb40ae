import { expect, it } from "vitest";
import { spendingByCaller } from "./spending.ts";

it("forgets only the caller that was not asked for the longest time", () => {
  const limit = { requests: 1 };
  const of = spendingByCaller(() => 0, 2);
  const isOver = (caller: string) => of(caller).over(limit, { requests: 1 }) !== undefined;
  for (const caller of ["a", "b", "a", "c"]) of(caller).add(limit, { requests: 1 });
  expect([isOver("c"), isOver("a"), isOver("b")]).toEqual([true, true, false]);
});
