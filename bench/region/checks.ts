import type { Check } from "../checks.ts";
import type { OutsideShare } from "./outside-share.ts";

interface Measured {
  readonly msOf: (form: string, tokens: number) => number;
  /** Agreement with the edge, by form; empty without sentences. */
  readonly agreement: ReadonlyMap<string, { readonly meanCosine: number; readonly minCosine: number }>;
  readonly outside: OutsideShare;
}

/** Tokens of the text that forms are compared on. */
const TOKENS = 128;

export function checksOf({ msOf, agreement, outside }: Measured): Check[] {
  const speedup = (form: string) => msOf("float32", TOKENS) / msOf(form, TOKENS);
  const atLeast = (what: string, least: number, found: number, digits = 2): Check => ({
    what,
    asked: `≥ ${least}`,
    measured: found.toFixed(digits),
    holds: found >= least,
  });
  const atMost = (what: string, most: number, found: number, digits = 2): Check => ({
    what,
    asked: `≤ ${most}`,
    measured: found.toFixed(digits),
    holds: found <= most,
  });
  const mixed = agreement.get("int8-mixed");
  return [
    atLeast("int8-mixed by float32, speed", 1.5, speedup("int8-mixed")),
    atLeast("int8 by float32, speed", 2.2, speedup("int8")),
    atMost(
      "a call of the engine by a bare call",
      1.05,
      msOf("int8-mixed", TOKENS) / msOf("int8-mixed, bare call", TOKENS),
    ),
    atMost("share of 64 × 128 tokens outside session.run", 0.03, outside.inGraph, 4),
    ...(mixed
      ? [
          atLeast("agreement of int8-mixed with the edge, mean cosine", 0.9985, mixed.meanCosine, 5),
          atLeast("agreement of int8-mixed with the edge, worst cosine", 0.99, mixed.minCosine, 4),
        ]
      : []),
  ];
}
