import { existsSync } from "node:fs";
import { expect, it } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { exceptions, runOtherwise, shortForms } from "./short-forms.ts";

const { scripts } = manifest;
const commands = [...shortForms.map(({ script }) => script), ...Object.keys(exceptions), ...Object.keys(runOtherwise)];
const named = new Set(commands.map((command) => command.split(" ")[0]));

it("each npm script has a short form, is run otherwise, or is an exception with a reason", () => {
  expect(Object.keys(scripts).filter((script) => !named.has(script))).toEqual([]);
  expect([...named].filter((script) => !((script as string) in scripts))).toEqual([]);
});

it("scripts that are run otherwise are run by a script or a test that exists", () => {
  const missing = Object.values(runOtherwise).filter((how) => {
    const [, script] = /^npm run (\S+)$/.exec(how) ?? [];
    return script === undefined ? how.endsWith(".ts") && !existsSync(how) : !(script in scripts);
  });
  expect(missing).toEqual([]);
});
