import { answer } from "../isolate/in-child.ts";
import { modelParity } from "./model-parity.ts";

/** Compares the two models named on the command line. */
const [, , original = "", rewritten = ""] = process.argv;
await answer(modelParity(original, rewritten));
