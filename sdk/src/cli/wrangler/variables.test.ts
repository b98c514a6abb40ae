import { expect, it } from "vitest";
import { parseVariables } from "./variables.ts";

// dotenv 16 and 17 give these values.
it.each([
  ["A=1\r\nB = 2 # two\n#C=3\n\nexport D=4", { A: "1", B: "2", D: "4" }],
  ["A: 1\nB:2\n C.d-e : 5\nF:\t6", { A: "1", F: "6" }],
  ["\uFEFFA=1\nA=2", { A: "2" }],
  ["A='x # \\n'\nB=\"y\\nz # \"\nC=`'\"`\nD=", { A: "x # \\n", B: "y\nz # ", C: "'\"", D: "" }],
  ["A=\"one\nB=2\n\"\nC='it\\'s'", { A: "one\nB=2\n", C: "it\\'s" }],
  ["A=a=b\nB=c#d\nE='open\nF=$A", { A: "a=b", B: "c", E: "'open", F: "$A" }],
])("reads %j as dotenv does", (text, expected) => {
  expect(parseVariables(text)).toEqual(expected);
});
