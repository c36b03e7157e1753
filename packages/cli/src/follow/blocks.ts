/** One block of server-sent events. `data` is undefined in a block that is only a comment or a cursor. */
export type EventBlock = { readonly id: string | undefined; readonly event: string; readonly data: string | undefined }

/** Reads blocks of the standard in the form that this server writes: one line for each field, and `\n` as line end. */
export async function* blocksOf(chunks: AsyncIterable<string>): AsyncGenerator<EventBlock> {
  let rest = ''
  for await (const chunk of chunks) {
    // A block of megabytes is searched only at its end, not again with every piece of it.
    let from = Math.max(0, rest.length - 1)
    rest += chunk
    for (let end = rest.indexOf('\n\n', from); end >= 0; end = rest.indexOf('\n\n', from)) {
      yield blockOf(rest.slice(0, end))
      rest = rest.slice(end + 2)
      from = 0
    }
  }
}

function blockOf(text: string): EventBlock {
  let id: string | undefined
  let event = 'message'
  let data: string | undefined
  for (const line of text.split('\n')) {
    const colon = line.indexOf(':')
    const name = colon < 0 ? line : line.slice(0, colon)
    const value = colon < 0 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1)
    if (name === 'id') id = value
    else if (name === 'event') event = value
    else if (name === 'data') data = value
  }
  return { id, event, data }
}
