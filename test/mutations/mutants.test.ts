import { expect, it } from "vitest";
import { mutantsOf, mutated } from "./mutants.ts";

const mutations = (source: string) => mutantsOf("x.ts", source).map((mutant) => mutated(source, mutant));

it.each<[source: string, wanted: string[]]>([
  ["a < b;", ["a <= b;"]],
  ["a && b;", ["a || b;"]],
  ["f(7);", ["f(8);"]],
  ["if (a) b();", ["if (!(a)) b();"]],
  ["const f = (a: number) => a;", ["const f = (a: number) => (undefined as never);"]],
  ["function f() { return a; }", ["function f() { return undefined as never; }"]],
  ["a ? b : c;", ["!(a) ? b : c;"]],
])("makes the mistakes that a person would make: %s", (source, wanted) => {
  expect(mutations(source)).toEqual(wanted);
});

it("leaves types, imports, strings and lost undefined alone", () => {
  const source =
    'import { a } from "./a.ts";\ntype T = { [K in "x"]: 7 } | 8;\ninterface I { b: 9 }\nexport const c: T | "<" = "a < b";\nf(() => undefined);';
  expect(mutations(source)).toEqual([]);
});
