const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** The cursor of a list in the order of ids: opaque to callers, but actually the last id of the page. */
export function encodeCursor(lastId: string): string {
  return Buffer.from(lastId.replaceAll('-', ''), 'hex').toString('base64url')
}

/** The id to continue after; undefined when the text is not a cursor of ours. */
export function decodeCursor(cursor: string): string | undefined {
  const hex = Buffer.from(cursor, 'base64url').toString('hex')
  const id = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
  return UUID.test(id) ? id : undefined
}
