import { BertEdgeError } from "#sdk/artifact/error.ts";
import type { ErrorCode } from "#sdk/artifact/error-codes.ts";

/** Runs a parser. Returns "accepted", or the code of its error. All other errors are thrown again. */
export async function outcome(parse: () => unknown): Promise<string> {
  try {
    await parse();
    return "accepted";
  } catch (error) {
    return refusalCode(error);
  }
}

/**
 * Returns the code of a BertEdgeError.
 *
 * @throws the error if it is another one, or the cause if it is a crash of the package's own code
 */
export function refusalCode(error: unknown): ErrorCode {
  if (!(error instanceof BertEdgeError)) throw error;
  for (let { cause } = error as Error; cause instanceof Error; { cause } = cause) if (isCrash(cause)) throw cause;
  return error.code;
}

/** Where the first line of a stack is in the package's own code. What the runtime's functions throw is thrown there. */
const OWN_CODE = /^\s*at .*\/sdk\/src\//;

/** Whether a line of the package failed like a program that does not check its input. */
const isCrash = (error: Error): boolean =>
  (error instanceof TypeError || error instanceof RangeError || error instanceof ReferenceError) &&
  OWN_CODE.test(error.stack?.split("\n").find((line) => /^\s*at /.test(line)) ?? "");
