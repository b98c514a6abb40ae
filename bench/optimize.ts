/**
 * Compares `bert-edge optimize` with onnxruntime's Python optimizer on the same files:
 *
 *     npm run bench:optimize -- model.onnx [more.onnx …]
 *
 * In each round, every tool runs once in a new process. Seconds are the time of the whole process, as a median over the
 * rounds. Python's rows say "did not run" if `python3` has no onnxruntime.
 */
import { stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { command, WrongUsage } from "./command.ts";
import { type Figure, figuresOf } from "./figures.ts";
import { stage } from "./quantize/stage.ts";
import { bertEdge, type Failure, isRun, median, python, type Run, runTool } from "./run-tool.ts";
import { writeTinyModel } from "./tiny-model.ts";

const ROUNDS = 5;
const PYTHON = "onnxruntime (Python)";

interface Row {
  readonly name: string;
  /** Figures, nodes and fused operators; a failure if the tool did not run. */
  readonly outcome: Failure | { seconds: number; peakRssMB: number; cosine?: number; nodes: number; fused: object };
}

function rowOf(name: string, outcomes: readonly (Run | Failure)[]): Row {
  const failure = outcomes.find((outcome): outcome is Failure => !isRun(outcome));
  if (failure) return { name, outcome: failure };
  const runs = outcomes.filter(isRun);
  const { nodes, fused, parity } = runs[0]?.report ?? {};
  const of = (figure: "seconds" | "peakRssMB") => median(runs.map((run) => run[figure]));
  return {
    name,
    outcome: {
      ...{ seconds: of("seconds"), peakRssMB: of("peakRssMB"), cosine: parity?.cosine },
      ...{ nodes: nodes.after ?? nodes, fused },
    },
  };
}

function described({ name, outcome }: Row): string {
  if ("failure" in outcome) return `${name.padEnd(24)} did not run: ${outcome.failure}`;
  const { seconds, peakRssMB, nodes, fused } = outcome;
  const counts = Object.entries(fused).map(([operator, count]) => `${count} ${operator}`);
  return `${name.padEnd(24)} ${seconds.toFixed(2)} s  ${peakRssMB.toFixed(0)} MB  ${nodes} nodes  ${counts.join(", ") || "nothing fused"}`;
}

/** Our tool must run; Python's need not be installed. */
const figuresOfRow = ({ name, outcome }: Row): Figure[] =>
  "failure" in outcome
    ? figuresOf(name, { failures: [name === PYTHON ? 0 : 1, "differences"] })
    : figuresOf(name, {
        time: [outcome.seconds, "s"],
        memory: [outcome.peakRssMB, "MB"],
        nodes: [outcome.nodes, "count"],
        "cosine with the original": [outcome.cosine, "agreement"],
      });

await command(
  { usage: "npm run bench:optimize -- model.onnx [more.onnx …]", options: {}, allowPositionals: true },
  async ({ values: { short }, positionals, folder, log }) => {
    const rounds = short ? 1 : ROUNDS;
    const models =
      short && positionals.length === 0 ? [await stage(await writeTinyModel(folder), folder)] : positionals;
    if (models.length === 0) throw new WrongUsage("Give a file to optimize.");
    const results: { title: string; rows: Row[] }[] = [];
    for (const model of models) {
      const out = join(folder, "out.onnx");
      const ours = (...options: string[]) =>
        runTool(bertEdge("optimize"), [model, out, "--allow-partial", "--json", ...options]);
      const tools: Record<string, () => Promise<Run | Failure>> = {
        "without comparison": () => ours("--no-parity"),
        "with comparison": () => ours(),
        [PYTHON]: () => runTool(python("optimize.py"), [model, out]),
      };
      const outcomes = new Map(Object.keys(tools).map((name) => [name, [] as (Run | Failure)[]]));
      for (let round = 1; round <= rounds; round++) {
        log.stage(`${basename(model)}, round ${round} of ${rounds}`);
        for (const [name, run] of Object.entries(tools)) outcomes.get(name)?.push(await run());
      }
      const title = `${basename(model)} (${((await stat(model)).size / 1e6).toFixed(1)} MB), median of ${rounds}`;
      results.push({ title, rows: [...outcomes].map(([name, all]) => rowOf(name, all)) });
    }
    return {
      figures: results.flatMap(({ rows }) => rows.flatMap(figuresOfRow)),
      text: results.map(({ title, rows }) => [title, ...rows.map(described)].join("\n")).join("\n\n"),
      details: { rounds, models: results },
    };
  },
);
