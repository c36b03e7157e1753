import { isTree, pathText } from '../../../ui/json-lines.ts'
import { leafText } from '@postroad/contract/raw-number'

/** One value of two payloads: only in one of them, changed, or the same. undefined means that it is missing. */
export type Difference = {
  readonly path: string
  readonly kind: 'same' | 'changed' | 'added' | 'removed'
  readonly left: string | undefined
  readonly right: string | undefined
}

/** Two values side by side, leaf by leaf, in the order of the first. Lists are compared place by place. */
export function differencesOf(left: unknown, right: unknown, path: readonly string[] = []): readonly Difference[] {
  if (isTree(left) && isTree(right) && Array.isArray(left) === Array.isArray(right)) {
    const [before, after] = [new Map(Object.entries(left)), new Map(Object.entries(right))]
    const keys = [...before.keys(), ...[...after.keys()].filter((key) => !before.has(key))]
    return keys.flatMap((key) => differencesOf(before.get(key), after.get(key), [...path, key]))
  }
  const [was, is] = [text(left), text(right)]
  const kind = was === is ? 'same' : was === undefined ? 'added' : is === undefined ? 'removed' : 'changed'
  return [{ path: pathText(path), kind, left: was, right: is }]
}

const SHOWN_CHARS = 300

function text(value: unknown): string | undefined {
  if (value === undefined) return undefined
  const whole = isTree(value) || typeof value === 'string' ? JSON.stringify(value) : leafText(value)
  return whole.length > SHOWN_CHARS
    ? `${whole.slice(0, SHOWN_CHARS)}… (${whole.length.toLocaleString('en')} characters)`
    : whole
}
