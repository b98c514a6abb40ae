import { sameShape } from "../../graph/dim.ts";
import { float, MICROSOFT } from "../../graph/node.ts";
import type { Tensor } from "../../graph/tensor.ts";
import { Refusal, type Rule, refuse, rule, UNANSWERED } from "../../rewrite/rule.ts";
import { castToInt32, sumTerms } from "../../rewrite/values.ts";
import { negativeIndices } from "../embeddings/embedding-indices.ts";
import { addRow, embeddingParts, isComputed, lookupOf, tableRowsOf } from "../embeddings/embedding-parts.ts";
import { whyNotFusable } from "./normalization.ts";

// EmbedLayerNormalization = LayerNorm(tokens[ids] + positions[0 … sequence − 1, or position ids] + types[type ids])

export const embedLayerNormalizationFusion: Rule = rule("EmbedLayerNormalization", {
  roots: ["LayerNormalization"],
  check({ root }) {
    const [total, gamma, beta] = root.inputs;
    const terms = total ? sumTerms(total) : [];
    return total?.shape?.length === 3 && gamma && beta && terms.some(lookupOf) && { total, shape: total.shape, terms };
  },
  rewrite(rewrite, { total, shape, terms }) {
    const { root, graph, add, constant } = rewrite;
    const [, gamma, beta] = root.inputs;
    const [batch, sequence] = shape;
    const refusal = whyNotFusable(root);
    if (refusal) return refusal;
    if (graph.isOutput(total) || total.users.size > 1)
      return refuse("the sum of the embeddings is also read by other nodes", total.producer);

    const parts = embeddingParts(rewrite, terms, shape);
    if (parts instanceof Refusal) return parts;
    const { data, rows, positions } = parts;
    // The sum is the same if the token table and the type table are exchanged. The larger table is taken as the token
    // table.
    const full = data.filter(({ ids }) => sameShape(ids.shape, [batch ?? 0, sequence ?? 0]));
    const byRows = full.toSorted((a, b) => tableRowsOf(b) - tableRowsOf(a));
    const [tokens, ...others] = byRows;
    if (!tokens) return refuse("no table is indexed by an input [batch, sequence]", root);
    // Without a fixed position table, position ids are computed from the token ids (to skip padding), or are an input.
    const given = positions
      ? undefined
      : (data.find((lookup) => lookup !== tokens && isComputed(lookup)) ?? (others.length > 1 ? others[0] : undefined));
    if (given && isComputed(given)) {
      const areNegative = rewrite.ask(negativeIndices, given.ids);
      if (areNegative === undefined) return UNANSWERED;
      if (areNegative) return refuse("the position ids can be negative", given.ids.producer);
    }
    const firstTable = positions ?? given?.table.constant;
    if (!firstTable) return refuse("there is no position table", root);
    const used = data.filter((lookup) => lookup !== tokens && lookup !== given);
    const [types, ...more] = used;
    if (more.length > 0 || (types && !full.includes(types)))
      return refuse("there are more tables than one each for tokens, positions and types", root);
    const table = rows.reduce((sum, each) => sum && addRow(sum, each), firstTable as Tensor | undefined);
    if (!table) return refuse("the position table is neither float32 nor float16", root);

    const known = data.find(({ table: { constant: original } }) => original === table)?.table;
    const inputs = [
      castToInt32(rewrite, tokens.ids),
      types && castToInt32(rewrite, types.ids),
      tokens.table,
      known ?? constant(`${root.origin}/positions`, table),
      types?.table,
      gamma,
      beta,
      ...(given ? [undefined, castToInt32(rewrite, given.ids)] : []),
    ];
    return add("EmbedLayerNormalization", inputs, {
      domain: MICROSOFT,
      attributes: { epsilon: float(root.float("epsilon") ?? 1e-5) },
      // The operator must have its second output, `mask_index`, although nothing reads it.
      outputs: [root.origin, `${root.origin}/mask_index`],
    }).output;
  },
});
