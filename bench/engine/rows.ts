import type { Unit } from "../figures.ts";
import { compareTexts } from "./compare-texts.ts";
import type { Context } from "./context.ts";
import { node, web, webPadded } from "./encoders.ts";
import { kernelsSize } from "./kernels-size.ts";
import type { Measured } from "./measured.ts";
import { coldStart } from "./workerd/cold-start.ts";
import { memoryInUse } from "./workerd/memory-in-use.ts";

/** The limit for a figure: a minimum (`least`) or a maximum (`most`). `aim` is a stricter goal. */
export type Asked = ({ readonly least: number } | { readonly most: number }) & { readonly aim?: number };

/** A measurement of our engine, and the limit for its figure. */
export interface Row {
  /** Name for --only. */
  readonly name: string;
  readonly what: string;
  readonly against: string;
  readonly unit: Unit;
  readonly asked: Asked;
  measure(context: Context): Promise<Measured>;
}

/** Memory limit of Cloudflare's isolates. */
const ISOLATE_MB = 128;

/** Tokens in each of 32 texts: 8, 16, … 256, in mixed order. */
const mixed = Array.from({ length: 32 }, (_, i) => 8 * (1 + ((11 * i) % 32)));

const faster = { unit: "times as fast", over: "rival", model: "given" } as const;

export const rows: readonly Row[] = [
  texts("128", "128 tokens", { ...faster, tokens: [128], rival: web, asked: { least: 3.2, aim: 4 } }),
  texts("16", "16 tokens", { ...faster, tokens: [16], rival: web, asked: { least: 3.5 } }),
  texts("512", "512 tokens", { ...faster, tokens: [512], rival: web, asked: { least: 3.5 } }),
  texts("native", "128 tokens", {
    unit: "of its time",
    over: "ours",
    model: "given",
    tokens: [128],
    rival: node,
    asked: { most: 1.5, aim: 1.15 },
  }),
  texts("batch", "32 texts of 8 to 256 tokens", {
    ...faster,
    tokens: mixed,
    rival: webPadded,
    asked: { least: 5 },
  }),
  texts("base", "128 tokens, BERT-base", {
    ...faster,
    model: "base",
    tokens: [128],
    rival: web,
    asked: { least: 2.8 },
  }),
  {
    name: "cold",
    what: "first vector of an isolate in workerd, model in R2",
    against: "onnxruntime-web int8",
    unit: "times as fast",
    asked: { least: 5 },
    measure: coldStart,
  },
  {
    name: "memory",
    what: "memory in workerd",
    against: "",
    unit: "MB",
    asked: { most: 45 },
    measure: memoryInUse({ model: "given", form: "wasm" }),
  },
  {
    name: "base-memory",
    what: "memory in workerd, BERT-base, int4 table",
    against: `an isolate's ${ISOLATE_MB} MB`,
    unit: "MB to spare",
    asked: { least: 10 },
    measure: memoryInUse({ model: "base", form: "wasm, int4 table", limit: ISOLATE_MB }),
  },
  {
    name: "kernels",
    what: "WebAssembly of the kernels, both builds",
    against: "",
    unit: "KB",
    asked: { most: 64 },
    measure: kernelsSize,
  },
];

function texts(
  name: string,
  what: string,
  { unit, asked, ...comparison }: Pick<Row, "unit" | "asked"> & Parameters<typeof compareTexts>[0],
): Row {
  return { name, what, against: comparison.rival.name, unit, asked, measure: compareTexts(comparison) };
}
