import * as v from "valibot";
import { versionOf } from "./keys.ts";
import { ManifestContent, ModelName, ModelVersion, PREPARE_AGAIN } from "./manifest.ts";
import { MeasurementsSchema } from "./measurements.ts";
import { parseJson } from "./parse-json.ts";
import { SignatureFields } from "./signature.ts";

/** Format version. It rises with every change that an older reader could misread. */
export const POINTER_FORMAT = "bert-edge/2";

/**
 * The content of `models/<name>/<version>.json`, and of `models/<name>/current.json`, which is written last and names the current
 * version.
 */
const PointerSchema = v.pipe(
  v.object({
    format: v.literal(POINTER_FORMAT),
    name: ModelName,
    /** First 12 digits of the manifest's SHA-256. Headers and users call it the model's version. */
    version: ModelVersion,
    /**
     * The manifest's text is included to save a request. Without the text, readers read the manifest by its hash, like any
     * other file.
     */
    manifest: v.object({ ...ManifestContent, text: v.optional(v.string()) }),
    /** Time and memory of the targets. They can change while the version stays. */
    measurements: v.optional(MeasurementsSchema),
    /**
     * In the pointer to a version: the version that was current when this version was published. In the pointer to the current version:
     * the version that `rollback` makes current. null if there is none. Earlier versions of bert-edge wrote pointers without this field.
     */
    previous: v.optional(v.nullable(ModelVersion)),
    ...SignatureFields,
  }),
  v.check(
    ({ version, manifest }) => version === versionOf(manifest.sha256),
    "the version must be the first 12 digits of the manifest's SHA-256",
  ),
);
export type Pointer = v.InferOutput<typeof PointerSchema>;

/** Maximum bytes of a pointer: room for the text of the largest manifest. */
export const MAX_POINTER_BYTES = 16 * 1024 * 1024;

/**
 * Parses and checks a pointer.
 *
 * @throws BertEdgeError `pointer_invalid`
 */
export function parsePointer(text: string, source: string): Pointer {
  return parseJson(PointerSchema, text, { code: "pointer_invalid", what: `pointer at ${source}`, hint: PREPARE_AGAIN });
}
