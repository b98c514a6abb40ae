import { readFileSync } from "node:fs";
import { InvalidArgumentError } from "commander";
import { keyPrefix } from "../artifact/keys.ts";

/** An option's value as a list of known words: `edge,regional-cpu`. */
export function listOf<Word extends string>(words: readonly Word[]): (value: string) => Word[] {
  return (value) => {
    const chosen = value.split(",").map((word) => word.trim());
    const unknown = chosen.filter((word) => !words.some((known) => known === word));
    if (unknown.length > 0) {
      throw new InvalidArgumentError(`${unknown.join(", ")} is not one of ${words.join(", ")}.`);
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

/** A number from 0 to 1. */
export function share(value: string): number {
  const number = Number(value);
  if (value.trim() === "" || !(number >= 0 && number <= 1)) {
    throw new InvalidArgumentError(`${value} is not a number from 0 to 1.`);
  }
  return number;
}

/** The lines of a text file that are not empty. */
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
  /** Put before every key: empty, or with a slash at its end. */
  prefix: string;
}

/** A bucket, or a folder that is deployed as static assets. */
export type PublishPlace = S3Url | { folder: string };

/** `s3://bucket/prefix` or `assets:folder`. */
export function publishPlace(value: string): PublishPlace {
  const folder = /^assets:(.+)$/.exec(value)?.[1];
  return folder ? { folder } : s3Url(value);
}

function s3Url(value: string): S3Url {
  const match = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/(.*))?$/.exec(value);
  if (!match) {
    throw new InvalidArgumentError(
      `${value} is not s3://bucket, s3://bucket/prefix, where the bucket's name is 3-63 of a-z 0-9 . -, or assets:folder`,
    );
  }
  const [, bucket = "", path = ""] = match;
  return { bucket, prefix: keyPrefix(path) };
}
