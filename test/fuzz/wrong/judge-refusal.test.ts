import { expect, it } from "vitest";
import { faultOf, judge } from "./judge-refusal.ts";
import { wrongCase } from "./wrong-case.ts";
import type { Refusal } from "./wrong-input.ts";

const good: Refusal = {
  ...{ status: "400", code: "request_invalid", message: "The field top_n is not a number." },
  hint: "Leave `top_n` out.",
};

it("finds nothing wrong with a refusal that names the field", () => {
  expect(faultOf(good, ["top_n"])).toBeUndefined();
});

it.each<[string, Partial<Refusal>]>([
  ["the status is 500", { status: "500" }],
  ["there is no code x", { code: "x" }],
  ["it is an unexpected error", { code: "internal" }],
  ["there is no message", { message: "" }],
  ["it has 1019 characters", { message: "top_n".padEnd(1_000, "x") }],
  ["it shows a place of our code", { message: "top_n at /a/sdk/src/b.ts." }],
  ["it has words of JavaScript", { message: "top_n: x is not iterable." }],
  ["it has characters that cannot be seen", { message: "top_n\u200b is wrong." }],
  ["a full stop is missing", { message: "top_n is wrong Leave it out." }],
  ["the last sentence has no end", { hint: "Leave top_n out" }],
  ["it names none of top_n", { message: "A field is wrong.", hint: "Leave it out." }],
])("finds that %s", (fault, change) => {
  expect(faultOf({ ...good, ...change }, ["top_n"])).toBe(fault);
});

it("finds inputs that are taken, errors that no hint cures, and crashes", async () => {
  const about = { shown: "x", names: ["x"], fixes: [] };
  expect(await judge(wrongCase({ ...about, give: () => {} }))).toMatchObject({ fault: "it was taken without a word" });
  const crash = () => {
    throw new TypeError("x is no text.");
  };
  expect(await judge(wrongCase({ ...about, give: crash }))).toMatchObject({ fault: "it is an unexpected error" });
});
