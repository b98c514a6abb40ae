import type { Activation, Step } from "../../../sdk/src/runtime/engine/wasm/program.ts";
import type { Draft } from "./draft.ts";

/** Multiples of four, some of them of eight. */
const WIDTHS = [4, 8, 12, 16, 24] as const;
const ACTIVATIONS: readonly Activation[] = ["gelu", "fastGelu", "relu", "tanh", "sigmoid", "sigmoidUnit"];
/** Of heads whose pairs are turned. */
const TURNED = 8;

/**
 * Adds a step of each kind, where there is something for it to read. Tensors are named after what they are made of: `floats`,
 * `bytes` of 7 bits, `integers`.
 */
export const draws: Readonly<Record<Step["op"], (draft: Draft) => void>> = {
  lookup({ oneOf, make, put }) {
    const [width, bits] = [oneOf(WIDTHS), oneOf([4, 8] as const)];
    const out = make({ width, of: "token", type: "f32" });
    put({ op: "lookup", table: "bytes", steps: "floats", bits, block: bits === 4 ? 4 : width, out }, [out]);
  },
  quantize({ oneOf, like, shapeOf, make, put }) {
    const x = oneOf(like({ type: "f32" }));
    const out = make({ ...shapeOf(x), type: "i8" });
    put({ op: "quantize", x, out }, [x, out]);
  },
  linear({ oneOf, like, shapeOf, make, put }) {
    const operands = like({ type: "i8" });
    if (operands.length === 0) return;
    const x = oneOf(operands);
    const out = make({ width: oneOf(WIDTHS), of: shapeOf(x).of, type: "f32" });
    const tensors = { weight: "bytes", scale: "floats", zero: "integers", sum: "integers", bias: "floats" };
    put({ op: "linear", x, ...tensors, out }, [x, out]);
  },
  layerNorm({ oneOf, like, shapeOf, make, put }) {
    const x = oneOf(like({ type: "f32" }));
    const shape = shapeOf(x);
    const others = like(shape).filter((other) => shapeOf(other).width === shape.width);
    const value = oneOf(others);
    const [skip, touched] = oneOf([
      [undefined, []],
      [{ value }, [value]],
      ...(shape.of === "token" ? [[{ positions: "floats" }, []] as const] : []),
    ] as const);
    const total = skip && oneOf([true, false]) ? make(shape) : undefined;
    const out = make(shape);
    const parts = { ...(skip && { skip }), ...oneOf([{}, { beta: "floats" }]), ...(total !== undefined && { total }) };
    put({ op: "layerNorm", x, ...parts, gamma: "floats", epsilon: 1e-5, out }, [
      x,
      ...touched,
      ...(total === undefined ? [] : [total]),
      out,
    ]);
  },
  add({ oneOf, like, shapeOf, make, put }) {
    const x = oneOf(like({ type: "f32" }));
    const shape = shapeOf(x);
    const value = oneOf(like(shape).filter((other) => shapeOf(other).width === shape.width));
    const [y, touched] = oneOf([
      [{ value }, [value]],
      [{ row: "floats" }, []],
      ...(shape.of === "token" ? [[{ positions: "floats" }, []] as const] : []),
    ] as const);
    const out = make(shape);
    put({ op: "add", x, y, out }, [x, ...touched, out]);
  },
  gate({ oneOf, like, shapeOf, view, make, put }) {
    const width = oneOf(WIDTHS);
    const operands = like({ type: "f32" }, width);
    if (operands.length === 0) return;
    const x = oneOf(operands);
    const { of } = shapeOf(x);
    const other = oneOf(like({ type: "f32", of }, width));
    const out = make({ width, of, type: "f32" });
    const [y, touched] = oneOf([
      [view(other, width), [other]],
      [{ row: "floats" }, []],
    ] as const);
    put({ op: "gate", x: view(x, width), y, out }, [x, ...touched, out]);
  },
  activation({ oneOf, like, shapeOf, view, make, put }) {
    const width = oneOf(WIDTHS);
    const operands = like({ type: "f32" }, width);
    if (operands.length === 0) return;
    const x = oneOf(operands);
    const out = make({ width, of: shapeOf(x).of, type: "f32" });
    put({ op: "activation", kind: oneOf(ACTIVATIONS), alpha: 1.702, x: view(x, width), out }, [x, out]);
  },
  rotate({ oneOf, like, view, put }) {
    const width = oneOf([TURNED, 2 * TURNED]);
    const operands = like({ type: "f32", of: "token" }, width);
    if (operands.length === 0) return;
    const x = oneOf(operands);
    put({ op: "rotate", x: view(x, width), width, size: TURNED, cosines: "floats", sines: "floats" }, [x]);
  },
  attention({ oneOf, like, shapeOf, view, make, put }) {
    const [heads, size] = [oneOf([1, 2]), oneOf([4, 8])];
    const width = heads * size;
    const operands = like({ type: "f32", of: "token" }, width);
    if (operands.length === 0) return;
    const query = oneOf(operands);
    const alike = operands.filter((other) => shapeOf(other).width === shapeOf(query).width);
    const [key, value] = [oneOf(alike), oneOf(alike)];
    const out = make({ width, of: "token", type: "f32" });
    const views = { query: view(query, width), key: view(key, width), value: view(value, width) };
    const bias = oneOf([{}, { bias: { table: "floats", heads } }]);
    put({ op: "attention", ...views, heads, size, scale: 0.5, ...bias, out }, [query, key, value, out]);
  },
  first({ oneOf, like, shapeOf, make, put }) {
    const x = oneOf(like({ type: "f32", of: "token" }));
    const out = make({ ...shapeOf(x), of: "sequence" });
    put({ op: "first", x, out }, [x, out]);
  },
  dense({ oneOf, like, shapeOf, make, put }) {
    const x = oneOf(like({ type: "f32" }));
    const out = make({ width: oneOf(WIDTHS), of: shapeOf(x).of, type: "f32" });
    put({ op: "dense", x, weight: "floats", bias: "floats", out }, [x, out]);
  },
};
