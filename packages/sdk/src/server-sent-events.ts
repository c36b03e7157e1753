/** One event of a stream of server-sent events, or only a new id. */
export type Block = { readonly type: string; readonly id: string | undefined; readonly data: string }

/** Divides a stream of text into its events (HTML, "Server-sent events"). A comment becomes a block without data. */
export async function* blocksIn(texts: AsyncIterable<string>): AsyncGenerator<Block> {
  let rest = ''
  let afterReturn = false
  for await (const text of texts) {
    if (text === '') continue
    // A line end of two characters can arrive in two pieces.
    const piece = afterReturn && text.startsWith('\n') ? text.slice(1) : text
    afterReturn = text.endsWith('\r')
    const blocks = (rest + piece.replaceAll(/\r\n?/g, '\n')).split('\n\n')
    rest = blocks.pop() ?? ''
    for (const block of blocks) yield blockOf(block)
  }
}

function blockOf(text: string): Block {
  let type = 'message'
  let id: string | undefined
  const data: string[] = []
  for (const line of text.split('\n')) {
    const at = line.indexOf(':')
    const name = at === -1 ? line : line.slice(0, at)
    const value = at === -1 ? '' : line.slice(at + 1).replace(/^ /, '')
    if (name === 'event') type = value
    if (name === 'id' && !value.includes('\0')) id = value
    if (name === 'data') data.push(value)
  }
  return { type, id, data: data.join('\n') }
}
