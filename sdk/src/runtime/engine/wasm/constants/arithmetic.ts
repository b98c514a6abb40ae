/*
 * Constants of the arithmetic, for the reference kernels (TypeScript) and the kernels (AssemblyScript). Both compilers
 * read this file, so it has plain constants only. In AssemblyScript, fractions are f64; kernels cast them to f32.
 */

/**
 * 1.5 · 2²³. Float32 numbers of this size have no fraction, so adding NO_FRACTIONS to a number rounds it to the nearest
 * integer, ties to even.
 */
export const NO_FRACTIONS = 12582912;
/**
 * The bits of NO_FRACTIONS, read as an integer. To round x, kernels add NO_FRACTIONS, read the bits of the sum as an
 * integer, and subtract NO_FRACTIONS_BITS from this integer.
 */
export const NO_FRACTIONS_BITS = 0x4b400000;

/** Minimum range of a quantized row, 2⁻¹⁰⁰. Without it, the scale of a row of zeros would be zero. */
export const MIN_EXTENT = 7.888609052210118e-31;

/** log₂ e = 1/ln 2, rounded to float32. */
export const LOG2_E = 1.4426950216293335;

/*
 * exp computes eˣ = 2ⁿ · eʳ with n = round(x / ln 2) and |r| ≤ ½ ln 2, like expf of Cephes: https://www.netlib.org/cephes/
 */
/** Minimum and maximum operand x of exp. Between these limits, 2ⁿ is a normal float32. */
export const EXP_MIN = -87;
export const EXP_MAX = 88;
/** ln 2 = EXP_LN2_HIGH + EXP_LN2_LOW. The high part has few bits, so its product with n is exact. */
export const EXP_LN2_HIGH = 0.693359375;
export const EXP_LN2_LOW = -2.1219444e-4;
/** Coefficients of eʳ: EXP_P2 belongs to r², EXP_P3 to r³, and so on. */
export const EXP_P2 = 5.0000001201e-1;
export const EXP_P3 = 1.6666665459e-1;
export const EXP_P4 = 4.1665795894e-2;
export const EXP_P5 = 8.3334519073e-3;
export const EXP_P6 = 1.3981999507e-3;
export const EXP_P7 = 1.98756915e-4;

/*
 * GELU is computed as max(x, 0) − t · P(t) with t = min(|x|, limit). P depends only on |x|, because the distance from
 * GELU to ReLU is the same for x and −x. P is a polynomial of degree 8. P(0) is ½, the slope of GELU at 0, and
 * P(limit) is exactly 0. The other coefficients minimize the maximum error (Lawson's iteration).
 */
/**
 * The limit of t, and the coefficients of P(t), for x · Φ(x): GELU_Pn is the coefficient of tⁿ. The error is at most 9 · 10⁻⁵.
 * https://arxiv.org/abs/1606.08415
 */
export const GELU_LIMIT = 4.1599955558776855;
export const GELU_P0 = 0.5;
export const GELU_P1 = -0.39423221349716187;
export const GELU_P2 = -0.020834000781178474;
export const GELU_P3 = 0.09897705167531967;
export const GELU_P4 = -0.020844843238592148;
export const GELU_P5 = -0.0080620888620615;
export const GELU_P6 = 0.004289180971682072;
export const GELU_P7 = -0.0007115280022844672;
export const GELU_P8 = 4.206572339171544e-5;

/**
 * Limit and coefficients for x · ½ · (1 + tanh(√(2/π) · (x + 0.044715 · x³))), with an error of at most 7 · 10⁻⁵. The
 * formula is from the paper that is linked at GELU_LIMIT.
 */
export const FAST_GELU_LIMIT = 4.0399980545043945;
export const FAST_GELU_P0 = 0.5;
export const FAST_GELU_P1 = -0.3950502574443817;
export const FAST_GELU_P2 = -0.017751216888427734;
export const FAST_GELU_P3 = 0.09523866325616837;
export const FAST_GELU_P4 = -0.01841670274734497;
export const FAST_GELU_P5 = -0.009086916223168373;
export const FAST_GELU_P6 = 0.004570500925183296;
export const FAST_GELU_P7 = -0.0007554974872618914;
export const FAST_GELU_P8 = 4.495126268011518e-5;

/*
 * Softmax computes 127 · 2⁻ᵈ in 16-bit fixed-point numbers. d is the distance of a score from its row's maximum.
 */
/** Fixed-point scale: a distance of 1 counts as 4096. */
export const SCORE_PARTS = 4096;
/**
 * Coefficients of 127 · 2⁸ · 2⁻ᶠ ≈ P0 − f·(P1 − f·(P2 − f·P3)) for 0 ≤ f < 1. Lawson's iteration found the best real
 * coefficients. These constants are the best integers near them.
 */
export const SOFTMAX_P0 = 32510;
export const SOFTMAX_P1 = 22467;
export const SOFTMAX_P2 = 7476;
export const SOFTMAX_P3 = 1264;

/**
 * Vectors are divided by at least this norm, so that a zero vector stays zero. The value is the default `eps` of
 * torch.nn.functional.normalize.
 */
export const MIN_NORM = 1e-12;

/*
 * The codes 8 to 15 of a 4-bit table stand for LEVEL_0 to LEVEL_7, and the codes 7 to 0 for the same numbers below zero:
 * 127 · (0.7 · x + 0.3 · x²) for x = 1/15, 3/15, … 1, rounded. Table entries are distributed like normal numbers, so most of
 * them are small, and levels near zero are closer together. With all-MiniLM-L6-v2, this costs 0.0008 of mean cosine, and equal
 * distances cost 0.0010.
 */
export const LEVEL_0 = 6;
export const LEVEL_1 = 19;
export const LEVEL_2 = 34;
export const LEVEL_3 = 50;
export const LEVEL_4 = 67;
export const LEVEL_5 = 86;
export const LEVEL_6 = 106;
export const LEVEL_7 = 127;
