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
