/**
 * Compares the forms in which a region's CPU can run a model:
 *
 *     npm run bench -- region --model <checkpoint folder> [--sts <sts-test.csv>] [--rounds 15]
 *
 * Every form uses one thread. One process runs all forms on the same texts, in interleaved rounds; times are medians. The
 * vectors of every form are compared with those of float32, and with `--sts`, those of its sentences with those of the edge. Each
 * check prints what is asked and what was measured.
 */
import { table } from "#sdk/cli/output.ts";
import { parity } from "#sdk/compile/accuracy/parity.ts";
import { probeTexts } from "#sdk/compile/accuracy/probe-texts.ts";
import { readSts } from "#sdk/compile/accuracy/tasks/sts.ts";
import { timeSideBySide } from "#sdk/compile/latency/time-targets.ts";
import type { EngineSession } from "#sdk/runtime/engine/engine.ts";
import { describeChecks } from "./checks.ts";
import { command, positive, WrongUsage } from "./command.ts";
import { figuresOf } from "./figures.ts";
import { thisMachine } from "./machine.ts";
import { checksOf } from "./region/checks.ts";
import { openForms } from "./region/forms.ts";
import { outsideShare } from "./region/outside-share.ts";
import { writeTinyModel } from "./tiny-model.ts";

const TOKENS = [16, 64, 128, 256];

await command(
  {
    usage: "npm run bench -- region --model <checkpoint folder> [--sts <sts-test.csv>] [--rounds 15]",
    options: { model: { type: "string" }, sts: { type: "string" }, rounds: { type: "string" } },
  },
  async ({ values: { short, sts, ...values }, folder, log }) => {
    const rounds = positive("rounds", values.rounds ?? (short ? "1" : "15"));
    const checkpoint = values.model ?? (short ? await writeTinyModel(folder) : undefined);
    if (checkpoint === undefined) throw new WrongUsage("--model is missing.");
    log.stage("prepare");
    await using forms = await openForms(checkpoint, folder);
    const { model, sessions, names } = forms;
    const vocabulary = model.config.vocabularySize;
    const compute = (name: string, texts: readonly string[]) =>
      model.compute(sessions.get(name) as EngineSession, texts);
    log.stage("comparison with float32");
    const exact = await compute("float32", probeTexts);
    const cosines = new Map<string, number>();
    for (const name of names) cosines.set(name, parity(exact, await compute(name, probeTexts)).minCosine);
    log.stage("one text");
    const times = await timeSideBySide(sessions, { tokens: TOKENS, rounds, vocabulary });
    log.stage("64 texts of 128 tokens");
    const outside = await outsideShare({ file: forms.mixed, head: forms.head, vocabulary });

    const agreement = new Map<string, { meanCosine: number; minCosine: number }>();
    if (sts !== undefined) {
      const pairs = await readSts(sts);
      const texts = [...new Set(pairs.flatMap(({ first, second }) => [first, second]))];
      log.stage(`${texts.length} sentences on the edge`);
      const edge = await compute("edge", texts);
      for (const name of names.filter((name) => name !== "edge")) {
        log.stage(`${texts.length} sentences on ${name}`);
        agreement.set(name, parity(edge, await compute(name, texts)));
      }
    }
    const msOf = (name: string, tokens: number) =>
      times.get(name)?.find((point) => point.tokens === tokens)?.ms ?? Number.NaN;
    const checks = checksOf({ msOf, agreement, outside });
    const machine = thisMachine();
    const rows = names.map((name) => [
      name,
      ...TOKENS.map((tokens) => msOf(name, tokens).toFixed(2)),
      `${(msOf("float32", 128) / msOf(name, 128)).toFixed(2)}×`,
      agreement.get(name)?.meanCosine.toFixed(5) ?? "–",
      agreement.get(name)?.minCosine.toFixed(4) ?? "–",
    ]);
    const headings = ["form", ...TOKENS.map((tokens) => `${tokens} tokens`), "by float32", "agreement", "worst"];
    return {
      figures: [
        ...names.flatMap((name) =>
          figuresOf(name, {
            ...Object.fromEntries(TOKENS.map((tokens) => [`${tokens} tokens`, [msOf(name, tokens), "ms"] as const])),
            "cosine with float32": [cosines.get(name), "agreement"],
            "cosine with the edge": [agreement.get(name)?.meanCosine, "agreement"],
          }),
        ),
        ...figuresOf("outside of session.run", {
          "in graph": [outside.inGraph, "share"],
          "in JavaScript": [outside.inJavaScript, "share"],
        }),
      ],
      text: [
        `${checkpoint} on ${machine.cores} × ${machine.cpu}, load ${machine.load[0]}; times in ms`,
        table(headings, rows),
        describeChecks(checks),
      ].join("\n\n"),
      details: { model: checkpoint, machine, times: [...times], agreement: [...agreement], outside, checks },
    };
  },
);
