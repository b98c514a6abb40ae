/**
 * Runs a benchmark by name. A benchmark prints its usage with `--help`, or if its arguments are wrong:
 *
 *     npm run bench -- <name> …
 */
import { printNote, printResult } from "#sdk/cli/output.ts";

const benchmarks: Readonly<Record<string, () => Promise<unknown>>> = {
  accuracy: () => import("./accuracy.ts"),
  engine: () => import("./engine.ts"),
  gpu: () => import("./gpu.ts"),
  heads: () => import("./heads.ts"),
  kernels: () => import("./kernels.ts"),
  neighbours: () => import("./neighbours.ts"),
  optimize: () => import("./optimize.ts"),
  pages: () => import("./pages.ts"),
  quantize: () => import("./quantize.ts"),
  region: () => import("./region.ts"),
  routing: () => import("./routing.ts"),
  "routing-sim": () => import("./routing-sim.ts"),
  tokenizer: () => import("./tokenizer.ts"),
};

const usage = `usage: npm run bench -- <${Object.keys(benchmarks).join("|")}> …`;
const [name = ""] = process.argv.splice(2, 1);
const benchmark = benchmarks[name];
if (benchmark) await benchmark();
else if (name === "--help" || name === "-h") printResult(usage);
else {
  printNote(`There is no benchmark "${name}".\n\n${usage}`);
  process.exitCode = 2;
}
