/**
 * Measures a region's engine with models of random weights, alone and through HTTP:
 *
 *     npm run bench -- gpu [--rounds 15] [--seconds 5] [--json]
 *
 * With a CUDA GPU it runs BERT-base, BERT-large and a small model in half precision, beside PyTorch's compiler if python3 has it.
 * Without one, it runs the small model on the CPU and says so. Times are medians. Each check prints what is asked and what was
 * measured.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { preparedArtifact } from "#sdk/cli/dev/prepared.ts";
import { printError, printJson, printNote, printResult, table } from "#sdk/cli/output.ts";
import { stageLog } from "#sdk/cli/stage-log.ts";
import { type Check, describeChecks } from "./checks.ts";
import { type EngineFigures, engineFigures } from "./gpu/engine-figures.ts";
import { type HttpFigures, httpFigures } from "./gpu/http-figures.ts";
import { availableProvider } from "./gpu/provider.ts";
import { type TorchFigures, torchFigures } from "./gpu/torch-figures.ts";
import { writeRandomBert } from "./random-checkpoint.ts";

/** A model, and what is asked of it on a GPU. */
interface Case {
  readonly name: string;
  readonly layers: number;
  readonly width: number;
  readonly asked?: { readonly oneMs?: number; readonly batchPerSecond?: number };
  /** Whether it is measured through HTTP too. */
  readonly http?: boolean;
}

const small: Case = { name: "3 layers of 384", layers: 3, width: 384, http: true };
const onGpu: readonly Case[] = [
  { ...small, http: false },
  { name: "BERT-base", layers: 12, width: 768, asked: { oneMs: 1.5, batchPerSecond: 10_000 }, http: true },
  { name: "BERT-large", layers: 24, width: 1024, asked: { oneMs: 3 } },
];
/** Asked of texts per second through HTTP, by the texts of a request. */
const askedThroughHttp: Readonly<Record<number, number>> = { 1: 3_000, 16: 8_000 };
const MAX_OUTSIDE = 0.03;

interface Measured extends EngineFigures {
  readonly case: Case;
  readonly http: readonly HttpFigures[];
  readonly torch: TorchFigures | undefined;
}

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "15" },
    seconds: { type: "string", default: "5" },
    json: { type: "boolean" },
  },
});
const [rounds, seconds] = [Number(values.rounds), Number(values.seconds)];
if (!(rounds > 0 && seconds > 0)) {
  printNote("usage: npm run bench -- gpu [--rounds n] [--seconds n] [--json]");
  process.exit(2);
}

const log = stageLog();
const folder = await mkdtemp(join(tmpdir(), "bert-edge-gpu-"));
try {
  const { provider, why } = await availableProvider(folder);
  const target = provider === "cpu" ? "regional-cpu" : "regional-gpu";
  const skipped =
    provider === "cpu" ? [`CUDA: ${why}. The small model runs on the CPU, and nothing of a GPU is shown.`] : [];
  const measured: Measured[] = [];
  for (const one of provider === "cpu" ? [small] : onGpu) {
    log.stage(`${one.name}: random weights`);
    const model = await writeRandomBert(folder, one);
    const artifact = await preparedArtifact({
      ...{ root: process.cwd(), folder: model, targets: [target] },
      onProgress: ({ message }) => log.stage(`${one.name}: ${message}`),
    });
    await rm(model, { recursive: true });
    log.stage(`${one.name}: engine`);
    const engine = await engineFigures(artifact, { provider, target, rounds });
    const http: HttpFigures[] = [];
    if (one.http) {
      log.stage(`${one.name}: through HTTP`);
      http.push(...(await httpFigures(artifact, { provider, seconds, folder })));
    }
    log.stage(`${one.name}: PyTorch`);
    const torch = provider === "cpu" ? undefined : await torchFigures(one);
    if (typeof torch === "string") skipped.push(`PyTorch: ${torch}.`);
    measured.push({ case: one, ...engine, http, torch: typeof torch === "string" ? undefined : torch });
  }
  log.done();
  const checks = measured.flatMap(checksOf);
  if (values.json) printJson({ provider, skipped, measured, checks });
  else {
    for (const line of skipped) printNote(`skipped: ${line}`);
    printResult(described(measured, provider));
    printResult(`\n${describeChecks(checks)}`);
  }
} catch (error) {
  printError(error);
  process.exitCode = 1;
} finally {
  await rm(folder, { recursive: true, force: true });
}

function checksOf({ case: { name, asked = {} }, oneMs, batchMs, outside, http }: Measured): Check[] {
  const check = (what: string, limit: string, value: number, digits: number, holds: boolean): Check => ({
    ...{ what: `${name}: ${what}`, asked: limit, measured: value.toFixed(digits), holds },
  });
  const perSecond = 64_000 / batchMs;
  const { oneMs: mostMs, batchPerSecond } = asked;
  return [
    check("64 × 128 tokens, time outside of session.run", `≤ ${MAX_OUTSIDE}`, outside, 4, outside <= MAX_OUTSIDE),
    ...(mostMs ? [check("one text of 128 tokens, ms", `≤ ${mostMs}`, oneMs, 2, oneMs <= mostMs)] : []),
    ...(batchPerSecond
      ? [check("64 × 128 tokens, texts/s", `≥ ${batchPerSecond}`, perSecond, 0, perSecond >= batchPerSecond)]
      : []),
    ...(batchPerSecond === undefined ? [] : http).map(({ texts, perSecond }) => {
      const least = askedThroughHttp[texts] as number;
      return check(`HTTP, 64 clients, ${texts} a request, texts/s`, `≥ ${least}`, perSecond, 0, perSecond >= least);
    }),
  ];
}

function described(measured: readonly Measured[], provider: string): string {
  const engine = table(
    [
      "model",
      "1 × 128 ms",
      "64 × 128 ms",
      "texts/s",
      "outside session.run",
      "PyTorch 1 × 128 ms",
      "PyTorch 64 × 128 ms",
    ],
    measured.map(({ case: { name }, oneMs, batchMs, outside, torch }) => [
      ...[name, oneMs.toFixed(2), batchMs.toFixed(1), (64_000 / batchMs).toFixed(0), `${(100 * outside).toFixed(2)} %`],
      ...[torch?.oneMs.toFixed(2) ?? "–", torch?.batchMs.toFixed(1) ?? "–"],
    ]),
  );
  const http = table(
    ["model, 64 clients", "texts a request", "texts/s", "p50 ms", "p99 ms", "engine", "tokenizer", "HTTP and the rest"],
    measured.flatMap(({ case: { name }, http }) =>
      http.map(({ texts, perSecond, p50, p99, shares }) => [
        ...[name, `${texts}`, perSecond.toFixed(0), p50.toFixed(1), p99.toFixed(1)],
        ...[shares.engine, shares.tokenizer, shares.rest].map((share) => `${(100 * share).toFixed(0)} %`),
      ]),
    ),
  );
  return `provider ${provider}\n\n${engine}\n\n${http}`;
}
