import { parseSync } from "oxc-parser";
import { nameOf, type Syntax, visit } from "./syntax.ts";

/**
 * Lists what rules' rewrites return without a result and without a reason: a bare `return`, `undefined`, or an expression
 * that may be undefined. A rewrite says `refuse(why)`. What decides whether nodes are
 * the rule's pattern at all belongs into its `check`.
 */
export function silentRewrites(path: string, text: string): string[] {
  const found: string[] = [];
  visit(parseSync(path, text).program as unknown as Syntax, (node) => {
    if (node.type !== "CallExpression" || nameOf(node["callee"]) !== "rule") return;
    const [name, options] = node["arguments"] as Syntax[];
    const properties = (options?.["properties"] ?? []) as Syntax[];
    if (!properties.some(({ key }) => nameOf(key) === "roots")) return;
    const rewrite = properties.find(({ key }) => nameOf(key) === "rewrite")?.["value"] as Syntax | undefined;
    const code = ({ start, end }: Syntax) => text.slice(start as number, end as number);
    const add = (what: string) => found.push(`${path}: the rule ${code(name as Syntax)} ${what}`);
    if (!rewrite || !isFunction(rewrite)) add("has no rewrite that is a function in place");
    else for (const silent of silentReturns(rewrite)) add(`has neither a result nor a reason: ${code(silent)}`);
  });
  return found;
}

const isFunction = ({ type }: Syntax) => type === "FunctionExpression" || type === "ArrowFunctionExpression";

/** Returns the silent returns of a function, without those of functions inside it. */
function silentReturns(own: Syntax): Syntax[] {
  const body = own["body"] as Syntax;
  if (body.type !== "BlockStatement") return isSilent(body) ? [body] : [];
  const found: Syntax[] = [];
  visit(
    body,
    (node) => {
      if (node.type === "ReturnStatement" && isSilent(node["argument"] as Syntax | null)) found.push(node);
    },
    isFunction,
  );
  return found;
}

function isSilent(node: Syntax | null): boolean {
  switch (node?.type) {
    case undefined:
      return true;
    case "Identifier":
      return nameOf(node) === "undefined";
    case "ConditionalExpression":
      return isSilent(node["consequent"] as Syntax) || isSilent(node["alternate"] as Syntax);
    case "LogicalExpression":
      return node["operator"] === "&&" || isSilent(node["right"] as Syntax);
    case "ParenthesizedExpression":
    case "TSAsExpression":
      return isSilent(node["expression"] as Syntax);
    default:
      return false;
  }
}
