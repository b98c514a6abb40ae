import * as v from "valibot";
import { ModelName, ModelVersion } from "../artifact/manifest.ts";

const POINTER = /^models\/([^/]+)\/([^/]+)\.json$/;

/** Returns the model and the version of a pointer's key; without version, it is the pointer to the current one. */
export function pointerPlace(key: string): { readonly name: string; readonly version: string | undefined } | undefined {
  const [, name, version] = POINTER.exec(key) ?? [];
  if (!v.is(ModelName, name)) return undefined;
  if (version === "current") return { name, version: undefined };
  return v.is(ModelVersion, version) ? { name, version } : undefined;
}
