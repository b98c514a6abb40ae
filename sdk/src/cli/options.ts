import { InvalidArgumentError, Option } from "commander";
import * as v from "valibot";
import type { Artifact } from "../artifact/artifact.ts";
import { keyPrefix } from "../artifact/keys.ts";
import { ModelName, type Target } from "../artifact/manifest.ts";
import { MAX_DATA_BYTES, wholeTextSync } from "../compile/files/whole-file.ts";

/** The environment of wrangler's configuration, in which a command works. */
export const envOption = [
  "-e, --env <name>",
  "environment of wrangler's configuration (default: CLOUDFLARE_ENV, also that of .env)",
] as const;

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

const UNITS: Readonly<Record<string, number>> = { KB: 1e3, MB: 1e6, GB: 1e9, KIB: 2 ** 10, MIB: 2 ** 20, GIB: 2 ** 30 };

/** Parses a number of bytes: `13500000`, `13.5MB` or `64 MiB`. */
export function byteCount(value: string): number {
  const [, digits = "", unit = ""] = /^([0-9]+(?:\.[0-9]+)?) ?([A-Za-z]*)$/.exec(value.trim()) ?? [];
  const bytes = Math.floor(Number(digits) * (unit === "" ? 1 : (UNITS[unit.toUpperCase()] ?? Number.NaN)));
  if (digits !== "" && Number.isSafeInteger(bytes) && bytes > 0) return bytes;
  throw new InvalidArgumentError(`${value} is not a number of bytes, such as 13500000, 13.5MB or 64MiB.`);
}

/** The integers that weights are stored in. */
export const integers = ["int8", "int4"] as const;
export type Integers = (typeof integers)[number];
export const bitsOf = (chosen: Integers): 8 | 4 => (chosen === "int4" ? 4 : 8);

/** Parses a TCP port. */
export function port(value: string): number {
  const number = positiveInteger(value);
  if (number > 65_535) throw new InvalidArgumentError(`${value} is not a port. Ports are 1 to 65535.`);
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
    text = wholeTextSync(path, MAX_DATA_BYTES);
  } catch (error) {
    throw new InvalidArgumentError(`${path} cannot be read: ${(error as Error).message}`);
  }
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== "");
  if (lines.length > 0) return lines;
  throw new InvalidArgumentError(`${path} has no lines of text.`);
}

/** A place to publish to: a bucket, a bucket on this machine, static assets of a Worker, or a folder. */
export type PublishPlace =
  /** `prefix` begins the key of every object. It is empty, or ends with a slash. */
  | { readonly kind: "s3"; readonly bucket: string; readonly prefix: string }
  | { readonly kind: "r2-local"; readonly bucket: string }
  | { readonly kind: "assets" | "folder"; readonly folder: string };

const PLACES = /^(?:s3:\/\/(?<s3>[^/]*)(?:\/(?<path>.*))?|r2-local:(?<local>.*)|(?<kind>assets|folder):(?<folder>.+))$/;
const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;

/** Parses `s3://bucket/prefix`, `r2-local:bucket`, `assets:folder` or `folder:folder`. */
export function publishPlace(value: string): PublishPlace {
  const { s3, path = "", local, kind, folder } = PLACES.exec(value)?.groups ?? {};
  if (kind && folder) return { kind: kind as "assets" | "folder", folder };
  const bucket = s3 ?? local ?? "";
  if (!BUCKET.test(bucket)) {
    throw new InvalidArgumentError(
      `${value} does not have the form s3://bucket, s3://bucket/prefix, r2-local:bucket, assets:folder or folder:folder. A bucket name has 3 to 63 characters: a-z, 0-9, dots and hyphens.`,
    );
  }
  return s3 === undefined ? { kind: "r2-local", bucket } : { kind: "s3", bucket, prefix: keyPrefix(path) };
}

/** Parses the name of a model. The name becomes part of object keys. */
export function parseModelName(value: string): string {
  if (v.is(ModelName, value)) return value;
  throw new InvalidArgumentError(
    `${value} is not the name of a model: 1-64 of a-z 0-9 . _ -, first a letter or digit.`,
  );
}

/** Makes the option for keys of a model's modules that bert-edge does not know. It can be given several times. */
export const acceptKeyOption = (): Option =>
  new Option(
    "--accept-key <module.key>",
    "take a key of a module's configuration that bert-edge does not know, such as 1_Pooling.some_key; can be repeated. Give it only if results do not depend on the key",
  ).argParser((name: string, names: readonly string[] = []) => [...names, name]);

/** The option of `acceptKeyOption`, as commander gives it. */
export interface AcceptedKeys {
  acceptKey?: readonly string[];
}

/** Returns a line with the accepted keys; no line if there are none. */
export const acceptedLine = (names: readonly string[]): string[] =>
  names.length === 0 ? [] : [`accepted keys: ${names.join(", ")}`];

/** Makes the option for a file with answers of the user's present system. */
export const goldenOption = (): Option =>
  new Option(
    "--golden <file>",
    "JSONL file of texts with the vectors, scores or labels that your present system gives; other answers are refused",
  );

/**
 * Makes the option for the minimum agreement with a golden file.
 *
 * @param fallback the default, in words
 */
export const goldenMinOption = (fallback: string): Option =>
  new Option(
    "--golden-min <number>",
    `minimum agreement with each line of --golden: the cosine, or 1 minus the difference of scores (default: ${fallback}); lower it if your present system is quantized`,
  ).argParser(share);

export type EngineName = Target["engine"];

const engines = ["wasm", "ort-web", "ort-node"] as const satisfies readonly EngineName[];

/** The option that chooses the engine of a command that embeds texts. */
export const engineOption = (): Option =>
  new Option(
    "--engine <engine>",
    "default: the engine of regional-cpu, or of edge if the artifact has no regional-cpu",
  ).choices(engines);

/** Returns the chosen engine, or the default one for an artifact. */
export function chosenEngine({ manifest }: Pick<Artifact, "manifest">, chosen: EngineName | undefined): EngineName {
  const { edge, "regional-cpu": native } = manifest.targets;
  return chosen ?? native?.engine ?? edge?.engine ?? "ort-node";
}
