import { expect, it } from "vitest";
import { errorLog } from "../../fixtures/error-log.ts";
import { judgedInputs, parts } from "./index.ts";

errorLog();

/** Inputs of each part. `npm run fuzz -- --wrong <part>` gives more. */
const RUNS = 80;
/** Minimum share of refused inputs. Some spellings are understood. */
const MIN_REFUSED = 0.5;

it.each(Object.entries(parts))("wrong %s are refused by name, and cured by their hints", async (_, part) => {
  let refused = 0;
  for await (const { input, judged } of judgedInputs(part, { runs: RUNS, seed: 0 })) {
    expect({ input: input.shown, ...judged }).not.toHaveProperty("fault");
    if (judged.refusals.length > 0) refused++;
  }
  expect(refused).toBeGreaterThan(MIN_REFUSED * RUNS);
});
