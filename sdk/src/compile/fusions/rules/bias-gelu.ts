import { sameDim, sameShape } from "../../graph/dim.ts";
import { MICROSOFT, type Node } from "../../graph/node.ts";
import { any, op, type Pattern, sum } from "../../rewrite/pattern.ts";
import { type Rewrite, type Rule, rule } from "../../rewrite/rule.ts";

// BiasGelu(x, b) = gelu(x + b); FastGelu(x, b) is the same with the tanh approximation

const biased = sum(any("a"), any("b"));
const exact = (node: Node) => (node.string("approximate") ?? "none") === "none";

function withBias(opType: string) {
  return ({ root, value, add }: Rewrite) => {
    const [x, bias] = value("b").shape?.length === 1 ? [value("a"), value("b")] : [value("b"), value("a")];
    if (
      bias.shape?.length !== 1 ||
      !sameDim(bias.shape[0], x.shape?.at(-1)) ||
      !sameShape(x.shape, root.inputs[0]?.shape)
    )
      return undefined;
    return add(opType, [x, bias], { domain: MICROSOFT }).output;
  };
}

const rooted = (name: string, root: string, domain: string, pattern: Pattern): Rule =>
  rule(name, { roots: [root], domain, pattern, rewrite: withBias(name) });

export const biasGeluFusions: readonly Rule[] = [
  rooted("BiasGelu", "Gelu", MICROSOFT, op("Gelu", [biased], { domain: MICROSOFT })),
  rooted("BiasGelu", "Gelu", "", op("Gelu", [biased], { where: exact })),
  rooted(
    "FastGelu",
    "FastGelu",
    MICROSOFT,
    op("FastGelu", [biased], { domain: MICROSOFT, where: (node) => node.inputs.length === 1 }),
  ),
];
