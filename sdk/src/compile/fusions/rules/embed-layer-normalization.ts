import { float } from "../../graph/attribute.ts";
import { sameShape } from "../../graph/dim.ts";
import { MICROSOFT } from "../../graph/node.ts";
import type { Tensor } from "../../graph/tensor.ts";
import { Refusal, type Rule, refuse, rule } from "../../rewrite/rule.ts";
import { addRow, embeddingParts, isComputed, lookupOf, tableRowsOf } from "../embeddings/embedding-parts.ts";
import { castToInt32 } from "../shared/cast-to-int32.ts";
import { whyNotFusable } from "../shared/fusable-normalization.ts";
import { sumTerms } from "../shared/sum-terms.ts";

// EmbedLayerNormalization = LayerNorm(words[ids] + positions[0 … sequence − 1, or position ids] + types[type ids])

export const embedLayerNormalizationFusion: Rule = rule("EmbedLayerNormalization", {
  roots: ["LayerNormalization"],
  rewrite(rewrite) {
    const { root, graph, add, constant } = rewrite;
    const [total, gamma, beta] = root.inputs;
    const [batch, sequence] = total?.shape ?? [];
    if (!total || !gamma || !beta || total.shape?.length !== 3) return undefined;
    const terms = sumTerms(total);
    if (!terms.some((term) => lookupOf(term))) return undefined;
    const unlike = whyNotFusable(root);
    if (unlike) return unlike;
    if (graph.isOutput(total) || total.users.size > 1)
      return refuse("the sum of the embeddings is read by others as well", total.producer);

    const parts = embeddingParts(rewrite, terms, total.shape);
    if (!parts || parts instanceof Refusal) return parts;
    const { data, rows, positions } = parts;
    // Which table serves as words and which as types makes no difference to the sum.
    const full = data.filter(({ ids }) => sameShape(ids.shape, [batch ?? 0, sequence ?? 0]));
    const byRows = full.toSorted((a, b) => tableRowsOf(b) - tableRowsOf(a));
    const [words, ...others] = byRows;
    if (!words) return refuse("no table is indexed by tokens [batch, sequence]", root);
    // Positions that skip padding are computed from the tokens; or the caller gives them beside the types.
    const given = positions
      ? undefined
      : (data.find((lookup) => lookup !== words && isComputed(lookup)) ?? (others.length > 1 ? others[0] : undefined));
    const firstTable = positions ?? given?.table.constant;
    if (!firstTable) return refuse("there are no positions", root);
    const used = data.filter((lookup) => lookup !== words && lookup !== given);
    const [types, ...more] = used;
    if (more.length > 0 || (types && !full.includes(types)))
      return refuse("there are more tables than words, positions and types", root);
    const table = rows.reduce((sum, each) => sum && addRow(sum, each), firstTable as Tensor | undefined);
    if (!table) return refuse("a table has a type that cannot be added to", root);

    const known = data.find(({ table: { constant: original } }) => original === table)?.table;
    const inputs = [
      castToInt32(rewrite, words.ids),
      types && castToInt32(rewrite, types.ids),
      words.table,
      known ?? constant(`${root.origin}/positions`, table),
      types?.table,
      gamma,
      beta,
      ...(given ? [undefined, castToInt32(rewrite, given.ids)] : []),
    ];
    return add("EmbedLayerNormalization", inputs, {
      domain: MICROSOFT,
      attributes: { epsilon: float(root.float("epsilon") ?? 1e-5) },
      // The operator insists on its second output, a count of right padding, which nothing reads.
      outputs: [root.origin, `${root.origin}/mask_index`],
    }).output;
  },
});
