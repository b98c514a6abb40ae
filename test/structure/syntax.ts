/** A node of a syntax tree that oxc-parser returns. */
export type Syntax = Readonly<Record<string, unknown>> & { readonly type?: string };

/** Returns the name of an identifier, or the text of a string. */
export function nameOf(node: unknown): string | undefined {
  const { name, value } = (node ?? {}) as { name?: unknown; value?: unknown };
  return typeof name === "string" ? name : typeof value === "string" ? value : undefined;
}

/** Calls `each` for a node and all nodes inside it. Leaves out the nodes for which `skips` is true. */
export function visit(
  node: Syntax,
  each: (node: Syntax) => void,
  skips: (node: Syntax) => boolean = () => false,
): void {
  if (skips(node)) return;
  each(node);
  for (const value of Object.values(node).flat()) {
    if (typeof value === "object" && value !== null) visit(value as Syntax, each, skips);
  }
}
