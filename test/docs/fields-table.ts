import type * as v from "valibot";
import { cohereWithoutEffect } from "#sdk/serve/dialects/cohere.ts";
import { huggingFaceWithoutEffect } from "#sdk/serve/dialects/hugging-face.ts";
import { dialects, routesOf, shownRoutes } from "#sdk/serve/dialects/index.ts";
import { openAiWithoutEffect } from "#sdk/serve/dialects/openai.ts";
import type { FieldsWithoutEffect } from "#sdk/serve/routes/dialect.ts";
import { table } from "./markdown-table.ts";

/** Fields without effect, by path. */
export const withoutEffect: FieldsWithoutEffect = {
  ...openAiWithoutEffect,
  ...cohereWithoutEffect,
  ...huggingFaceWithoutEffect,
};

interface AnySchema extends v.GenericSchema {
  readonly entries?: Readonly<Record<string, AnySchema>>;
  readonly wrapped?: AnySchema;
  readonly options?: readonly unknown[];
  readonly advice?: string;
}

/** What becomes of a field: it is obeyed, has no effect for a reason, or other values than the listed ones are refused. */
export type Treatment =
  | { readonly is: "obeyed" }
  | { readonly is: "no-effect"; readonly why: string }
  | { readonly is: "only"; readonly values: readonly unknown[]; readonly advice: string };

function entriesOf(schema: AnySchema, prefix = ""): [string, Treatment][] {
  return Object.entries(schema.entries ?? {}).flatMap(([name, entry]) => {
    const { wrapped, advice } = entry;
    const own: Treatment =
      advice === undefined ? { is: "obeyed" } : { is: "only", values: wrapped?.options ?? [], advice };
    const inner = entriesOf(wrapped ?? entry, `${prefix}${name}.`);
    return [[prefix + name, own], ...inner];
  });
}

/** Returns the fields of a route's bodies, and what becomes of them. Dots lead into objects. */
export function fieldsOf(path: string): ReadonlyMap<string, Treatment> {
  const route = routesOf(dialects).find((each) => each.path === path);
  if (!route) throw new Error(`There is no route ${path}.`);
  const others = Object.entries(withoutEffect[path] ?? {}).map(
    ([name, why]) => [name, { is: "no-effect", why }] as const,
  );
  return new Map<string, Treatment>([...entriesOf(route.schema as AnySchema), ...others]);
}

const named = (names: readonly string[]) => names.map((name) => `\`${name}\``).join(", ");

/** The table of the routes of other dialects, and of ours with fields that are refused. */
export function fieldsTable(): string {
  const rows = shownRoutes(dialects).flatMap(({ path }) => {
    const all = [...fieldsOf(path)];
    const obeyed = all.filter(([, { is }]) => is === "obeyed").map(([name]) => name);
    const idle = all.flatMap(([name, field]) => (field.is === "no-effect" ? `\`${name}\`: ${field.why}` : []));
    const refused = all.flatMap(([name, field]) => {
      if (field.is !== "only") return [];
      const values = field.values.map((value) => `\`${JSON.stringify(value)}\``).join(" or ");
      return `\`${name}\`${values && ` other than ${values}`}: ${field.advice}`;
    });
    return idle.length + refused.length > 0 ? [[`\`${path}\``, named(obeyed), idle.join("; "), refused.join(" ")]] : [];
  });
  return table(["route", "obeyed", "without effect", "refused"], rows);
}
