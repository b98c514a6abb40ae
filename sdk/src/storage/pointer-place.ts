import * as v from "valibot";
import { ModelName, ModelVersion } from "../artifact/manifest.ts";

const POINTER = /^models\/([^/]+)\/([^/]+)\.json$/;

/** Returns the model and the version that a pointer's key names; undefined for other keys. `current.json` names no version. */
export function pointerPlace(key: string): { readonly name: string; readonly version: string | undefined } | undefined {
  const [, name, version] = POINTER.exec(key) ?? [];
  if (!v.is(ModelName, name)) return undefined;
  if (version === "current") return { name, version: undefined };
  return v.is(ModelVersion, version) ? { name, version } : undefined;
}
