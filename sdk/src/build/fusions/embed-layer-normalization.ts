import { float, int } from "../graph/attribute.ts";
import { sameDim, sameShape } from "../graph/dim.ts";
import { MICROSOFT, type Node, type Value } from "../graph/node.ts";
import { elementCount, elementSize, numbersOf, type Tensor, tensor } from "../graph/tensor.ts";
import { dataTypes } from "../onnx/tensor-proto.ts";
import { type Rule, refuse, rule, vectorOf } from "../rewrite/rule.ts";
import { unlikeFused } from "./plain-normalization.ts";
import { indices, tableRows } from "./positions.ts";
import { termsOf } from "./terms.ts";

// EmbedLayerNormalization = LayerNorm(words[ids] + positions[0 … sequence − 1, or position ids] + types[type ids])

interface Lookup {
  readonly table: Value;
  readonly ids: Value;
}

export const embedLayerNormalization: Rule = rule("EmbedLayerNormalization", {
  roots: ["LayerNormalization"],
  rewrite(rewrite) {
    const { root, graph, add, ask, constant } = rewrite;
    const [total, gamma, beta] = root.inputs;
    const [batch, sequence, width] = total?.shape ?? [];
    if (!total || !gamma || !beta || total.shape?.length !== 3) return undefined;
    const terms = termsOf(total);
    const lookups = terms.map(lookupOf);
    if (lookups.every((lookup) => !lookup)) return undefined;
    const unlike = unlikeFused(root);
    if (unlike) return unlike;
    if (graph.isOutput(total) || total.users.size > 1)
      return refuse("the sum of the embeddings is read by others as well", total.producer);

    // Which table serves as words and which as types makes no difference to the sum.
    const data: Lookup[] = [];
    const rows: Tensor[] = [];
    let positions: Tensor | undefined;
    for (const [i, term] of terms.entries()) {
      const lookup = lookups[i];
      const kind = lookup && ask(indices, lookup.ids);
      if (lookup && !kind) return undefined;
      const fixed = term.constant;
      if (lookup && kind?.kind === "data") data.push(lookup);
      else if (lookup && kind?.kind === "range" && !positions && kind.offset >= 0 && kind.offset < rowsOf(lookup))
        positions = from(lookup.table.constant as Tensor, kind.offset);
      else if (lookup && kind?.kind === "same") rows.push(row(lookup.table.constant as Tensor, kind.index));
      else if (fixed && vectorOf(term, width)) rows.push({ ...fixed, shape: [elementCount(fixed.shape)] });
      else if (fixed && !positions && sameDim(fixed.shape.at(-2), sequence) && oncePerBatch(fixed))
        positions = oncePerBatch(fixed);
      else if (!positions && !lookup && !fixed) {
        const table = ask(tableRows, term);
        if (table === undefined) return undefined;
        if (!table) return refuse(`${term.name} is not a lookup of words, positions or types`, term.producer ?? root);
        positions = table;
      } else return refuse(`${term.name} is not a lookup of words, positions or types`, term.producer ?? root);
    }
    const full = data.filter(({ ids }) => sameShape(ids.shape, [batch ?? 0, sequence ?? 0]));
    const byRows = full.toSorted((a, b) => rowsOf(b) - rowsOf(a));
    const [words, ...others] = byRows;
    if (!words) return refuse("no table is indexed by tokens [batch, sequence]", root);
    let positionIds: Value | undefined;
    if (!positions) {
      // Positions that skip padding are computed from the tokens; or the caller gives them beside the types.
      const given =
        data.find((lookup) => lookup !== words && isComputed(lookup)) ?? (others.length > 1 ? others[0] : undefined);
      if (!given) return refuse("there are no positions", root);
      positions = given.table.constant as Tensor;
      positionIds = given.ids;
    }
    const used = data.filter((lookup) => lookup !== words && lookup.ids !== positionIds);
    const [types, ...more] = used;
    if (more.length > 0 || (types && !full.includes(types)))
      return refuse("there are more tables than words, positions and types", root);
    const table = rows.reduce((sum, each) => sum && addRow(sum, each), positions as Tensor | undefined);
    if (!table) return refuse("a table has a type that cannot be added to", root);

    const asInt32 = (ids: Value) =>
      ids.dtype === "int32"
        ? ids
        : add("Cast", [ids], { attributes: { to: int(dataTypes.int32) }, name: `${ids.name}/int32` }).output;
    const known = data.find(({ table: { constant: original } }) => original === table)?.table;
    const inputs = [
      asInt32(words.ids),
      types && asInt32(types.ids),
      words.table,
      known ?? constant(`${root.origin}/positions`, table),
      types?.table,
      gamma,
      beta,
      ...(positionIds ? [undefined, asInt32(positionIds)] : []),
    ];
    return add("EmbedLayerNormalization", inputs, {
      domain: MICROSOFT,
      attributes: { epsilon: float(root.float("epsilon") ?? 1e-5) },
      // The operator insists on its second output, a count of right padding, which nothing reads.
      outputs: [root.origin, `${root.origin}/mask_index`],
    }).output;
  },
});

function lookupOf(term: Value): Lookup | undefined {
  const node: Node | undefined = term.producer;
  const [table, ids] = node?.inputs ?? [];
  const isLookup = node?.is("Gather") && (node.int("axis") ?? 0) === 0 && table?.constant?.shape.length === 2;
  return isLookup && table && ids ? { table, ids } : undefined;
}

const isComputed = ({ ids }: Lookup) => ids.producer !== undefined && !ids.producer.is("Cast");

const rowsOf = ({ table }: Lookup) => table.constant?.shape[0] ?? 0;

/** Rows of a table from one on. */
function from({ dtype, shape, data }: Tensor, first: number): Tensor {
  const [rows = 0, width = 0] = shape;
  return { dtype, shape: [rows - first, width], data: data.subarray((data.length / rows) * first) };
}

/** A table [1 or batch, sequence, width] whose batches are equal, as [sequence, width]. */
function oncePerBatch({ dtype, shape, data }: Tensor): Tensor | undefined {
  const [sequence = 0, width = 0] = shape.slice(-2);
  const bytes = sequence * width * elementSize[dtype];
  for (let at = bytes; at < data.length; at += bytes) {
    if (Buffer.compare(data.subarray(0, bytes), data.subarray(at, at + bytes)) !== 0) return undefined;
  }
  return { dtype, shape: [sequence, width], data: data.subarray(0, bytes) };
}

function row({ dtype, shape, data }: Tensor, index: number): Tensor {
  const [rows = 1, width = 0] = shape;
  const bytes = data.length / rows;
  const at = index < 0 ? index + rows : index;
  return { dtype, shape: [width], data: data.subarray(at * bytes, (at + 1) * bytes) };
}

/** The table with a vector added to every row. */
function addRow(table: Tensor, vector: Tensor): Tensor | undefined {
  if (table.dtype !== vector.dtype || (table.dtype !== "float32" && table.dtype !== "float16")) return undefined;
  const added = numbersOf(vector);
  const values = numbersOf(table).map((value, i) => value + (added[i % added.length] as number));
  return tensor(
    table.dtype,
    table.shape,
    table.dtype === "float32" ? Float32Array.from(values) : Float16Array.from(values),
  );
}
