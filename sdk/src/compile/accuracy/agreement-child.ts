import { readFile } from "node:fs/promises";
import { answer } from "../isolate/in-child.ts";
import { modelAgreement } from "./model-agreement.ts";

/** Compares the two models named on the command line, on the token ids in a JSON file if one is named too. */
const [, , original = "", rewritten = "", sequences] = process.argv;
const ids = sequences === undefined ? undefined : (JSON.parse(await readFile(sequences, "utf8")) as number[][]);
await answer(
  modelAgreement(
    original,
    rewritten,
    ids?.map((row) => Int32Array.from(row)),
  ),
);
