import { BertEdgeError } from "#sdk/artifact/error.ts";

/** Runs a parser. Returns "accepted", or the code of its error. All other errors are thrown again. */
export async function outcome(parse: () => unknown): Promise<string> {
  try {
    await parse();
    return "accepted";
  } catch (error) {
    if (error instanceof BertEdgeError) return error.code;
    throw error;
  }
}
