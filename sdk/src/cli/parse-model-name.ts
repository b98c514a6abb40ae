import { InvalidArgumentError } from "commander";
import * as v from "valibot";
import { ModelName } from "../artifact/manifest.ts";

/** Parses the name of a model, which becomes part of keys. */
export function parseModelName(value: string): string {
  if (v.is(ModelName, value)) return value;
  throw new InvalidArgumentError(
    `${value} is not the name of a model: 1-64 of a-z 0-9 . _ -, first a letter or digit.`,
  );
}
