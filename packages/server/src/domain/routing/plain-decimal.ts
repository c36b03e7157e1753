const PLAIN_DECIMAL = /^[+-]?\d+(?:\.\d+)?$/

/** A plain decimal in text (optional sign, digits, optional fraction, trimmed), or undefined: no hex, no exponent, not empty. */
export function plainDecimal(text: string): number | undefined {
  const trimmed = text.trim()
  return PLAIN_DECIMAL.test(trimmed) ? Number(trimmed) : undefined
}
