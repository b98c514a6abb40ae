import { Command, InvalidArgumentError } from "commander";
import { errorCodes } from "../artifact/error-codes.ts";
import { errorStatus } from "../serve/contract/errors.ts";
import { printJson, printResult } from "./output.ts";
import { reasons } from "./reasons.ts";

/** Between the words of a code, and of a reason. */
const SEPARATOR = /[_-]/;

/** Error codes, and the reasons for which a tier answers. They have no name in common. */
const explanations = { ...errorCodes, ...reasons };
type Code = keyof typeof explanations;

export const explainCommand = new Command("explain")
  .description("say when an error occurs and how to fix it, or why a tier answers")
  .argument(
    "<code>",
    "error code, such as input_too_long, or x-bert-edge-reason of a response, such as edge-over-budget",
    knownCode,
  )
  .option("--json", "print the explanation as JSON")
  .action((code: Code, { json }: { json?: true }) => {
    const { when, fix } = explanations[code];
    const status = code in errorStatus ? errorStatus[code as keyof typeof errorStatus] : undefined;
    if (json) printJson({ code, when, fix, ...(status !== undefined && { status }) });
    else printResult([`${code}${status === undefined ? "" : `, HTTP ${status}`}`, when, `Fix: ${fix}`].join("\n"));
  });

function knownCode(value: string): Code {
  if (Object.hasOwn(explanations, value)) return value as Code;
  const words = value.split(SEPARATOR);
  const similar = Object.keys(explanations).filter((code) =>
    words.some((word) => code.split(SEPARATOR).includes(word)),
  );
  const hint = similar.length > 0 ? `Similar codes: ${similar.join(", ")}.` : "Error messages begin with their code.";
  throw new InvalidArgumentError(`${value} is neither an error code nor a reason. ${hint}`);
}
