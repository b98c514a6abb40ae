import { parseSync } from "oxc-parser";
import { nameOf, type Syntax, visit } from "./syntax.ts";

/** Methods that read a whole request, response, blob or stream. */
const methods = new Set(["text", "json", "arrayBuffer", "bytes", "blob", "formData"]);
/** Functions that read a whole file, also as methods of `fs` or of a file handle. */
const functions = new Set(["readFile", "readFileSync"]);
/** Functions that collect pieces without a limit. */
const collectors = new Set(["Array.fromAsync", "Buffer.concat"]);
const CONSUMERS = "node:stream/consumers";

/**
 * Finds what can read a whole file, body or stream without a limit, by its name: `.text()`, `readFile`, `Buffer.concat`.
 * Each name is listed once. Text in strings and comments is not code.
 */
export function wholeReads(path: string, text: string): string[] {
  const found = new Set<string>();
  visit(parseSync(path, text).program as unknown as Syntax, (node) => {
    const name = readOf(node);
    if (name !== undefined) found.add(name);
  });
  return [...found].sort();
}

function readOf(node: Syntax): string | undefined {
  switch (node.type) {
    case "ImportDeclaration":
    case "ImportExpression":
      return nameOf(node["source"]) === CONSUMERS ? CONSUMERS : undefined;
    case "ImportSpecifier":
    case "MemberExpression":
    case "Property": {
      const name = nameOf(node["imported"] ?? node["property"] ?? node["key"]);
      return name !== undefined && functions.has(name) ? name : undefined;
    }
    case "CallExpression": {
      const { object, property } = node["callee"] as { object?: unknown; property?: unknown };
      const name = nameOf(property) ?? "";
      const whole = `${nameOf(object)}.${name}`;
      if (collectors.has(whole)) return whole;
      return methods.has(name) && (node["arguments"] as unknown[]).length === 0 ? `.${name}()` : undefined;
    }
    default:
      return undefined;
  }
}
