/** Sets of UTF-16 code units: each item of a pattern matches one code unit, because patterns have no `u` flag. */

export type UnitRange = readonly [first: number, last: number]

const UNIT_MAX = 0xffff
const ASCII_UNITS = 128

export class CodeUnits {
  /** In rising order, with a gap between any two of them. */
  readonly ranges: readonly UnitRange[]
  readonly #ascii = new Uint8Array(ASCII_UNITS)

  constructor(ranges: readonly UnitRange[]) {
    this.ranges = joined(ranges)
    for (const [first, last] of this.ranges) this.#ascii.fill(1, first, Math.min(last + 1, ASCII_UNITS))
  }

  has(unit: number): boolean {
    if (unit < ASCII_UNITS) return this.#ascii[unit] === 1
    let low = 0
    let high = this.ranges.length
    while (low < high) {
      const middle = (low + high) >>> 1
      const [first = 0, last = 0] = this.ranges[middle] ?? []
      if (unit < first) high = middle
      else if (unit > last) low = middle + 1
      else return true
    }
    return false
  }

  /** The code unit of the set, if it has exactly one. */
  get single(): number | undefined {
    const [range, second] = this.ranges
    return range !== undefined && second === undefined && range[0] === range[1] ? range[0] : undefined
  }

  complement(): CodeUnits {
    const gaps: UnitRange[] = []
    let from = 0
    for (const [first, last] of this.ranges) {
      if (first > from) gaps.push([from, first - 1])
      from = last + 1
    }
    if (from <= UNIT_MAX) gaps.push([from, UNIT_MAX])
    return new CodeUnits(gaps)
  }

  /** The set plus every code unit that JavaScript's `i` flag treats as equal to one in the set. */
  withOtherCases(): CodeUnits {
    const { units, ofSameLetter } = letters()
    const letterUnits = this.ranges.flatMap(([first, last]) =>
      units.slice(indexFrom(units, first), indexFrom(units, last + 1)),
    )
    const added = letterUnits.flatMap((unit) => ofSameLetter.get(unit) ?? []).filter((unit) => !this.has(unit))
    return added.length === 0 ? this : new CodeUnits([...this.ranges, ...added.map(only)])
  }
}

export function only(unit: number): UnitRange {
  return [unit, unit]
}

export const DIGITS = new CodeUnits([[0x30, 0x39]])
export const WORD_UNITS = new CodeUnits([[0x30, 0x39], [0x41, 0x5a], only(0x5f), [0x61, 0x7a]])
export const LINE_TERMINATORS = new CodeUnits([only(0x0a), only(0x0d), [0x2028, 0x2029]])
export const SPACES = new CodeUnits([
  [0x09, 0x0d],
  only(0x20),
  only(0xa0),
  only(0x1680),
  [0x2000, 0x200a],
  [0x2028, 0x2029],
  only(0x202f),
  only(0x205f),
  only(0x3000),
  only(0xfeff),
])

function joined(ranges: readonly UnitRange[]): readonly UnitRange[] {
  const result: UnitRange[] = []
  for (const [first, last] of ranges.toSorted((a, b) => a[0] - b[0])) {
    const before = result.at(-1)
    if (before === undefined || first > before[1] + 1) result.push([first, last])
    else if (last > before[1]) result[result.length - 1] = [before[0], last]
  }
  return result
}

/**
 * The code units of letters that have more than one code unit, in rising order; and for each of them, all code units of its
 * letter.
 */
type Letters = { readonly units: readonly number[]; readonly ofSameLetter: ReadonlyMap<number, readonly number[]> }

let known: Letters | undefined

/** Built for the first pattern that ignores case, because reading all code units takes some milliseconds. */
function letters(): Letters {
  known ??= readLetters()
  return known
}

function readLetters(): Letters {
  const byUpperCase = new Map<number, number[]>()
  for (let unit = 0; unit <= UNIT_MAX; unit += 1) {
    const upper = upperCaseOf(unit)
    const same = byUpperCase.get(upper)
    if (same === undefined) byUpperCase.set(upper, [unit])
    else same.push(unit)
  }
  const ofSameLetter = new Map<number, readonly number[]>()
  for (const same of byUpperCase.values()) {
    if (same.length > 1) for (const unit of same) ofSameLetter.set(unit, same)
  }
  return { units: [...ofSameLetter.keys()].toSorted((a, b) => a - b), ofSameLetter }
}

/** The index of the first unit that is `from` or greater. */
function indexFrom(units: readonly number[], from: number): number {
  let low = 0
  let high = units.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((units[middle] ?? 0) < from) low = middle + 1
    else high = middle
  }
  return low
}

/** The language's Canonicalize without `u`: a unit stays if its upper case needs two units or would become ASCII. */
function upperCaseOf(unit: number): number {
  const upper = String.fromCharCode(unit).toUpperCase()
  const first = upper.charCodeAt(0)
  return upper.length !== 1 || (unit >= ASCII_UNITS && first < ASCII_UNITS) ? unit : first
}
