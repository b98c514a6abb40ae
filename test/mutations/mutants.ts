import { parseSync } from "oxc-parser";

/** A small mistake in a source: the text between two offsets is replaced. */
export interface Mutant {
  readonly start: number;
  readonly end: number;
  readonly text: string;
  /** Describes the mistake, such as `< → <=`. */
  readonly what: string;
}

/** Replacement of each operator. Most are the mistake that a person would make: a bound that is off by one. */
const OPERATORS: Readonly<Record<string, string>> = {
  ...{ "<": "<=", "<=": "<", ">": ">=", ">=": ">" },
  ...{ "===": "!==", "!==": "===", "==": "!=", "!=": "==" },
  ...{ "+": "-", "-": "+", "*": "/", "/": "*", "%": "*", "&": "|", "|": "&", "<<": ">>", ">>": "<<", ">>>": "<<" },
  ...{ "&&": "||", "||": "&&", "??": "&&" },
};

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [field: string]: unknown;
}

const isNode = (value: unknown): value is Node =>
  typeof value === "object" && value !== null && typeof (value as Node).type === "string";

/** Lists the mutants of a TypeScript source: other operators, other numbers, conditions negated, returned values lost. */
export function mutantsOf(path: string, source: string): Mutant[] {
  const mutants: Mutant[] = [];
  const add = (start: number, end: number, text: string, what = `${source.slice(start, end)} → ${text}`) =>
    mutants.push({ start, end, text, what });

  const lose = ({ start, end }: Node, text: string, where: string) => {
    const lost = source.slice(start, end);
    if (lost !== "undefined") add(start, end, text, `lost: ${where} ${lost.split("\n")[0]}`);
  };

  const visit = (node: Node): void => {
    // Types have no code.
    if (node.type.startsWith("TS") && !("expression" in node)) return;
    const { type, start, end } = node;
    if (type === "BinaryExpression" || type === "LogicalExpression") {
      const { left, right, operator } = node as unknown as { left: Node; right: Node; operator: string };
      const other = OPERATORS[operator];
      const at = source.indexOf(operator, left.end);
      if (other !== undefined && at < right.start) add(at, at + operator.length, other);
    } else if (type === "Literal" && typeof node["value"] === "number") {
      add(start, end, `${(node["value"] as number) + 1}`);
    } else if (type === "IfStatement" || type === "ConditionalExpression") {
      const test = node["test"] as Node;
      add(
        test.start,
        test.end,
        `!(${source.slice(test.start, test.end)})`,
        `negated: ${source.slice(test.start, test.end)}`,
      );
    } else if (type === "ReturnStatement" && isNode(node["argument"])) {
      lose(node["argument"], "undefined as never", "return");
    } else if (type === "ArrowFunctionExpression" && isNode(node["body"]) && node["body"].type !== "BlockStatement") {
      lose(node["body"], "(undefined as never)", "=>");
    }
    for (const value of Object.values(node)) {
      for (const child of Array.isArray(value) ? value : [value]) if (isNode(child)) visit(child);
    }
  };
  visit(parseSync(path, source).program as unknown as Node);
  return mutants;
}

/** Returns the source with one mistake. */
export const mutated = (source: string, { start, end, text }: Mutant): string =>
  source.slice(0, start) + text + source.slice(end);
