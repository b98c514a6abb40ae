/**
 * Times every kernel of the WebAssembly engine in the shapes of some encoders, for both builds:
 *
 *     npm run bench:kernels -- [--json]
 *
 * - Times are medians of one call, over interleaved rounds. Other programs slow calls of several milliseconds most.
 * - Operands stay in the caches. In a forward pass, weights do not.
 * - Rates are multiply–adds, or written numbers, per nanosecond.
 * - "of peak" is the share of the machine's peak rate of multiply–adds in the same round.
 * - "share" is the share of a forward pass's time.
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
