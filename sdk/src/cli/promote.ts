import { Command, InvalidArgumentError } from "commander";
import * as v from "valibot";
import { BertEdgeError } from "../artifact/error.ts";
import { ModelName, ModelVersion } from "../artifact/manifest.ts";
import type { ObjectStore } from "../storage/store.ts";
import { openPlace, type PlaceOptions, places, withPublisherOptions } from "./open-place.ts";
import { type PublishPlace, parseModelName, publishPlace } from "./options.ts";
import { printJson, printNote, printResult } from "./output.ts";
import { type SigningOptions, signingOf } from "./signing.ts";

interface Options extends PlaceOptions, SigningOptions {
  store: PublishPlace;
  json?: true;
}

interface NamedVersion {
  readonly name: string;
  readonly version: string;
}

export const promoteCommand = withPlace(
  new Command("promote")
    .description("make a published version of a model the current one")
    .argument("<name@version>", "version, as `bert-edge list` shows it", namedVersion),
).action((wanted: NamedVersion, options: Options) => makeCurrent(wanted.name, wanted.version, options));

export const rollbackCommand = withPlace(
  new Command("rollback")
    .description("make the version current that was current before")
    .argument("<name>", "name of the model", parseModelName),
).action((name: string, options: Options) => makeCurrent(name, undefined, options));

function withPlace(command: Command): Command {
  return withPublisherOptions(command.requiredOption("--store <place>", places, publishPlace)).option(
    "--json",
    "print the result as JSON",
  );
}

/**
 * Makes a version current, and prints which version was current before.
 *
 * @param version default: the version that was current before the current one
 */
async function makeCurrent(name: string, version: string | undefined, { store: place, json, ...options }: Options) {
  const { previousVersion, promote } = await import("../storage/versions.ts");
  const { readPointer } = await import("../storage/published-artifact.ts");
  await using opened = await openPlace(place, "write", options);
  const { store, signing } = await signingOf(opened.store, options);
  const onGuess = () =>
    printNote(
      "! The pointer to the current version does not name the version before it. Taking the version that was published before it.",
    );
  const next = version ?? (await previousVersion(store, name, onGuess));
  const before = await attempt(
    async () => (await readPointer(store, name)).version,
    "The current version is not known",
  );
  const comparable = before === null ? null : await comparison(store, name, [before, next]);
  await promote(store, name, next, { signing });
  if (json) return printJson({ name, version: next, before, comparable });
  const was = before === null ? "" : ` It was ${name}@${before}.`;
  printResult(`${name}@${next} is current at ${opened.address}.${was} Deployments load it within a minute.`);
}

/** Whether vectors of both versions can be compared. Prints a note if they cannot, or if it is not known. */
async function comparison(store: ObjectStore, name: string, versions: readonly [string, string]) {
  const { areComparable } = await import("./are-comparable.ts");
  const vectors = `Vectors of ${versions.map((version) => `${name}@${version}`).join(" and ")}`;
  const comparable = await attempt(() => areComparable(store, name, versions), `${vectors} could not be compared`);
  if (comparable === false) printNote(`! ${vectors} cannot be compared: embed the texts of your index again.`);
  if (comparable === null) {
    printNote(`! ${vectors} may differ: embed some texts of your index again, and compare them before you mix both.`);
  }
  return comparable;
}

/** Returns the result of `work`. If it fails, prints the reason and returns null: a broken version must not prevent its replacement. */
async function attempt<T>(work: () => Promise<T>, otherwise: string): Promise<T | null> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof BertEdgeError)) throw error;
    printNote(`! ${otherwise}: ${error.message}`);
    return null;
  }
}

function namedVersion(value: string): NamedVersion {
  const [name, version, ...others] = value.split("@");
  if (v.is(ModelName, name) && v.is(ModelVersion, version) && others.length === 0) return { name, version };
  throw new InvalidArgumentError(`${value} does not have the form name@version, such as bert-edge-mini@0123456789ab.`);
}
