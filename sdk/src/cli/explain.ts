import { Command, InvalidArgumentError } from "commander";
import { errorStatus } from "../serve/contract/errors.ts";
import { editDistance } from "./edit-distance.ts";
import { explainedCodes, explanationOf } from "./explanations.ts";
import { printJson, printResult } from "./output.ts";
import type { Explanation } from "./reasons.ts";

export const explainCommand = new Command("explain")
  .description("say when an error occurs and how to fix it, why a tier answers, or what a figure of its decision means")
  .argument(
    "<code>",
    "error code, such as input_too_long, or x-bert-edge-reason of a response, such as edge-over-budget, or a figure of x-bert-edge-decision, such as region-wait",
    knownCode,
  )
  .option("--json", "print the explanation as JSON")
  .action((code: string, { json }: { json?: true }) => {
    const { when, fix }: Explanation = explanationOf(code) ?? { when: "" };
    const status = code in errorStatus ? errorStatus[code as keyof typeof errorStatus] : undefined;
    if (json) printJson({ code, when, ...(fix && { fix }), ...(status !== undefined && { status }) });
    else
      printResult(
        [`${code}${status === undefined ? "" : `, HTTP ${status}`}`, when, ...(fix ? [`Fix: ${fix}`] : [])].join("\n"),
      );
  });

/** Reads a code as it stands in a message: `Error input_too_long:`. */
function knownCode(value: string): string {
  const code = value
    .trim()
    .toLowerCase()
    .replace(/^error\s+|:.*$/gs, "");
  if (explanationOf(code)) return code;
  // A third of the letters may be wrong.
  const similar = explainedCodes.filter((known) => editDistance(code, known) <= known.length / 3);
  const hint = similar.length > 0 ? `Similar: ${similar.join(", ")}.` : "Error messages begin with their code.";
  throw new InvalidArgumentError(`It is no error code, no reason and no figure. ${hint}`);
}
