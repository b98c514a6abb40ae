import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { expect, it } from "vitest";
import { unstable_getVarsForDev } from "wrangler";
import { temporaryFolder } from "#test/fixtures/temporary-folder.ts";
import { envFile } from "./stack.ts";

/** Reads a file as `wrangler dev --env-file` does. */
async function readByWrangler(text: string): Promise<Record<string, unknown>> {
  const file = join(await temporaryFolder(), "edge.env");
  await writeFile(file, text);
  const bindings = unstable_getVarsForDev(undefined, [file], {}, undefined, true);
  return Object.fromEntries(Object.entries(bindings).map(([name, { value }]) => [name, value]));
}

const devVars = String.raw`
PLAIN=local-key
DOLLAR=pa$PLAIN
BRACED="$${"{PLAIN:-none}"}"
BACKSLASH='a\$b\n'
ENDS_WITH_BACKSLASH='c:\'
HASH="a # b"
QUOTES=it's "so"
JSON={"a": "b"}
LINES="one\ntwo"
SPACES="  a "
EMPTY=
`;

it("writes variables that wrangler reads unchanged", async () => {
  const vars = parseEnv(devVars);
  expect(vars["DOLLAR"]).toBe("pa$PLAIN");
  expect(await readByWrangler(envFile(vars))).toEqual(vars);
});

it("is needed: wrangler itself replaces $NAME", async () => {
  expect(await readByWrangler(devVars)).toMatchObject({ DOLLAR: "palocal-key" });
});
