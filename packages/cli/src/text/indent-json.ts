const TOKENS = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g
const OPENS = /^[{[]$/
const CLOSES = /^[}\]]$/

/** JSON text in a readable layout, otherwise byte for byte: a number that JavaScript would round stays unchanged. */
export function indentJson(text: string): string {
  let out = ''
  let depth = 0
  let before = ''
  for (const token of text.match(TOKENS) ?? []) {
    if (CLOSES.test(token)) depth -= 1
    out += gap(before, token) === 'line' ? `\n${'  '.repeat(depth)}` : ''
    out += token === ':' ? ': ' : token
    if (OPENS.test(token)) depth += 1
    before = token
  }
  return out
}

function gap(before: string, token: string): 'line' | 'none' {
  if (CLOSES.test(token)) return OPENS.test(before) ? 'none' : 'line'
  return before === ',' || OPENS.test(before) ? 'line' : 'none'
}
