/** One line of two texts: in both, only in the old one, or only in the new one. */
export type DiffLine = { readonly kind: 'same' | 'old' | 'new'; readonly text: string }

const CELLS_MAX = 4_000_000

/** The lines that differ between two texts, by their longest common subsequence. Very long parts are shown as replaced. */
export function lineDiff(before: string, after: string): readonly DiffLine[] {
  const old = before.split('\n')
  const now = after.split('\n')
  let start = 0
  while (start < Math.min(old.length, now.length) && old[start] === now[start]) start += 1
  let end = 0
  while (end < Math.min(old.length, now.length) - start && old[old.length - 1 - end] === now[now.length - 1 - end])
    end += 1
  return [
    ...same(old.slice(0, start)),
    ...middle(old.slice(start, old.length - end), now.slice(start, now.length - end)),
    ...same(old.slice(old.length - end)),
  ]
}

const same = (lines: readonly string[]): readonly DiffLine[] => lines.map((text) => ({ kind: 'same', text }))

// oxlint-disable-next-line max-params -- the old and the new lines
function middle(old: readonly string[], now: readonly string[]): readonly DiffLine[] {
  const gone = old.map((text): DiffLine => ({ kind: 'old', text }))
  const come = now.map((text): DiffLine => ({ kind: 'new', text }))
  if (old.length * now.length > CELLS_MAX || old.length === 0 || now.length === 0) return [...gone, ...come]
  const lengths = Array.from({ length: old.length + 1 }, () => new Uint32Array(now.length + 1))
  for (let a = old.length - 1; a >= 0; a -= 1)
    for (let b = now.length - 1; b >= 0; b -= 1)
      set(
        lengths,
        a,
        b,
        old[a] === now[b] ? at(lengths, a + 1, b + 1) + 1 : Math.max(at(lengths, a + 1, b), at(lengths, a, b + 1)),
      )
  const lines: DiffLine[] = []
  let a = 0
  let b = 0
  while (a < old.length && b < now.length) {
    if (old[a] === now[b]) {
      lines.push({ kind: 'same', text: old[a] ?? '' })
      a += 1
      b += 1
    } else if (at(lengths, a + 1, b) >= at(lengths, a, b + 1)) {
      lines.push({ kind: 'old', text: old[a] ?? '' })
      a += 1
    } else {
      lines.push({ kind: 'new', text: now[b] ?? '' })
      b += 1
    }
  }
  return [...lines, ...gone.slice(a), ...come.slice(b)]
}

// oxlint-disable-next-line max-params -- a cell of a table
function at(table: readonly Uint32Array[], a: number, b: number): number {
  return table[a]?.[b] ?? 0
}

// oxlint-disable-next-line max-params -- a cell of a table and its value
function set(table: readonly Uint32Array[], a: number, b: number, value: number): void {
  const row = table[a]
  if (row !== undefined) row[b] = value
}
