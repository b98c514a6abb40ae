import { Command, InvalidArgumentError } from "commander";
import { errorStatus } from "../serve/contract/errors.ts";
import { editDistance } from "./edit-distance.ts";
import { explainedCodes, explanationOf } from "./explanations.ts";
import { printJson, printResult } from "./output.ts";

export const explainCommand = new Command("explain")
  .description("say when an error occurs and how to fix it, or why a tier answers")
  .argument(
    "<code>",
    "error code, such as input_too_long, or x-bert-edge-reason of a response, such as edge-over-budget",
    knownCode,
  )
  .option("--json", "print the explanation as JSON")
  .action((code: string, { json }: { json?: true }) => {
    const { when, fix } = explanationOf(code) ?? { when: "", fix: "" };
    const status = code in errorStatus ? errorStatus[code as keyof typeof errorStatus] : undefined;
    if (json) printJson({ code, when, fix, ...(status !== undefined && { status }) });
    else printResult([`${code}${status === undefined ? "" : `, HTTP ${status}`}`, when, `Fix: ${fix}`].join("\n"));
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
  throw new InvalidArgumentError(`It is neither an error code nor a reason. ${hint}`);
}
