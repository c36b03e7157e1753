/** The steps of a dot path: `items.0.id` → `['items', '0', 'id']`; `\.` is a dot in a key, `\\` a backslash. */
export function splitPath(path: string): readonly string[] {
  const steps: string[] = []
  let step = ''
  for (let at = 0; at < path.length; at += 1) {
    const char = path.charAt(at)
    const next = path.charAt(at + 1)
    if (char === '\\' && (next === '.' || next === '\\')) {
      step += next
      at += 1
    } else if (char === '.') {
      steps.push(step)
      step = ''
    } else {
      step += char
    }
  }
  steps.push(step)
  return steps
}

export const PATH_PROBLEMS = {
  empty: 'A path may not be empty; write one such as "items.0.id".',
  emptyStep: 'A path may not have an empty step; write a literal dot as "\\.".',
} as const

/** The problem with a dot path, in a sentence; undefined: it is valid. The limit of its length is checked separately. */
export function pathProblem(path: string): string | undefined {
  if (path === '') return PATH_PROBLEMS.empty
  return splitPath(path).includes('') ? PATH_PROBLEMS.emptyStep : undefined
}
