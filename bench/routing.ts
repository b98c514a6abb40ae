/**
 * Measures routing under load: edge in workerd, region in Node, requests from a process of their own:
 *
 *     npm run bench -- routing [--only <part,part …>] [--quick] [--seconds 3] [--rounds 3] [--seed 1]
 *         [--points <part of a name in matrix, quiet, fairness or memory,part …>] [--model models/default] [--against <commit or checkout>]
 *
 * Requests reach the Worker's own socket, without wrangler's proxy. Where `taskset` exists, each tier has CPU cores of its
 * own. Latency counts from the time at which a request was to be sent. Vectors of each tier are compared with those of
 * onnxruntime in float32. Each check prints what is asked and what was measured.
 */
import { command, namesIn, positive } from "./command.ts";
import { thisMachine } from "./machine.ts";
import { openContext } from "./routing/context.ts";
import { separateCores } from "./routing/cores.ts";
import { parts } from "./routing/parts.ts";
import { describeReport, type Report } from "./routing/report.ts";
import { writeTinyModel } from "./tiny-model.ts";

const usage = [
  "npm run bench -- routing [--only <part,part …>] [--quick] [--seconds 3] [--rounds 3] [--seed 1]",
  "       [--points <part of a name in matrix, quiet, fairness or memory,part …>] [--model <folder>] [--against <commit or checkout>]",
  ...Object.entries(parts).map(([name, { what }]) => `  ${name.padEnd(11)} ${what}`),
  "      ",
].join("\n");

/** Rows begin with the name of their part. */
const figuresOfPart = ([part, { figures }]: [string, Report]) =>
  figures.map((figure) => ({ ...figure, row: `${part}: ${figure.row}` }));

await command(
  {
    usage,
    options: {
      only: { type: "string" },
      quick: { type: "boolean", default: false },
      seconds: { type: "string" },
      rounds: { type: "string" },
      seed: { type: "string", default: "1" },
      points: { type: "string", default: "" },
      model: { type: "string" },
      against: { type: "string" },
    },
  },
  async ({ values: { short, quick, against, ...values }, folder, log }) => {
    const only = namesIn("only", values.only, Object.keys(parts));
    const model = values.model ?? (short ? await writeTinyModel(folder) : "models/default");
    const numbers = {
      seconds: positive("seconds", values.seconds ?? (short ? "0.3" : "3")),
      rounds: positive("rounds", values.rounds ?? (short || quick ? "1" : "3")),
      seed: positive("seed", values.seed),
    };
    const context = await openContext(
      { ...numbers, short, quick, model, against, points: values.points.split(",") },
      { stage: log.stage, figures: [] },
    );
    try {
      const reports: Record<string, Report> = {};
      for (const [name, part] of Object.entries(parts).filter(([name]) => only.includes(name))) {
        log.stage(name);
        reports[name] = await part.run(context);
      }
      const machine = { ...thisMachine(), separateCores };
      const shared = separateCores ? "" : ", which the tiers share";
      return {
        figures: [...context.figures, ...Object.entries(reports).flatMap(figuresOfPart)],
        text: [
          `${model} on ${machine.cores} × ${machine.cpu}${shared}, load ${machine.load[0]}\n`,
          ...Object.entries(reports).map(([name, report]) => describeReport(name, report)),
        ].join("\n"),
        details: { model, machine, parts: reports },
      };
    } finally {
      await context.close();
    }
  },
);
