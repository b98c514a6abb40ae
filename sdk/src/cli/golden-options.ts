import { Option } from "commander";
import { share } from "./options.ts";

/** Makes the option for the user's own proof. */
export const goldenOption = (): Option =>
  new Option(
    "--golden <file>",
    "JSONL file of texts with the vectors, scores or labels that your present system gives; other answers are refused",
  );

/** @param fallback what applies without the option */
export const goldenMinOption = (fallback: string): Option =>
  new Option(
    "--golden-min <number>",
    `minimum agreement with each line of --golden: the cosine, or 1 minus the difference of scores (default: ${fallback}); lower it if your present system is quantized`,
  ).argParser(share);
