/** The steps of a dot path: `items.0.id` → `['items', '0', 'id']`; `\.` is a dot in a key, `\\` a backslash. */
export function splitPath(path: string): readonly string[] {
  const steps: string[] = []
  let step = ''
  for (let at = 0; at < path.length; at += 1) {
    const letter = path.charAt(at)
    const next = path.charAt(at + 1)
    if (letter === '\\' && (next === '.' || next === '\\')) {
      step += next
      at += 1
    } else if (letter === '.') {
      steps.push(step)
      step = ''
    } else {
      step += letter
    }
  }
  steps.push(step)
  return steps
}
