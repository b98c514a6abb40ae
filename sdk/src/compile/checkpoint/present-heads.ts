import * as v from "valibot";
import { families } from "./families/index.ts";
import type { HeadFormula } from "./head-formula.ts";
import { LINEAR } from "./late-interaction.ts";
import type { Head } from "./task-head.ts";

/** Returns the formulas of a family's heads, as far as no key of config.json is needed for them. */
function formulasOf(modelType: string): [Head, HeadFormula][] {
  const heads = Object.entries(families[modelType]?.heads ?? {});
  return heads.flatMap(([head, schema]) => {
    const parsed = v.safeParse(schema, {});
    return parsed.success ? [[head as Head, parsed.output] as [Head, HeadFormula]] : [];
  });
}

/**
 * Finds the heads whose output layer is among some tensors. Heads of texts and of tokens have the same names in some families, so
 * there can be several.
 */
export function headsAmong(names: readonly string[], modelType: string): Head[] {
  const found = formulasOf(modelType)
    .filter(
      ([, { output }]) =>
        output && [`${output.name}.weight`, output.bias].some((name) => name !== undefined && names.includes(name)),
    )
    .map(([head]) => head);
  return names.includes(`${LINEAR}.weight`) ? [...found, "late-interaction"] : found;
}
