/**
 * Measures a region's engine with models of random weights, alone and through HTTP:
 *
 *     npm run bench -- gpu [--rounds 15] [--seconds 5]
 *
 * With a CUDA GPU it runs BERT-base, BERT-large and a small model in half precision, beside PyTorch's compiler if python3 has it.
 * Without one, it runs the small model on the CPU and says so. Times are medians. Vectors are compared with those of
 * onnxruntime's CPU in float32. Each check prints what is asked and what was measured.
 */
import { rm } from "node:fs/promises";
import { preparedArtifact } from "#sdk/cli/dev/prepared.ts";
import { table } from "#sdk/cli/output.ts";
import { type Check, describeChecks } from "./checks.ts";
import { command, positive } from "./command.ts";
import { type Figure, figuresOf } from "./figures.ts";
import { float32Vectors } from "./float32-vectors.ts";
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

const tiny: Case = { name: "1 layer of 64", layers: 1, width: 64, http: true };
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

const figuresOfModel = ({ case: { name }, oneMs, batchMs, outside, minCosine, http, torch }: Measured): Figure[] => [
  ...figuresOf(name, {
    "1 × 128 tokens": [oneMs, "ms"],
    "64 × 128 tokens": [batchMs, "ms"],
    "outside of session.run": [outside, "share"],
    "cosine with float32": [minCosine, "agreement"],
    "PyTorch, 1 × 128 tokens": [torch?.oneMs, "ms"],
    "PyTorch, 64 × 128 tokens": [torch?.batchMs, "ms"],
  }),
  ...http.flatMap(({ texts, perSecond, p50, p99, shares }) =>
    figuresOf(`${name}, HTTP, ${texts} a request`, {
      texts: [perSecond, "per second"],
      p50: [p50, "ms"],
      p99: [p99, "ms"],
      engine: [shares.engine, "share"],
      tokenizer: [shares.tokenizer, "share"],
    }),
  ),
];

await command(
  {
    usage: "npm run bench -- gpu [--rounds 15] [--seconds 5]",
    options: { rounds: { type: "string" }, seconds: { type: "string" } },
  },
  async ({ values: { short, ...values }, folder, log }) => {
    const rounds = positive("rounds", values.rounds ?? (short ? "1" : "15"));
    const seconds = positive("seconds", values.seconds ?? (short ? "1" : "5"));
    const { provider, why } = await availableProvider(folder);
    const target = provider === "cpu" ? "regional-cpu" : "regional-gpu";
    const skipped =
      provider === "cpu" ? [`CUDA: ${why}. A small model runs on the CPU, and nothing of a GPU is shown.`] : [];
    const measured: Measured[] = [];
    const cases = provider === "cpu" ? [small] : onGpu;
    for (const one of short ? [tiny] : cases) {
      log.stage(`${one.name}: random weights`);
      const model = await writeRandomBert(folder, one, "gpu");
      const artifact = await preparedArtifact({
        ...{ root: process.cwd(), folder: model, targets: [target] },
        onProgress: ({ message }) => log.stage(`${one.name}: ${message}`),
      });
      log.stage(`${one.name}: engine`);
      const engine = await engineFigures(artifact, { provider, target, rounds, expected: await float32Vectors(model) });
      await rm(model, { recursive: true });
      const http: HttpFigures[] = [];
      if (one.http) {
        log.stage(`${one.name}: through HTTP`);
        http.push(...(await httpFigures(artifact, { provider, seconds, folder, short })));
      }
      log.stage(`${one.name}: PyTorch`);
      const torch = provider === "cpu" ? undefined : await torchFigures(one);
      if (typeof torch === "string") skipped.push(`PyTorch: ${torch}.`);
      measured.push({ case: one, ...engine, http, torch: typeof torch === "string" ? undefined : torch });
    }
    const checks = measured.flatMap(checksOf);
    return {
      figures: measured.flatMap(figuresOfModel),
      text: [...skipped.map((line) => `skipped: ${line}`), described(measured, provider), describeChecks(checks)].join(
        "\n\n",
      ),
      details: { provider, skipped, measured, checks },
    };
  },
);

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
