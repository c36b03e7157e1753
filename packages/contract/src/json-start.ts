/** Completes the first part of a JSON text: complete members stay, and a member that was cut off is left out. */

const CLOSERS: Readonly<Record<string, string>> = { '{': '}', '[': ']' }

/** Returns undefined when the text does not start with an object or a list. */
export function closedJson(start: string): string | undefined {
  const open: string[] = []
  // Changes with each bracket or comma outside strings, so that `end` and `open` always fit together.
  let end = 0
  for (let at = 0; at < start.length; at += 1) {
    const letter = start.charAt(at)
    const closer = CLOSERS[letter]
    if (letter === '"') {
      at = endOfString(start, at)
    } else if (closer !== undefined) {
      open.push(closer)
      end = at + 1
    } else if (letter === '}' || letter === ']') {
      open.pop()
      end = at + 1
    } else if (letter === ',') end = at
    if (open.length === 0 && letter.trim() !== '') break
  }
  return end === 0 ? undefined : start.slice(0, end) + open.toReversed().join('')
}

/** The end of the string that starts at `from`; the end of the text when the string is cut off. */
function endOfString(text: string, from: number): number {
  for (let at = from + 1; at < text.length; at += 1) {
    const letter = text.charAt(at)
    if (letter === '\\') at += 1
    else if (letter === '"') return at
  }
  return text.length
}
