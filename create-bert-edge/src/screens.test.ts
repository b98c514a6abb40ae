import { describe, expect, it } from "vitest";
import { help, optionsNote } from "./help.ts";
import { nextSteps } from "./next-steps.ts";
import { type PackageManager, packageManagers } from "./package-manager.ts";
import * as questions from "./questions.ts";

const COLUMNS = 80;
/** The signs that the prompts print before a text, and before the label of a choice. */
const [BAR, CHOICE] = ["│  ", "│  ● "];

describe("no line is wider than a terminal of 80 columns", () => {
  const expectNarrow = (text: string) => {
    for (const line of text.split("\n")) expect(line.length, line).toBeLessThanOrEqual(COLUMNS);
  };

  it("of the help", () => expectNarrow(help));

  it("of the questions", () => {
    const { model, plan, region, packageManager } = questions;
    expectNarrow(`${BAR}${optionsNote}`);
    for (const { message, values } of [model, plan, region, packageManager]) {
      expectNarrow(`${BAR}${message}`);
      for (const [value, hint] of Object.entries(values)) expectNarrow(`${CHOICE}${value} (${hint})`);
    }
  });

  it.each(Object.keys(packageManagers) as PackageManager[])(
    "of the next steps, unless it is a command: %s",
    (manager) => {
      for (const model of questions.valuesOf(questions.model)) {
        for (const region of questions.valuesOf(questions.region)) {
          const choices = {
            folder: "my-api",
            name: "my-api",
            plan: "free",
            model,
            region,
            packageManager: manager,
          } as const;
          const lines = nextSteps(choices, { installed: false }).split("\n");
          expectNarrow(lines.filter((line) => !/^ {2}\S.* bert-edge prepare [^#]+$/.test(line)).join("\n"));
        }
      }
    },
  );
});
