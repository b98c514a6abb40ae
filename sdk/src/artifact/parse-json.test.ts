import * as v from "valibot";
import { expect, it } from "vitest";
import { parseJson } from "./parse-json.ts";

it("stops at the first mistake: a list can have one in every item", () => {
  let read = 0;
  const item = v.custom<string>(() => {
    read++;
    return false;
  }, "is wrong");
  const parse = () =>
    parseJson(v.array(item), JSON.stringify(Array(1_000).fill({})), {
      code: "request_invalid",
      what: "body",
      hint: "",
    });
  expect(parse).toThrow("The body is not valid at 0: is wrong");
  expect(read).toBe(1);
});
