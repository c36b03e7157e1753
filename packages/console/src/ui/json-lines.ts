import { RawNumber } from '@postroad/contract/raw-number'

export type JsonLine = {
  /** The steps to the value; a closing line has the steps of the value that it closes. */
  readonly path: readonly string[]
  readonly depth: number
  /** The key before the value; undefined in lists and at the root. */
  readonly name: string | undefined
  readonly kind: 'open' | 'close' | 'folded' | 'leaf'
  readonly value: unknown
  readonly last: boolean
}

/** A value as lines; a value whose path is in `folded` takes one line. */
export function linesOf(value: unknown, folded: ReadonlySet<string>): readonly JsonLine[] {
  const lines: JsonLine[] = []
  write(lines, folded, { path: [], depth: 0, name: undefined, value, last: true })
  return lines
}

type At = Pick<JsonLine, 'path' | 'depth' | 'name' | 'value' | 'last'>

function write(lines: JsonLine[], folded: ReadonlySet<string>, at: At): void {
  const { value, path, depth } = at
  if (!isTree(value) || sizeOf(value) === 0) {
    lines.push({ ...at, kind: 'leaf' })
    return
  }
  if (folded.has(pathText(path))) {
    lines.push({ ...at, kind: 'folded' })
    return
  }
  lines.push({ ...at, kind: 'open' })
  const entries = Object.entries(value)
  for (const [index, [key, child]] of entries.entries()) {
    write(lines, folded, {
      path: [...path, key],
      depth: depth + 1,
      name: Array.isArray(value) ? undefined : key,
      value: child,
      last: index === entries.length - 1,
    })
  }
  lines.push({ ...at, kind: 'close' })
}

export function isTree(value: unknown): value is readonly unknown[] | Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !(value instanceof RawNumber)
}

export function sizeOf(value: readonly unknown[] | Readonly<Record<string, unknown>>): number {
  return Array.isArray(value) ? value.length : Object.keys(value).length
}

/** The dot path of the Condition dialect; a literal dot in a key is `\.`, and a first key `$request` is `\$request`. */
export function pathText(path: readonly string[]): string {
  const text = path.map((step) => step.replaceAll('\\', '\\\\').replaceAll('.', String.raw`\.`)).join('.')
  return path[0] === '$request' ? `\\${text}` : text
}
