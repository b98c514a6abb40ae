import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import type { Command } from "commander";
import { BertEdgeError } from "../artifact/error.ts";
import { assertWritableFolder } from "../compile/files/folders.ts";
import type { ManagedStore } from "../storage/store.ts";
import type { PublishPlace } from "./options.ts";
import { printNote } from "./output.ts";
import { expiresOption, signingKeyOption } from "./signing.ts";

/** Help for options that name a place. */
export const places =
  "s3://bucket, s3://bucket/prefix, r2-local:bucket for `wrangler dev`, " +
  "assets:folder for static assets, or folder:folder for MODELS_FOLDER of a region";

/** Options of commands that open a store. */
export interface PlaceOptions {
  readonly endpoint?: string;
  readonly region?: string;
  readonly singlePublisher?: boolean;
}

export const endpointOption = [
  "--endpoint <url>",
  "S3 endpoint, e.g. of R2 (default: $AWS_ENDPOINT_URL_S3, $AWS_ENDPOINT_URL, or AWS)",
] as const;
export const regionOption = [
  "--region <region>",
  "region of the bucket (default: the one that the endpoint names, $AWS_REGION, or the AWS profile's)",
] as const;

const singlePublisherOption = [
  "--single-publisher",
  "nobody else publishes to the bucket now: write without conditions, which some S3 services refuse or ignore",
] as const;

/** Adds the options of commands that make a version current. */
export const withPublisherOptions = (command: Command): Command =>
  command
    .option(...endpointOption)
    .option(...regionOption)
    .option(...singlePublisherOption)
    .option(...signingKeyOption)
    .option(...expiresOption);

/** Options that only buckets of an S3 service have. */
const s3Options = {
  endpoint: "--endpoint",
  region: "--region",
  singlePublisher: "--single-publisher",
} as const satisfies Record<keyof PlaceOptions, string>;

export interface OpenPlace extends AsyncDisposable {
  readonly store: ManagedStore;
  /** The place, for messages. */
  readonly address: string;
}

/** Access that a command needs to a place. `publish` may also make a new folder. */
export type Access = "read" | "write" | "publish";

/**
 * Opens a store. Checks that a folder exists and is writable, as far as `access` needs this, and that the project has a local bucket.
 *
 * @throws BertEdgeError `place_missing`, `out_unwritable`, `project_invalid`, `package_missing`, `usage_invalid` for an option that the
 *   place does not have
 */
export async function openPlace(
  place: PublishPlace,
  access: Access,
  { endpoint, region, singlePublisher }: PlaceOptions,
): Promise<OpenPlace> {
  const nothing = async () => {};
  const given = { endpoint, region, singlePublisher };
  const [name] = (Object.keys(s3Options) as (keyof PlaceOptions)[]).filter((name) => given[name] !== undefined);
  if (name && place.kind !== "s3") {
    throw new BertEdgeError("usage_invalid", `${s3Options[name]} is for places such as s3://bucket.`, {
      hint: `Leave ${s3Options[name]} out, or name a bucket of an S3 service.`,
    });
  }
  switch (place.kind) {
    case "assets": {
      const { assetsPublisher } = await import("../storage/assets-publisher.ts");
      await assertFolder(place.folder, access);
      return { store: assetsPublisher(place.folder), address: place.folder, [Symbol.asyncDispose]: nothing };
    }
    case "folder": {
      const { fsStore } = await import("../storage/fs.ts");
      await assertFolder(place.folder, access);
      return { store: fsStore(resolve(place.folder)), address: place.folder, [Symbol.asyncDispose]: nothing };
    }
    case "r2-local": {
      const { openProjectBucket } = await import("./local-r2.ts");
      const store = await openProjectBucket(process.cwd(), place.bucket);
      return { store, address: store.name, [Symbol.asyncDispose]: () => store[Symbol.asyncDispose]() };
    }
    case "s3": {
      const { s3Publisher } = await import("../storage/s3-publisher.ts");
      const { bucket, prefix } = place;
      const names = { endpoint: "--endpoint", bucket: "--to or --store", region: "--region" };
      if (singlePublisher) printNote(`! ${SINGLE_PUBLISHER}`);
      const store = s3Publisher({
        ...{ bucket, prefix, names },
        ...(endpoint !== undefined && { endpoint }),
        ...(region !== undefined && { region }),
        ...(singlePublisher && { singlePublisher }),
      });
      return { store, address: `s3://${bucket}/${prefix}`, [Symbol.asyncDispose]: nothing };
    }
  }
}

const SINGLE_PUBLISHER =
  "--single-publisher: the pointer is written without a condition, and read back. If somebody else publishes or promotes at the same time, the last one wins, and the other one may not notice.";

async function assertFolder(folder: string, access: Access): Promise<void> {
  if (access !== "publish" && !(await stat(folder).catch(() => undefined))?.isDirectory()) {
    throw new BertEdgeError("place_missing", `There is no folder ${resolve(folder)}.`, {
      hint: "Correct the path, or publish a model to it first.",
    });
  }
  if (access !== "read") await assertWritableFolder(folder);
}
