/**
 * Compares the forms in which a region's CPU can run a model:
 *
 *     npm run bench -- region --model <checkpoint folder> [--sts <sts-test.csv>] [--rounds 15] [--json]
 *
 * Every form uses one thread. One process runs all forms on the same texts, in interleaved rounds; times are medians. With
 * `--sts`, the vectors of the sentences are compared with those of the edge. Each check prints what is asked and what was
 * measured.
 */
import { cpus, loadavg } from "node:os";
import { parseArgs } from "node:util";
import { printJson, printNote, printResult, table } from "#sdk/cli/output.ts";
import { stageLog } from "#sdk/cli/stage-log.ts";
import { parity } from "#sdk/compile/accuracy/parity.ts";
import { readSts } from "#sdk/compile/accuracy/tasks/read-sts.ts";
import { timeSideBySide } from "#sdk/compile/latency/time-side-by-side.ts";
import { describeChecks } from "./checks.ts";
import { checksOf } from "./region/checks.ts";
import { openForms } from "./region/forms.ts";
import { outsideShare } from "./region/outside-share.ts";

const TOKENS = [16, 64, 128, 256];

const { values } = parseArgs({
  options: {
    model: { type: "string" },
    sts: { type: "string" },
    rounds: { type: "string", default: "15" },
    json: { type: "boolean" },
  },
});
const { model: folder, sts, json } = values;
const rounds = Number(values.rounds);
if (folder === undefined || !(rounds > 0)) {
  printNote("usage: npm run bench -- region --model <checkpoint folder> [--sts <sts-test.csv>] [--rounds n] [--json]");
  process.exit(2);
}
const log = stageLog();
log.stage("prepare");
await using forms = await openForms(folder);
const { model, sessions, names } = forms;
log.stage("one text");
const times = await timeSideBySide(sessions, { tokens: TOKENS, rounds, vocabulary: model.config.vocabularySize });
log.stage("64 texts of 128 tokens");
const outside = await outsideShare({ file: forms.mixed, head: forms.head, vocabulary: model.config.vocabularySize });

const agreement = new Map<string, { meanCosine: number; minCosine: number }>();
if (sts !== undefined) {
  const pairs = await readSts(sts);
  const texts = [...new Set(pairs.flatMap(({ first, second }) => [first, second]))];
  log.stage(`${texts.length} sentences on the edge`);
  const compute = (name: string) =>
    model.compute(sessions.get(name) as NonNullable<ReturnType<typeof sessions.get>>, texts);
  const edge = await compute("edge");
  for (const name of names.filter((name) => name !== "edge")) {
    log.stage(`${texts.length} sentences on ${name}`);
    agreement.set(name, parity(edge, await compute(name)));
  }
}
log.done();
const msOf = (name: string, tokens: number) =>
  times.get(name)?.find((point) => point.tokens === tokens)?.ms ?? Number.NaN;
const checks = checksOf({ msOf, agreement, outside });
const machine = { cpu: cpus()[0]?.model, cores: cpus().length, load: loadavg() };
if (json) printJson({ model: folder, machine, times: [...times], agreement: [...agreement], outside, checks });
else {
  const rows = names.map((name) => [
    name,
    ...TOKENS.map((tokens) => msOf(name, tokens).toFixed(2)),
    `${(msOf("float32", 128) / msOf(name, 128)).toFixed(2)}×`,
    agreement.get(name)?.meanCosine.toFixed(5) ?? "–",
    agreement.get(name)?.minCosine.toFixed(4) ?? "–",
  ]);
  const headings = ["form", ...TOKENS.map((tokens) => `${tokens} tokens`), "by float32", "agreement", "worst"];
  printResult(`${folder} on ${machine.cores} × ${machine.cpu}, load ${machine.load[0]}; times in ms\n`);
  printResult(table(headings, rows));
  printResult(`\n${describeChecks(checks)}`);
}
