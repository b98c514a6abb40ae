import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { seeded } from "#test/fixtures/seeded.ts";
import {
  addDims,
  type Dim,
  dimProduct,
  divideDimsExactly,
  floorDivDims,
  isNonNegative,
  isStatic,
  MAX_DIM_KEY_LENGTH,
  maxDim,
  minDim,
  mulDims,
  sameDim,
  sameShape,
  subDims,
  substituteSymbols,
  symbolicDim,
  symbolOf,
  symbolsOf,
} from "./dim.ts";

/**
 * A number for each symbol. The numbers are so far apart that different polynomials of small degree have different
 * values.
 */
const POINT: Readonly<Record<string, bigint>> = { a: 1_000_003n, b: 2n ** 61n - 1n, seq_len: 2n ** 521n - 1n };
const NAMES = Object.keys(POINT);

/** Random sizes for the symbols, each at least 1. */
const sizes = fc.record(Object.fromEntries(NAMES.map((name) => [name, fc.integer({ min: 1, max: 5 })])));
type Sizes = Readonly<Record<string, number>>;

/** Evaluates a size to a number. Returns 0 instead of -0. */
const at = (dim: Dim, numbers: Sizes): number =>
  Number(substituteSymbols(dim, (name) => numbers[name] ?? Number.NaN)) + 0;

/** A polynomial and its value at POINT. */
interface Expression {
  readonly dim: Dim;
  readonly exact: bigint;
}
const leaf: fc.Arbitrary<Expression> = fc.oneof(
  fc.integer({ min: -4, max: 4 }).map((n) => ({ dim: n, exact: BigInt(n) })),
  fc.constantFrom(...NAMES).map((name) => ({ dim: symbolicDim(name), exact: POINT[name] as bigint })),
);
const operation = fc.constantFrom<(x: Expression, y: Expression) => Expression>(
  (x, y) => ({ dim: addDims(x.dim, y.dim), exact: x.exact + y.exact }),
  (x, y) => ({ dim: subDims(x.dim, y.dim), exact: x.exact - y.exact }),
  (x, y) => ({ dim: mulDims(x.dim, y.dim), exact: x.exact * y.exact }),
);
const { expression } = fc.letrec<{ expression: Expression }>((tie) => ({
  expression: fc.oneof(
    { maxDepth: 3 },
    leaf,
    fc.tuple(operation, tie("expression"), tie("expression")).map(([apply, x, y]) => apply(x, y)),
  ),
}));
const polynomial = expression.map(({ dim }) => dim);
/** A polynomial plus a maximum, minimum or quotient of polynomials. */
const anyDim = fc.oneof(
  polynomial,
  fc
    .tuple(polynomial, polynomial, polynomial, fc.constantFrom(maxDim, minDim, floorDivDims))
    .map(([a, b, c, apply]) => addDims(apply === floorDivDims ? floorDivDims(a, 7) : apply(a, b), c)),
);

const [a, b] = [symbolicDim("a"), symbolicDim("b")];

describe("sizes", () => {
  it("are added and multiplied by the laws of a ring", () => {
    fc.assert(
      fc.property(polynomial, polynomial, polynomial, (x, y, z) => {
        const same = (left: Dim, right: Dim) => expect(`${left}`).toBe(`${right}`);
        same(addDims(x, y), addDims(y, x));
        same(addDims(addDims(x, y), z), addDims(x, addDims(y, z)));
        same(mulDims(x, y), mulDims(y, x));
        same(mulDims(mulDims(x, y), z), mulDims(x, mulDims(y, z)));
        same(mulDims(x, addDims(y, z)), addDims(mulDims(x, y), mulDims(x, z)));
        same(addDims(x, 0), x);
        same(mulDims(x, 1), x);
        expect(subDims(x, x)).toBe(0);
        expect(mulDims(x, 0)).toBe(0);
      }),
      seeded(500),
    );
  });

  it("evaluate to the same number as plain arithmetic", () => {
    fc.assert(
      fc.property(anyDim, anyDim, sizes, (x, y, numbers) => {
        const [p, q] = [at(x, numbers), at(y, numbers)];
        expect(at(addDims(x, y), numbers)).toBe(p + q);
        expect(at(subDims(x, y), numbers)).toBe(p - q);
        expect(at(mulDims(x, y), numbers)).toBe(p * q + 0);
        expect(at(maxDim(x, y), numbers)).toBe(Math.max(p, q));
        expect(at(minDim(x, y), numbers)).toBe(Math.min(p, q));
        if (q !== 0) expect(at(floorDivDims(x, y), numbers)).toBe(Math.floor(p / q) + 0);
      }),
      seeded(1_000),
    );
  });

  it("have equal keys if and only if the polynomials are equal", () => {
    fc.assert(
      fc.property(expression, expression, (x, y) => {
        expect(sameDim(x.dim, y.dim)).toBe(x.exact === y.exact);
        expect(`${x.dim}` === `${y.dim}`).toBe(x.exact === y.exact);
      }),
      seeded(5_000),
    );
  });

  it("are reported as non-negative only if they are so for all symbols", () => {
    fc.assert(
      fc.property(anyDim, sizes, (x, numbers) => {
        if (isNonNegative(x)) expect(at(x, numbers)).toBeGreaterThanOrEqual(0);
      }),
      seeded(2_000),
    );
  });

  it.each<[Dim, boolean]>([
    [0, true],
    [-1, false],
    [addDims(a, 3), true],
    [subDims(a, 1), false],
    [maxDim(subDims(a, 9), 1), true],
    [minDim(subDims(a, 9), b), false],
    [minDim(a, b), true],
    [floorDivDims(subDims(a, 9), 2), false],
    [floorDivDims(addDims(a, 1), 2), true],
  ])("isNonNegative(%s) is %s", (dim, expected) => {
    expect(isNonNegative(dim)).toBe(expected);
  });

  it("divide exactly if the quotient is a polynomial", () => {
    fc.assert(
      fc.property(polynomial, fc.constantFrom<Dim>(1, 3, -2, a, mulDims(a, b), mulDims(2, b)), (x, divisor) => {
        const quotient = divideDimsExactly(mulDims(x, divisor), divisor);
        expect(`${quotient}`).toBe(`${x}`);
        expect(`${floorDivDims(mulDims(x, divisor), divisor)}`).toBe(`${x}`);
      }),
      seeded(300),
    );
    expect(divideDimsExactly(addDims(a, 1), 2)).toBeUndefined();
    expect(divideDimsExactly(addDims(a, b), a)).toBeUndefined();
    expect(divideDimsExactly(mulDims(6, a), 4)).toBeUndefined();
    expect(divideDimsExactly(a, 0)).toBeUndefined();
    expect(divideDimsExactly(addDims(a, 1), addDims(a, 1))).toBe(1);
  });

  it("print as readable formulas", () => {
    expect(`${addDims(mulDims(2, mulDims(b, a)), subDims(a, 3))}`).toBe("-3+a+2*a*b");
    expect(`${maxDim(a, subDims(b, 1))}`).toBe("max(-1+b,a)");
    expect(`${floorDivDims(a, 2)}`).toBe("floordiv(a,2)");
    expect(subDims(addDims(a, 2), a)).toBe(2);
  });

  it("simplify max and min if one size is always larger, and keep a function otherwise", () => {
    expect(maxDim(addDims(a, 1), a)).toEqual(addDims(a, 1));
    expect(minDim(addDims(a, 1), a)).toEqual(a);
    expect(maxDim(3, 5)).toBe(5);
    expect(`${minDim(a, b)}`).toBe("min(a,b)");
  });

  it("stay below a maximum length when multiplied", () => {
    const sums = Array.from({ length: 60 }, (_, i) => addDims(symbolicDim(`x${i}`), symbolicDim(`y${i}`)));
    const all = dimProduct(sums);
    expect(`${all}`.length).toBeLessThan(sums.length * MAX_DIM_KEY_LENGTH);
    expect(substituteSymbols(all, () => 1)).toBe(2 ** 60);
  });

  it("list their symbols", () => {
    expect(symbolOf(a)).toBe("a");
    expect([mulDims(2, a), addDims(a, 1), mulDims(a, b), maxDim(a, b), 4, undefined].map(symbolOf)).toEqual(
      Array(6).fill(undefined),
    );
    expect(new Set(symbolsOf(addDims(mulDims(a, a), floorDivDims(addDims(b, 1), symbolicDim("c")))))).toEqual(
      new Set(["a", "b", "c"]),
    );
    expect(symbolsOf(7)).toEqual([]);
  });

  it("can have their symbols replaced", () => {
    const other = (name: string) => (name === "a" ? addDims(b, 1) : symbolicDim(name));
    expect(`${substituteSymbols(mulDims(a, a), other)}`).toBe("1+2*b+b*b");
    expect(`${substituteSymbols(maxDim(a, b), other)}`).toBe("1+b");
    expect(substituteSymbols(floorDivDims(a, 2), () => 7)).toBe(3);
  });
});

describe("shapes", () => {
  it("are equal if all their sizes are equal", () => {
    expect(sameShape([a, 2], [symbolicDim("a"), 2])).toBe(true);
    expect(sameShape([a, 2], [a, 3])).toBe(false);
    expect(sameShape([a], [a, 1])).toBe(false);
    expect(sameShape([], [])).toBe(true);
    expect(sameShape(undefined, undefined)).toBe(false);
    expect(sameDim(undefined, undefined)).toBe(false);
    expect(sameDim(2, symbolicDim("2"))).toBe(false);
  });

  it("are static if all their sizes are numbers", () => {
    expect([[1, 2], [], [a], undefined].map(isStatic)).toEqual([true, true, false, false]);
  });
});
