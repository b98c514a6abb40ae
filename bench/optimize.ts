/**
 * Compares `bert-edge optimize` with onnxruntime's Python optimizer on the same files:
 *
 *     npm run bench:optimize -- model.onnx [more.onnx …]
 *
 * In each round, every tool runs once in a new process. Seconds are the time of the whole process, as a median over the
 * rounds. Python's rows say "did not run" if `python3` has no onnxruntime.
 */
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { bertEdge, type Failure, isRun, median, python, type Run, runTool } from "./run-tool.ts";

const ROUNDS = 5;

function describe(name: string, outcomes: readonly (Run | Failure)[]): string {
  const done = outcomes.filter(isRun);
  const [first] = done;
  if (!first) return `${name.padEnd(24)} did not run`;
  const { nodes, fused } = first.report;
  const seconds = median(done.map((run) => run.seconds)).toFixed(2);
  const memory = median(done.map(({ peakRssMB }) => peakRssMB)).toFixed(0);
  const counts = Object.entries(fused).map(([operator, count]) => `${count} ${operator}`);
  return `${name.padEnd(24)} ${seconds} s  ${memory} MB  ${nodes.after ?? nodes} nodes  ${counts.join(", ") || "nothing fused"}`;
}

const models = process.argv.slice(2);
if (models.length === 0) {
  console.error("usage: npm run bench:optimize -- model.onnx [more.onnx …]");
  process.exit(2);
}
const folder = await mkdtemp(join(tmpdir(), "bert-edge-bench-"));
try {
  for (const model of models) {
    const columns: Record<string, (Run | Failure)[]> = {
      "without comparison": [],
      "with comparison": [],
      "onnxruntime (Python)": [],
    };
    for (let round = 0; round < ROUNDS; round++) {
      const out = join(folder, "out.onnx");
      const ours = bertEdge("optimize");
      columns["without comparison"]?.push(
        await runTool(ours, [model, out, "--allow-partial", "--no-parity", "--json"]),
      );
      columns["with comparison"]?.push(await runTool(ours, [model, out, "--allow-partial", "--json"]));
      columns["onnxruntime (Python)"]?.push(await runTool(python("optimize.py"), [model, out]));
    }
    console.log(`\n${basename(model)} (${((await stat(model)).size / 1e6).toFixed(1)} MB), median of ${ROUNDS}`);
    for (const [name, runs] of Object.entries(columns)) console.log(describe(name, runs));
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}
