import type { Node, Value } from "../graph/node.ts";
import { numbersOf, type Tensor } from "../graph/tensor.ts";
import { splitHeads } from "../layout/heads.ts";

/** A term of attention scores. Each pair of tokens takes the number of its bucket from x · table. */
export interface RelativeTerm {
  /** Queries or keys: [batch, sequence, heads · size]. */
  readonly x: Value;
  /** Constant float32 [heads, size, buckets]. */
  readonly table: Value & { readonly constant: Tensor };
}

/** Terms of attention scores that depend on relative positions, as in DeBERTa: https://arxiv.org/abs/2006.03654 */
export interface RelativeTerms {
  /** Bucket of each query and key: [1, 1, sequence, sequence]. */
  readonly buckets: Value;
  /** Queries · position keys; undefined for none. */
  readonly ofQueries: RelativeTerm | undefined;
  /** Keys · position queries; undefined for none. */
  readonly ofKeys: RelativeTerm | undefined;
}

/** Recognizes a bias of attention scores that is the sum of at most two terms of relative positions. */
export function relativeTerms(bias: Value): RelativeTerms | undefined {
  const node = bias.producer;
  const parts = (node?.is("Add") ? node.inputs : [bias]).map((part) => part && termOf(part));
  const of = (kind: "ofQueries" | "ofKeys") => parts.filter((part) => part?.kind === kind);
  const [queries, keys] = [of("ofQueries"), of("ofKeys")];
  const [first] = parts;
  const isKnown = queries.length <= 1 && keys.length <= 1 && queries.length + keys.length === parts.length;
  if (!first || !isKnown || parts.some((part) => part?.buckets !== first.buckets)) return undefined;
  return { buckets: first.buckets, ofQueries: queries[0]?.term, ofKeys: keys[0]?.term };
}

interface Part {
  readonly kind: "ofQueries" | "ofKeys";
  readonly buckets: Value;
  readonly term: RelativeTerm;
}

/**
 * Recognizes one term. In the term of the queries, each query takes the buckets of all keys. In the term of the keys, each key takes
 * the buckets of all queries, so the term's scores and buckets are transposed.
 */
function termOf(value: Value): Part | undefined {
  const byQuery = gathered(value.producer);
  const found = byQuery ?? gathered(untransposed(value)?.producer);
  const counted = byQuery ? byQuery.buckets : found && untransposed(found.buckets);
  const buckets = counted && countedFrom(counted, found?.first);
  return found && buckets && { kind: byQuery ? "ofQueries" : "ofKeys", buckets, term: found.term };
}

/**
 * Matches GatherElements(MatMul(heads, table), Expand(buckets)). The table may be sliced to the buckets of the text. Then the
 * first of these buckets is subtracted from all buckets.
 */
function gathered(node: Node | undefined): (Omit<Part, "kind"> & { readonly first: Value | undefined }) | undefined {
  const [scores, expanded] = node?.is("GatherElements") ? node.inputs : [];
  const [heads, factor] = scores?.producer?.is("MatMul") ? scores.producer.inputs : [];
  const { table, first } = sliced(factor);
  const [buckets] = expanded?.producer?.is("Expand") ? expanded.producer.inputs : [];
  const axis = node?.int("axis") ?? 0;
  if (!heads || !buckets || !isTable(table) || (axis !== -1 && axis !== 3) || buckets.shape?.[1] !== 1)
    return undefined;
  const layout = splitHeads(heads, false);
  const isWhole =
    layout?.scale === 1 &&
    layout.count === table.constant.shape[0] &&
    layout.size === table.constant.shape[1] &&
    layout.columns.every((column, i) => column === i);
  return isWhole ? { buckets, first, term: { x: layout.source, table } } : undefined;
}

/** If a value is a Slice of the last of three axes, returns the whole table and the start of the Slice. */
function sliced(value: Value | undefined): { readonly table: Value | undefined; readonly first: Value | undefined } {
  const [table, first, , axes, steps] = value?.producer?.is("Slice") ? value.producer.inputs : [];
  const isLast = axes?.constant && /^(2|-1)$/.test(numbersOf(axes.constant).join()) && !steps;
  return isLast ? { table, first } : { table: value, first: undefined };
}

/** Converts buckets that are counted from `first` to buckets that are counted from the start of the whole table. */
function countedFrom(buckets: Value, first: Value | undefined): Value | undefined {
  if (!first) return buckets;
  const [all, subtracted] = buckets.producer?.is("Sub") ? buckets.producer.inputs : [];
  return subtracted === first ? all : undefined;
}

const isTable = (value: Value | undefined): value is RelativeTerm["table"] =>
  value?.constant?.dtype === "float32" && value.constant.shape.length === 3;

/** If a value is a Transpose of the last two of four axes, returns its input. */
function untransposed({ producer }: Value): Value | undefined {
  return producer?.is("Transpose") && producer.ints("perm")?.join() === "0,1,3,2" ? producer.inputs[0] : undefined;
}
