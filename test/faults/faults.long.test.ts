import { describe, expect, it } from "vitest";
import { errorLog } from "../fixtures/error-log.ts";
import { randomNumbers } from "../fixtures/seeded.ts";
import { faults } from "./faults.ts";
import { attempt, emptyTally, markdown } from "./tally.ts";

const TIMEOUT_MS = 60_000;

describe("after each fault everything works again, and no reader gets a mix or a wrong vector", () => {
  // Edges and regions log what fails.
  errorLog();

  it.each(faults.map((fault) => [fault.name, fault] as const))("%s", { timeout: TIMEOUT_MS }, async (_, fault) => {
    const times = fault.times.short;
    const tally = await attempt(fault, { times, seed: 1, random: randomNumbers });
    expect(tally).toMatchObject({ attempts: times, recovered: times, wrong: [], lost: [] });
  });
});

it("the table has a row for each fault", () => {
  const rows = markdown([
    { ...emptyTally("publisher killed"), attempts: 2, old: 1, errors: new Map([["artifact_corrupt", 1]]) },
  ]);
  expect(rows).toBe(
    [
      "| fault            | attempts | old model | new model | error                | recovered | wrong | lost |",
      "| ---------------- | -------- | --------- | --------- | -------------------- | --------- | ----- | ---- |",
      "| publisher killed | 2        | 1         | 0         | `artifact_corrupt` 1 | 0         | 0     | 0    |",
    ].join("\n"),
  );
});
