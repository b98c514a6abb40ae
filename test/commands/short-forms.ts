import { rows as engineRows } from "../../bench/engine/rows.ts";
import { parts } from "../../bench/routing/parts.ts";

/** A short run of a command: a tiny model, and the fewest repetitions. */
export interface ShortForm {
  /** npm script. */
  readonly script: string;
  readonly args: readonly string[];
  /** Starts of the rows of which the JSON output must have figures. Default: it has no figures. */
  readonly rows?: readonly string[];
  /** More arguments for the run with a broken engine, which must fail. Default: the command runs no engine. */
  readonly broken?: readonly string[];
}

const heads = ["tag", "answer"];
const regionForms = ["float32", "int8-blocks", "int8-mixed", "int8-mixed, bare call", "int8", "edge"];
const tiers = ["float32", "edge", "region"];

export const shortForms: readonly ShortForm[] = [
  {
    ...{ script: "bench", args: ["engine", "--quick"], broken: ["--only", "128,cold,memory"] },
    rows: engineRows.map(({ name }) => name),
  },
  {
    ...{ script: "bench", args: ["gpu", "--quick"], broken: [] },
    rows: ["1 layer of 64", "1 layer of 64, HTTP, 1 a request", "1 layer of 64, HTTP, 16 a request"],
  },
  { script: "bench", args: ["heads", "--quick"], broken: [], rows: heads },
  { script: "bench", args: ["region", "--quick"], broken: [], rows: [...regionForms, "outside of session.run"] },
  {
    ...{ script: "bench", args: ["routing", "--quick"], broken: ["--only", "overhead"] },
    rows: ["edge", "region", ...Object.keys(parts)],
  },
  { script: "bench", args: ["routing-sim", "--quick"], rows: ["mini", "base", "mini, bert-edge", "base, edge-only"] },
  { script: "bench", args: ["tokenizer", "--quick"], rows: ["packed", "json"] },
  { script: "bench:kernels", args: ["--quick"], broken: [], rows: ["peak", "gemmInt8", "attentionInt8"] },
  {
    ...{ script: "bench:optimize", args: ["--quick"], broken: [] },
    rows: ["without comparison", "with comparison"],
  },
  {
    ...{ script: "bench:pool", args: ["--quick"], broken: [] },
    rows: ["one thread", "pool", "one of 20 tokens", "all probe texts", "all probe texts, four times"],
  },
  {
    ...{ script: "bench:quantize", args: ["--quick"], broken: [] },
    rows: ["float32", "int8-dynamic", "int8-blocks", "int8-static", "fp16"],
  },
  { script: "accuracy", args: ["--quick"], broken: ["edge"], rows: ["fp32", "edge", "int8", "blocks", "static"] },
  { script: "eval", args: ["sts", "--quick"], broken: [], rows: tiers },
  { script: "eval", args: ["search", "--quick"], broken: [], rows: tiers },
  { script: "eval", args: ["sentiment", "--quick"], broken: [], rows: tiers },
];

/** Commands without a short form, and the reason. A key is an npm script, or a script and its first argument. */
export const exceptions: Readonly<Record<string, string>> = {
  "bench:transformers": "installs transformers.js from a registry",
  "eval heads": "needs Python with torch and transformers",
};
