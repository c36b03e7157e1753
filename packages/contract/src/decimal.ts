/** Numbers as decimal text of any length, compared without a double, which would round them. */

const DECIMAL = /^([+-]?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i
const PLAIN = /^[+-]?\d+(?:\.\d+)?$/

/** A plain decimal in text (optional sign, digits, optional fraction), trimmed; undefined for hex, exponents, and other text. */
export function plainDecimalText(text: string): string | undefined {
  const trimmed = text.trim()
  return PLAIN.test(trimmed) ? trimmed : undefined
}

/** True when a double is not exactly this number, so that it is compared as its own digits. */
export function isBeyondDouble(decimal: string): boolean {
  return compareDecimals(decimal, String(Number(decimal))) !== 0
}

type Parts = { readonly sign: -1 | 0 | 1; readonly place: number; readonly digits: string }

/** Below zero when `a` is less than `b`, above zero when it is more, and 0 when they are equal: `1.50` and `1.5` are. */
export function compareDecimals(a: string, b: string): number {
  const [left, right] = [partsOf(a), partsOf(b)]
  if (left.sign !== right.sign) return left.sign - right.sign
  if (left.place !== right.place) return left.sign * (left.place - right.place)
  if (left.digits === right.digits) return 0
  return left.digits < right.digits ? -left.sign : left.sign
}

/** A number is `sign × 0.digits × 10^place`, and its digits begin and end with another digit than 0. */
function partsOf(text: string): Parts {
  const [, minus = '', whole = '', fraction = '', exponent = '0'] = DECIMAL.exec(text) ?? []
  const all = `${whole}${fraction}`
  const first = all.search(/[1-9]/)
  if (first === -1) return { sign: 0, place: 0, digits: '' }
  let end = all.length
  while (all[end - 1] === '0') end -= 1
  return {
    sign: minus === '-' ? -1 : 1,
    place: whole.length - first + Number(exponent),
    digits: all.slice(first, end),
  }
}
