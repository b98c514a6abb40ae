import { Command, InvalidArgumentError } from "commander";
import { similarNames } from "../artifact/similar-names.ts";
import { errorStatus } from "../serve/contract/errors.ts";
import { DECISION_HEADER } from "../serve/contract/headers.ts";
import { explainDecision, parseDecision } from "./explain-decision.ts";
import { type Explanation, explainedCodes, explanationOf } from "./explanations.ts";
import { printJson, printResult } from "./output.ts";

export const explainCommand = new Command("explain")
  .description(
    "say when an error occurs and how to fix it, why a tier answers, and what was decided from which figures",
  )
  .argument(
    "<code>",
    "error code, such as input_too_long, or x-bert-edge-reason of a response, such as edge-over-budget, or its whole x-bert-edge-decision in quotes, or a figure of it, such as region-wait",
    knownCode,
  )
  .option("--json", "print the explanation as JSON")
  .action((code: string, { json }: { json?: true }) => {
    const decision = parseDecision(code);
    if (decision) {
      const sentence = explainDecision(decision);
      return json ? printJson({ decision, sentence }) : printResult(sentence);
    }
    const { when, fix }: Explanation = explanationOf(code) ?? { when: "" };
    const status = code in errorStatus ? errorStatus[code as keyof typeof errorStatus] : undefined;
    if (json) printJson({ code, when, ...(fix && { fix }), ...(status !== undefined && { status }) });
    else
      printResult(
        [`${code}${status === undefined ? "" : `, HTTP ${status}`}`, when, ...(fix ? [`Fix: ${fix}`] : [])].join("\n"),
      );
  });

/** Form of the ids that deployments give to requests. */
const NAME_OF_REQUEST = /^[0-9a-f-]{16,}$/;

/** Reads a code as it stands in a message: `Error input_too_long:`. */
function knownCode(value: string): string {
  if (parseDecision(value)) return value;
  const code = value
    .trim()
    .toLowerCase()
    .replace(/^error\s+|:.*$/gs, "");
  if (explanationOf(code)) return code;
  const similar = similarNames(code, explainedCodes);
  const hint =
    similar.length > 0
      ? `Similar: ${similar.join(", ")}.`
      : NAME_OF_REQUEST.test(code) || code === DECISION_HEADER
        ? "For one request: give the header x-bert-edge-decision of its response, or `decision` of its line in the log, in quotes."
        : "Error messages begin with their code.";
  throw new InvalidArgumentError(`It is no error code, no reason and no figure. ${hint}`);
}
