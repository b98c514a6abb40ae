import { rows as engineRows } from "../../bench/engine/rows.ts";
import { parts } from "../../bench/routing/parts.ts";

/** A short run of a command: a tiny model, and the fewest repetitions. */
export interface ShortForm {
  /** npm script. */
  readonly script: string;
  readonly args: readonly string[];
  /** Starts of the rows of which the JSON output must have figures. Default: it has no figures. */
  readonly rows?: readonly string[];
  /** Output of a command without figures. */
  readonly prints?: RegExp;
  /** Whether the path of a prepared default model follows `args`. */
  readonly takesArtifact?: boolean;
  /** More arguments for the run with a broken engine, which must fail. Default: there is no such run. Those of kernels and
   * quantize are left out: they take half a minute, and tests of both compare the same bits and vectors. */
  readonly broken?: readonly string[];
}

const heads = ["tag", "answer"];
const regionForms = ["float32", "int8-blocks", "int8-mixed", "int8-mixed, bare call", "int8", "edge"];
const tiers = ["float32", "edge", "region"];

/** The longest one first: they start in this order, a few at a time. */
export const shortForms: readonly ShortForm[] = [
  {
    ...{ script: "bench", args: ["routing", "--short"], broken: ["--only", "overhead"] },
    rows: ["edge", "region", ...Object.keys(parts)],
  },
  {
    ...{ script: "bench", args: ["engine", "--short"], broken: ["--only", "128,cold,memory"] },
    rows: engineRows.map(({ name }) => name),
  },
  {
    ...{ script: "bench", args: ["gpu", "--short"], broken: [] },
    rows: ["1 layer of 64", "1 layer of 64, HTTP, 1 a request", "1 layer of 64, HTTP, 16 a request"],
  },
  { script: "bench", args: ["heads", "--short"], broken: [], rows: heads },
  { script: "bench", args: ["neighbours", "--short"], broken: [], rows: ["edge", "edge-16", "edge-13.5", "region"] },
  { script: "bench", args: ["pages", "--short"], rows: ["5 ms", "isolate", "vectors"] },
  { script: "bench", args: ["region", "--short"], broken: [], rows: [...regionForms, "outside of session.run"] },
  { script: "bench", args: ["routing-sim", "--short"], rows: ["mini", "base", "mini, bert-edge", "base, edge-only"] },
  { script: "bench", args: ["tokenizer", "--short"], rows: ["packed", "json"] },
  { script: "bench:kernels", args: ["--short"], rows: ["peak", "gemmInt8", "attentionInt8"] },
  {
    ...{ script: "bench:optimize", args: ["--short"], broken: [] },
    rows: ["without comparison", "with comparison"],
  },
  {
    ...{ script: "bench:pool", args: ["--short"], broken: [] },
    rows: ["one thread", "pool", "one of 20 tokens", "all probe texts", "all probe texts, four times"],
  },
  {
    ...{ script: "bench:quantize", args: ["--short"] },
    rows: ["float32", "int8-dynamic", "int8-blocks", "int8-static", "fp16"],
  },
  { script: "accuracy", args: ["--short"], broken: ["edge"], rows: ["fp32", "edge", "int8", "blocks", "static"] },
  { script: "eval", args: ["sts", "--short"], broken: [], rows: tiers },
  { script: "eval", args: ["search", "--short"], broken: [], rows: tiers },
  { script: "eval", args: ["sentiment", "--short"], broken: [], rows: tiers },
  { script: "e2e:exports", args: ["test/corpus/exports", "--only", "bert-tanh"], prints: /of the tolerance/ },
  {
    script: "faults",
    args: ["--short", "--only", "publisher killed"],
    prints: /^\| publisher killed \(folder\) +\| 3 /m,
  },
  { script: "fuzz", args: ["--only", "pointer", "--runs", "50"], prints: /^50 executions$/m },
  {
    ...{ script: "soak", args: ["--minutes", "0.05", "--artifact"], takesArtifact: true },
    prints: /each kind of request is answered .* ✓/,
  },
];

/** Commands without a short form, and the reason. A key is an npm script, or a script and its first argument. */
export const exceptions: Readonly<Record<string, string>> = {
  "bench:transformers": "installs transformers.js from a registry",
  "docs:screenshots": "needs Chromium",
  docs: "needs the registry of npm; test/docs/site.test.ts finds dead links",
  "e2e:authors": "needs Python with torch, transformers and sentence-transformers",
  "e2e:bundlers": "needs the registry of npm; test/bundlers/esbuild.long.test.ts has its esbuild",
  "e2e:clients": "needs the registry of npm",
  "e2e:contract": "needs Python and PyPI",
  "e2e:folders":
    "needs Python with transformers and sentence-transformers; test/golden/random-folders.test.ts has some of its folders",
  "e2e:infra": "needs Python, PyPI and the registry of npm",
  "e2e:package": "needs the registry of npm",
  "e2e:python": "needs Python and PyPI",
  "e2e:s3": "needs Python and PyPI",
  "e2e:scaffold": "needs the registry of npm",
  "e2e:tokenizers": "needs the registry of npm",
  "e2e:wrangler": "needs the registry of npm",
  "eval heads": "needs Python with torch and transformers",
  "release:check": "needs the tag of a release; release/faults.test.ts tests what it finds",
  "release:publish": "publishes",
  "soak:model": "writes a BERT-base, which takes three minutes",
  "test:flaky": "runs tests",
  "test:mutations": "needs an older checkout",
};

/** Scripts that `npm test` and `npm run test:all` call themselves, or that call nothing but a tool: how they are run. */
export const runOtherwise: Readonly<Record<string, string>> = {
  build: "npm test",
  "build:region": "npm run build",
  check: "npm test",
  "check:format": "npm run check",
  "check:package": "npm run test:all",
  "check:structure": "npm run check",
  "check:types": "npm run check",
  "check:unused": "npm run check",
  "e2e:docs": "test/docs/site.long.test.ts, where the site's packages are installed",
  "e2e:page": "test/page/page.long.test.ts",
  "package:aws": "test/e2e/aws-package.long.test.ts",
  prepare: "npm ci",
  start: "test/e2e/dev.long.test.ts",
  test: "npm test",
  "test:all": "npm run test:all",
  "test:cases": "runs all tests with CASES=all",
};
