/**
 * `bert-edge optimize` beside onnxruntime's Python optimizer, whole processes, interleaved, on the same files:
 *
 *     npm run bench:optimize -- model.onnx [more.onnx …]
 *
 * Seconds are medians. Python's columns stay empty where `python3` has no onnxruntime.
 */
import { spawn } from "node:child_process";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { text } from "node:stream/consumers";

const ROUNDS = 5;

interface Run {
  readonly seconds: number;
  readonly peakRssMB: number;
  readonly nodes: number;
  readonly fused: Readonly<Record<string, number>>;
}

const ours = [process.execPath, join(import.meta.dirname, "../sdk/bin/bert-edge.js"), "optimize"];
const python = ["python3", join(import.meta.dirname, "optimize.py")];

/** Undefined when the command does not exist or fails. */
async function run(command: readonly string[], args: readonly string[]): Promise<Run | undefined> {
  const [program = "", ...first] = command;
  const start = performance.now();
  const child = spawn(program, [...first, ...args], { stdio: ["ignore", "pipe", "ignore"] });
  const code = new Promise<number | null>((resolve) => {
    child.once("error", () => resolve(null));
    child.once("close", resolve);
  });
  const [stdout, status] = await Promise.all([text(child.stdout), code]);
  if (status !== 0) return undefined;
  const { nodes, fused, peakRssMB } = JSON.parse(stdout.slice(stdout.indexOf("{")));
  return { seconds: (performance.now() - start) / 1000, peakRssMB, nodes: nodes.after ?? nodes, fused };
}

const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;

function describe(name: string, runs: readonly (Run | undefined)[]): string {
  const done = runs.filter((each) => each !== undefined);
  const [first] = done;
  if (!first) return `${name.padEnd(24)} did not run`;
  const seconds = median(done.map((each) => each.seconds)).toFixed(2);
  const memory = median(done.map(({ peakRssMB }) => peakRssMB)).toFixed(0);
  const fused = Object.entries(first.fused).map(([operator, count]) => `${count} ${operator}`);
  return `${name.padEnd(24)} ${seconds} s  ${memory} MB  ${first.nodes} nodes  ${fused.join(", ") || "nothing fused"}`;
}

const models = process.argv.slice(2);
if (models.length === 0) {
  console.error("usage: npm run bench:optimize -- model.onnx [more.onnx …]");
  process.exit(2);
}
const folder = await mkdtemp(join(tmpdir(), "bert-edge-bench-"));
try {
  for (const model of models) {
    const columns: Record<string, (Run | undefined)[]> = {
      "without comparison": [],
      "with comparison": [],
      "onnxruntime (Python)": [],
    };
    for (let round = 0; round < ROUNDS; round++) {
      const out = join(folder, "out.onnx");
      columns["without comparison"]?.push(await run(ours, [model, out, "--allow-partial", "--no-parity", "--json"]));
      columns["with comparison"]?.push(await run(ours, [model, out, "--allow-partial", "--json"]));
      columns["onnxruntime (Python)"]?.push(await run(python, [model, out]));
    }
    console.log(`\n${basename(model)} (${((await stat(model)).size / 1e6).toFixed(1)} MB), median of ${ROUNDS}`);
    for (const [name, runs] of Object.entries(columns)) console.log(describe(name, runs));
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}
