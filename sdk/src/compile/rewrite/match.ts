import type { Node, Value } from "../graph/node.ts";
import { uniformValue } from "../graph/tensor-math.ts";
import type { Group, Item, Pattern } from "./pattern.ts";

/** Relative tolerance for constants in patterns. Some exporters write √2 with four digits. */
export const CONSTANT_TOLERANCE = 1e-3;

/** A match, or a part of one. Immutable, because matching may go back to an earlier part and continue differently. */
export interface Match {
  readonly values: ReadonlyMap<string, Value>;
  /** The matched nodes. The rewrite replaces these nodes. */
  readonly nodes: ReadonlySet<Node>;
}

/** The attempt that matched the most nodes before it failed. */
export interface NearMiss {
  depth: number;
  node: Node | undefined;
  why: string;
}

const NOTHING: Match = { values: new Map(), nodes: new Set() };

/**
 * Returns the first match of a pattern with a value. `miss` receives the failed attempt that came closest to a match.
 */
export function match(pattern: Pattern, value: Value, miss?: NearMiss): Match | undefined {
  for (const found of matches(pattern, value, NOTHING, miss)) return found;
  return undefined;
}

function* matches(pattern: Pattern, value: Value, partial: Match, miss: NearMiss | undefined): Generator<Match> {
  if (typeof pattern === "number") {
    const found = uniformValue(value);
    if (found !== undefined && isClose(found, pattern)) yield partial;
    else fail(miss, partial, value, `found ${found ?? describe(value)} instead of ${pattern}`);
    return;
  }
  switch (pattern.kind) {
    case "any": {
      const known = partial.values.get(pattern.name);
      if (known ? known !== value : pattern.constant && !value.constant) {
        fail(miss, partial, value, `found ${describe(value)} instead of ${known ? describe(known) : "a constant"}`);
      } else yield known ? partial : bound(partial, pattern.name, value);
      return;
    }
    case "bound":
      for (const found of matches(pattern.pattern, value, partial, miss)) yield bound(found, pattern.name, value);
      return;
    case "oneOf":
      for (const each of pattern.patterns) yield* matches(each, value, partial, miss);
      return;
    case "through": {
      yield* matches(pattern.pattern, value, partial, miss);
      const node = value.producer;
      const next = node?.inputs[0];
      if (node && next && node.domain === "" && pattern.opTypes.includes(node.opType)) {
        yield* matches(pattern, next, including(partial, node), miss);
      }
      return;
    }
    case "commutative":
      yield* matchItems(pattern.group, pattern.items, value, false, partial, miss);
      return;
    case "op": {
      const node = value.producer;
      if (!node?.is(pattern.opType, pattern.domain) || value !== node.output) {
        fail(miss, partial, value, `found ${describe(value)} instead of ${pattern.opType}`);
        return;
      }
      const holds = pattern.where(node);
      if (holds !== true) {
        fail(miss, partial, value, `${describe(value)} ${holds || "has other attributes or inputs than the pattern"}`);
        return;
      }
      yield* matchInputs(pattern.inputs, node, 0, including(partial, node), miss);
    }
  }
}

function* matchInputs(
  patterns: readonly Pattern[],
  node: Node,
  at: number,
  partial: Match,
  miss: NearMiss | undefined,
): Generator<Match> {
  const [pattern, input] = [patterns[at], node.inputs[at]];
  if (pattern === undefined) yield partial;
  else if (input) {
    for (const found of matches(pattern, input, partial, miss)) yield* matchInputs(patterns, node, at + 1, found, miss);
  }
}

/** Matches `value` with the items of a sum or product, in every order and grouping of the operands. */
function* matchItems(
  group: Group,
  items: readonly Item[],
  value: Value,
  inverted: boolean,
  partial: Match,
  miss: NearMiss | undefined,
): Generator<Match> {
  const [only] = items;
  if (items.length === 1 && only) {
    if (typeof only.pattern === "number") {
      yield* matches(only.inverted === inverted ? only.pattern : group.inverse(only.pattern), value, partial, miss);
      return;
    }
    if (only.inverted === inverted) yield* matches(only.pattern, value, partial, miss);
  }
  const node = value.producer;
  if (node?.domain !== "") return;
  const [a, b] = node.inputs;
  const isUnary = node.opType === group.undo && a !== undefined && uniformValue(a) === group.identity;
  const operand = node.opType === group.invert ? a : isUnary ? b : undefined;
  if (operand) yield* matchItems(group, items, operand, !inverted, including(partial, node), miss);
  if (node.opType === group.power && a && b && uniformValue(b) === items.length && items.length > 1) {
    yield* matchAll(items, a, inverted, including(partial, node), miss);
  } else if ((node.opType === group.combine || node.opType === group.undo) && a && b && items.length > 1) {
    const second = node.opType === group.undo ? !inverted : inverted;
    for (const [left, right] of partitions(items)) {
      for (const found of matchItems(group, left, a, inverted, including(partial, node), miss)) {
        yield* matchItems(group, right, b, second, found, miss);
      }
    }
  } else if (items.length > 1) fail(miss, partial, value, `found ${describe(value)} instead of ${group.combine}`);
}

/** Requires that every item matches `value`. Example: Pow(x, 2) is a product of two items, and both must match x. */
function* matchAll(
  items: readonly Item[],
  value: Value,
  inverted: boolean,
  partial: Match,
  miss: NearMiss | undefined,
): Generator<Match> {
  const [first, ...rest] = items;
  if (!first) yield partial;
  else if (first.inverted === inverted) {
    for (const found of matches(first.pattern, value, partial, miss))
      yield* matchAll(rest, value, inverted, found, miss);
  }
}

/** Lists all ways to divide the items between the two operands of a node. */
function* partitions(items: readonly Item[]): Generator<[Item[], Item[]]> {
  for (let chosen = 1; chosen < 2 ** items.length - 1; chosen++) {
    yield [items.filter((_, i) => chosen & (1 << i)), items.filter((_, i) => !(chosen & (1 << i)))];
  }
}

const bound = (partial: Match, name: string, value: Value): Match => ({
  ...partial,
  values: new Map(partial.values).set(name, value),
});

const including = (partial: Match, node: Node): Match => ({ ...partial, nodes: new Set(partial.nodes).add(node) });

function fail(miss: NearMiss | undefined, partial: Match, value: Value, why: string): void {
  // An attempt that fails at a constant counts as half a node deeper: a wrong constant is closer to a match than a
  // wrong operator.
  const depth = partial.nodes.size + (partial.nodes.size > 0 && uniformValue(value) !== undefined ? 0.5 : 0);
  if (!miss || depth <= miss.depth) return;
  miss.depth = depth;
  miss.node = value.producer;
  miss.why = why;
}

const describe = (value: Value): string =>
  value.producer
    ? `${value.producer.opType} ${value.producer.name}`
    : `${value.isConstant ? "constant" : "input"} ${value.name}`;

const isClose = (found: number, wanted: number) => Math.abs(found - wanted) <= CONSTANT_TOLERANCE * Math.abs(wanted);
