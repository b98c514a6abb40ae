import { toJsonSchema } from "@valibot/to-json-schema";
import type * as v from "valibot";

/** Returns the JSON Schema of what a schema takes. Checks that JSON Schema cannot express are left out. */
export function jsonSchema(schema: v.GenericSchema): object {
  const { $schema, ...described } = toJsonSchema(withoutChecks(schema), {
    typeMode: "input",
    errorMode: "ignore",
    target: "draft-2020-12",
  });
  return described;
}

/** Bodies of our own routes are checked before their fields are: the fields are in a pipe. */
function withoutChecks(schema: v.GenericSchema): v.GenericSchema {
  const pipe = "pipe" in schema ? (schema.pipe as readonly (v.GenericSchema | { readonly kind: "validation" })[]) : [];
  for (const item of pipe.toReversed()) {
    if (item.kind !== "schema") continue;
    const found = item === schema ? item : withoutChecks(item);
    if (found.type !== "any") return found;
  }
  return pipe.length > 0 ? withoutChecks(pipe[0] as v.GenericSchema) : schema;
}
