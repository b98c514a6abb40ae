import { Command, InvalidArgumentError } from "commander";
import { errorCodes } from "../artifact/error-codes.ts";
import { errorStatus } from "../serve/contract/errors.ts";
import { printJson, printResult } from "./output.ts";

type Code = keyof typeof errorCodes;

export const explainCommand = new Command("explain")
  .description("say when an error occurs, and how to fix it")
  .argument("<code>", "error code, such as input_too_long", knownCode)
  .option("--json", "print the explanation as JSON")
  .action((code: Code, { json }: { json?: true }) => {
    const { when, fix } = errorCodes[code];
    const status = code in errorStatus ? errorStatus[code as keyof typeof errorStatus] : undefined;
    if (json) printJson({ code, when, fix, ...(status !== undefined && { status }) });
    else printResult([`${code}${status === undefined ? "" : `, HTTP ${status}`}`, when, `Fix: ${fix}`].join("\n"));
  });

function knownCode(value: string): Code {
  if (Object.hasOwn(errorCodes, value)) return value as Code;
  const words = value.split("_");
  const similar = Object.keys(errorCodes).filter((code) => words.some((word) => code.split("_").includes(word)));
  const hint = similar.length > 0 ? `Similar codes: ${similar.join(", ")}.` : "Error messages begin with their code.";
  throw new InvalidArgumentError(`${value} is not an error code. ${hint}`);
}
