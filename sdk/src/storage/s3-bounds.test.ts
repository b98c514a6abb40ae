import { expect, it } from "vitest";
import { ENDLESS_LIST, pageCounter } from "./s3-bounds.ts";

it("pageCounter refuses a page that was there, and more pages than a bucket of models has", () => {
  const again = pageCounter();
  for (const token of [undefined, "1", "2"]) again(token);
  expect(() => again("1")).toThrow(ENDLESS_LIST);
  const endless = pageCounter();
  expect(() => {
    for (let page = 0; page < 1_000_000; page++) endless(`${page}`);
  }).toThrow(ENDLESS_LIST);
});
