import { readFileSync } from "node:fs";
import { InvalidArgumentError } from "commander";
import { keyPrefix } from "../artifact/keys.ts";

/** Makes a parser for comma-separated lists of known words, such as `edge,regional-cpu`. */
export function listOf<Word extends string>(words: readonly Word[]): (value: string) => Word[] {
  return (value) => {
    const chosen = value.split(",").map((word) => word.trim());
    const unknown = chosen.filter((word) => !words.some((known) => known === word));
    if (unknown.length > 0) {
      throw new InvalidArgumentError(`${unknown.join(", ")} is not one of: ${words.join(", ")}.`);
    }
    return chosen as Word[];
  };
}

export function positiveIntegers(value: string): number[] {
  return value.split(",").map(positiveInteger);
}

export function positiveInteger(value: string): number {
  const number = Number(value);
  if (!Number.isSafeInteger(number) || number < 1)
    throw new InvalidArgumentError(`${value} is not a positive integer.`);
  return number;
}

/** Parses a number from 0 to 1. */
export function share(value: string): number {
  const number = Number(value);
  if (value.trim() === "" || !(number >= 0 && number <= 1)) {
    throw new InvalidArgumentError(`${value} is not a number from 0 to 1.`);
  }
  return number;
}

/** Reads the lines of a text file, except empty ones. */
export function textLines(path: string): string[] {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    throw new InvalidArgumentError(`${path} cannot be read: ${(error as Error).message}`);
  }
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== "");
  if (lines.length > 0) return lines;
  throw new InvalidArgumentError(`${path} has no lines of text.`);
}

interface S3Url {
  bucket: string;
  /** Prefix of every key: empty, or ends with a slash. */
  prefix: string;
}

/** A bucket, or a folder of static assets. */
export type PublishPlace = S3Url | { folder: string };

/** Parses `s3://bucket/prefix` or `assets:folder`. */
export function publishPlace(value: string): PublishPlace {
  const folder = /^assets:(.+)$/.exec(value)?.[1];
  return folder ? { folder } : s3Url(value);
}

function s3Url(value: string): S3Url {
  const match = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/(.*))?$/.exec(value);
  if (!match) {
    throw new InvalidArgumentError(
      `${value} does not have the form s3://bucket, s3://bucket/prefix or assets:folder. A bucket name has 3 to 63 characters: a-z, 0-9, dots and hyphens.`,
    );
  }
  const [, bucket = "", path = ""] = match;
  return { bucket, prefix: keyPrefix(path) };
}
