import { judgedInputs } from "./index.ts";
import type { WrongInputs } from "./wrong-input.ts";

/** Prints wrong inputs of a part with what a user gets for each. Returns the number of answers that are no good. */
export async function printWrongInputs(part: WrongInputs, how: { runs: number; seed: number }): Promise<number> {
  const count = { given: 0, taken: 0, refused: 0, faults: 0 };
  let number = how.seed;
  for await (const { input, judged } of judgedInputs(part, how)) {
    const [first] = judged.refusals;
    const { status = "taken", code = "", message = "", hint } = first ?? {};
    console.log(`${number++}  ${input.shown}`);
    console.log(`    ${[status, code].join(" ").trim()}${message && `: ${message}`}`);
    if (hint !== undefined) console.log(`    hint: ${hint}`);
    for (const { message, hint = "" } of judged.fault ? judged.refusals.slice(1, 3) : []) {
      console.log(`    then: ${message} ${hint}`);
    }
    if (judged.fault) console.log(`    FAULT: ${judged.fault}`);
    count.given++;
    if (judged.fault) count.faults++;
    if (first) count.refused++;
    else count.taken++;
  }
  console.log(JSON.stringify(count));
  return count.faults;
}
