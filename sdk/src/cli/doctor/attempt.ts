import { BertEdgeError } from "../../artifact/error.ts";
import { type Finding, findingsOf } from "../finding.ts";

/**
 * Runs an examiner. What it throws becomes a finding, so that one fault does not hide the findings of the others.
 *
 * @param check name of the part that is examined, and where it is
 */
export async function attempt(
  check: string,
  where: string,
  examine: () => Finding | readonly Finding[] | Promise<Finding | readonly Finding[]>,
): Promise<Finding[]> {
  try {
    return [await examine()].flat();
  } catch (error) {
    const { broken } = findingsOf(check, where);
    if (error instanceof BertEdgeError) return [broken(error.message, error.hint ?? `bert-edge explain ${error.code}`)];
    const message = error instanceof Error ? error.message : String(error);
    return [
      broken(`It cannot be examined: ${message}`, "Correct what the message names. If it names nothing, report it."),
    ];
  }
}
