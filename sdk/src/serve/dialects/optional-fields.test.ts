import * as v from "valibot";
import { expect, it } from "vitest";
import { dialects, routesOf } from "./index.ts";

interface AnySchema extends v.GenericSchema {
  readonly entries?: Readonly<Record<string, AnySchema>>;
  readonly wrapped?: AnySchema;
  readonly item?: AnySchema;
  readonly options?: readonly unknown[];
}

/** Returns a schema, and those in it. */
function schemasIn(schema: AnySchema): AnySchema[] {
  const { entries = {}, wrapped, item, options = [] } = schema;
  const parts = [...Object.values(entries), wrapped, item, ...options];
  const inner = parts.filter((part) => typeof part === "object" && part !== null && "type" in part);
  return [schema, ...(inner as AnySchema[]).flatMap(schemasIn)];
}

const fields = routesOf(dialects).flatMap(({ path, schema }) =>
  schemasIn(schema).flatMap((object) =>
    Object.entries(object.entries ?? {}).map(([name, field]) => ({ path, name, object, type: field.type })),
  ),
);
const optional = fields.filter(({ type }) => /^(optional|nullish|exact_optional)$/.test(type));

/** Returns the output, or all messages. */
function outcome(schema: v.GenericSchema, body: object) {
  const { output, issues = [] } = v.safeParse(schema, body);
  return { output: issues.length ? undefined : output, messages: issues.map(({ message }) => message) };
}

it.each(optional)("POST $path reads the same body with $name: null as without this field", ({ name, object }) => {
  expect(outcome(object, { [name]: null })).toEqual(outcome(object, {}));
});

it.each(fields.filter((field) => !optional.includes(field)))(
  "POST $path refuses $name: null, which it needs",
  ({ name, object }) => {
    expect(v.safeParse(object, { [name]: null }).issues?.some((issue) => v.getDotPath(issue) === name)).toBe(true);
  },
);

const spellings = optional
  .filter(({ name }) => name.includes("_"))
  .flatMap((field) => {
    const camelCase = field.name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
    return [camelCase, field.name.replaceAll("_", "-"), field.name.toUpperCase()].map((other) => ({ ...field, other }));
  });

it.each(spellings)("POST $path refuses $other and names $name", ({ name, object, other }) => {
  const { issues = [] } = v.safeParse(object, { [other]: "x" });
  const found = issues.find((issue) => v.getDotPath(issue) === other);
  expect(found?.message).toContain(`Did you mean \`${name}\`?`);
});
