/**
 * Every kernel of the WebAssembly engine in the shapes of some encoders, both builds side by side:
 *
 *     npm run bench:kernels -- [--json]
 *
 * Times are of one call, medians of interleaved rounds; what else the machine does slows calls of several milliseconds most.
 * Operands are in the nearest caches that hold them, which in a forward pass weights are not. Rates are of multiply–adds,
 * or of numbers written. Shares are of the multiply–adds that the machine's instructions did in the same round when they
 * waited for nothing, and of a forward pass's time.
 */
import { parseArgs } from "node:util";
import { printJson, printResult, stageLog } from "#sdk/cli/output.ts";
import { openKernels } from "#test/suites/kernels/builds.ts";
import { describeKernels } from "./kernels/describe.ts";
import { encoders } from "./kernels/encoders.ts";
import { measureEncoder, ROUNDS } from "./kernels/measure.ts";
import { openPeaks } from "./kernels/peak.ts";
import { median } from "./run-tool.ts";

const MEMORY = 2 ** 25;

const { values } = parseArgs({ options: { json: { type: "boolean" } } });
const log = stageLog();
const peaks = await openPeaks();
const machines = { relaxed: await openKernels("relaxed", MEMORY), simd: await openKernels("simd", MEMORY) };
const gigaMacs = Object.fromEntries(
  Object.entries(peaks).map(([unit, { macs, sample }]) => [
    unit,
    macs / median(Array.from({ length: ROUNDS }, sample)) / 1e9,
  ]),
);
const results = Object.entries(encoders).map(([name, encoder]) => {
  log.stage(name);
  return { name, encoder, rows: measureEncoder(encoder, machines, peaks) };
});
log.done();
if (values.json) printJson({ rounds: ROUNDS, peakGigaMacs: gigaMacs, encoders: results });
else {
  const peak = Object.entries(gigaMacs).map(([unit, rate]) => `${rate.toFixed(1)} G ${unit}/s`);
  printResult(`peak: ${peak.join(", ")}; median of ${ROUNDS} rounds`);
  for (const { name, rows } of results) printResult(`\n${name}\n\n${describeKernels(rows)}`);
}
