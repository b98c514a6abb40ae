import type { Unit } from "../figures.ts";
import { compareTexts } from "./compare-texts.ts";
import type { Context } from "./context.ts";
import { node, ours, web, webPadded } from "./encoders.ts";
import { kernelsSize } from "./kernels-size.ts";
import type { Measured } from "./measured.ts";
import { type ColdStart, coldStart } from "./workerd/cold-start.ts";
import { memoryInUse } from "./workerd/memory-in-use.ts";
import { BYTES_PER_MS, LATENCY_MS } from "./workerd/paced-store.ts";

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
const slower = { unit: "of its time", over: "ours" } as const;
const besideInt8 = ours("wasm", "bert-edge int8");
/** Weights of 4 bits that each call expands, beside weights of 8 bits. Both have a table of 4 bits. */
const inEachCall = {
  ...slower,
  model: "base",
  form: "wasm, int4 in each call",
  rival: ours("wasm, int4 table", "bert-edge int8, int4 table"),
} as const;

/** A cold start, and what it is compared with. */
interface ColdRow extends ColdStart, Pick<Row, "what" | "against" | "unit" | "asked"> {}

const inR2 = {
  store: "R2",
  ours: { form: "wasm", engine: "wasm" },
  rival: { form: "int8", engine: "ort-web" },
  over: "rival",
  against: web.name,
  unit: "times as fast",
} as const;

const DISTANT = `store of ${LATENCY_MS} ms and ${BYTES_PER_MS / 1000} MB/s`;
const inDistantStore = {
  store: "a distant store",
  ours: { form: "wasm, int4", engine: "wasm" },
  rival: { form: "wasm", engine: "wasm" },
  over: "ours",
  against: besideInt8.name,
  unit: "of its time",
} as const;
const inPages = { form: "wasm, int4, in pages", engine: "wasm" } as const;
const pagesInStore = { ...inDistantStore, ours: inPages } as const;
const uploaded = (upload: "pointer" | "model") =>
  ({ ...pagesInStore, ours: { ...inPages, upload }, rival: inPages, against: "bert-edge, all in the store" }) as const;

export const rows: readonly Row[] = [
  texts("128", "128 tokens", { ...faster, tokens: [128], rival: web, asked: { least: 3.2, aim: 4 } }),
  texts("16", "16 tokens", { ...faster, tokens: [16], rival: web, asked: { least: 3.5 } }),
  texts("512", "512 tokens", { ...faster, tokens: [512], rival: web, asked: { least: 3.5 } }),
  texts("native", "128 tokens", {
    ...slower,
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
  texts("int4", "128 tokens, int4", {
    ...slower,
    model: "given",
    form: "wasm, int4",
    tokens: [128],
    rival: besideInt8,
    asked: { most: 1 },
  }),
  texts("int4-calls", "128 tokens, BERT-base, int4 in each call", {
    ...inEachCall,
    tokens: [128],
    asked: { most: 1.06, aim: 1.03 },
  }),
  texts("int4-calls-16", "16 tokens, BERT-base, int4 in each call", {
    ...inEachCall,
    tokens: [16],
    asked: { most: 1.3, aim: 1.15 },
  }),
  cold("cold", { what: "model in R2", text: "typical", ...inR2, asked: { least: 5 } }),
  cold("cold-rare", { what: "model in R2, rare word", text: "rare", ...inR2, asked: { least: 4 } }),
  cold("cold-int4", { what: `int4, ${DISTANT}`, text: "typical", ...inDistantStore, asked: { most: 0.8 } }),
  cold("cold-int4-rare", {
    what: `int4, ${DISTANT}, rare word`,
    text: "rare",
    ...inDistantStore,
    asked: { most: 0.5 },
  }),
  cold("cold-pages", { what: `int4 in pages, ${DISTANT}`, text: "typical", ...pagesInStore, asked: { most: 0.8 } }),
  cold("cold-pages-rare", {
    ...{ what: `int4 in pages, ${DISTANT}, rare word`, text: "rare" },
    ...{ ...pagesInStore, asked: { most: 0.5 } },
  }),
  cold("cold-pointer", {
    ...{ what: `int4 in pages, ${DISTANT}, pointer in the Worker's upload`, text: "typical" },
    ...{ ...uploaded("pointer"), asked: { most: 1 } },
  }),
  cold("cold-upload", {
    ...{ what: `int4 in pages, ${DISTANT}, model in the Worker's upload`, text: "typical" },
    ...{ ...uploaded("model"), asked: { most: 1 } },
  }),
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
    what: "memory in workerd, BERT-base of 30,522 tokens, int4 table",
    against: `an isolate's ${ISOLATE_MB} MB`,
    unit: "MB to spare",
    asked: { least: 10 },
    measure: memoryInUse({ model: "base", form: "wasm, int4 table", limit: ISOLATE_MB }),
  },
  baseMemory("int4-memory", "int4 in groups of 32, in each call"),
  baseMemory("int4-memory-pages", "int4 in groups of 32, in each call, in pages"),
  {
    name: "kernels",
    what: "WebAssembly of the kernels, both builds",
    against: "",
    unit: "KB",
    asked: { most: 64 },
    measure: kernelsSize,
  },
];

function cold(name: string, { what, against, unit, asked, ...start }: ColdRow): Row {
  return {
    name,
    what: `first vector of an isolate in workerd, ${what}`,
    against,
    unit,
    asked,
    measure: coldStart(start),
  };
}

function baseMemory(
  name: string,
  form: "int4 in groups of 32, in each call" | "int4 in groups of 32, in each call, in pages",
): Row {
  return {
    name,
    what: `memory in workerd, BERT-base of 30,522 tokens, ${form}`,
    ...{ against: "", unit: "MB", asked: { most: 70 } },
    measure: memoryInUse({ model: "base", form: `wasm, ${form}` }),
  };
}

function texts(
  name: string,
  what: string,
  { unit, asked, ...comparison }: Pick<Row, "unit" | "asked"> & Parameters<typeof compareTexts>[0],
): Row {
  return { name, what, against: comparison.rival.name, unit, asked, measure: compareTexts(comparison) };
}
