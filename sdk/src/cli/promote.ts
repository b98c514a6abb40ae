import { Command, InvalidArgumentError } from "commander";
import * as v from "valibot";
import { ModelName, ModelVersion } from "../artifact/manifest.ts";
import { endpointOption, openPlace, type PlaceOptions, places, regionOption } from "./open-place.ts";
import { type PublishPlace, publishPlace } from "./options.ts";
import { printJson, printNote, printResult } from "./output.ts";
import { expiresOption, type SigningOptions, signingKeyOption, signingOf } from "./signing.ts";

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
    .description("make the version current that was published before the current one")
    .argument("<name>", "name of the model"),
).action((name: string, options: Options) => makeCurrent(name, undefined, options));

function withPlace(command: Command): Command {
  return command
    .requiredOption("--store <place>", places, publishPlace)
    .option(...endpointOption)
    .option(...regionOption)
    .option(...signingKeyOption)
    .option(...expiresOption)
    .option("--json", "print the result as JSON");
}

/** @param version undefined: the one before the current one */
async function makeCurrent(name: string, version: string | undefined, { store: place, json, ...options }: Options) {
  const { previousVersion, promote } = await import("../storage/versions.ts");
  const { readPointer } = await import("../storage/published-artifact.ts");
  const { areComparable } = await import("./are-comparable.ts");
  await using opened = await openPlace(place, options);
  const { store, address } = opened;
  const next = version ?? (await previousVersion(store, name));
  const { version: before } = await readPointer(store, name);
  const comparable = await areComparable(store, name, [before, next]);
  if (!comparable) {
    printNote(
      `! Vectors of ${name}@${before} and ${name}@${next} cannot be compared: embed the texts of your index again.`,
    );
  }
  const signed = await signingOf(store, options);
  await promote(signed.store, name, next, signed);
  if (json) printJson({ name, version: next, before, comparable });
  else
    printResult(
      `${name}@${next} is current at ${address}. It was ${name}@${before}. Deployments load it within a minute.`,
    );
}

function namedVersion(value: string): NamedVersion {
  const [name, version, ...others] = value.split("@");
  if (v.is(ModelName, name) && v.is(ModelVersion, version) && others.length === 0) return { name, version };
  throw new InvalidArgumentError(`${value} does not have the form name@version, such as bert-edge-mini@0123456789ab.`);
}
