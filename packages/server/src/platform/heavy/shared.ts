/** Text in shared memory: every thread reads it, and none has to be sent a copy. The key names this very text. */
export type SharedText = { readonly key: string; readonly bytes: SharedArrayBuffer }

export function shareText(key: string, text: string): SharedText {
  const bytes = new SharedArrayBuffer(Buffer.byteLength(text))
  Buffer.from(bytes).write(text)
  return { key, bytes }
}

const RETAINED = 16

/** Reads shared texts in a thread, and retains the values that it used last. */
export function createReader<Value>(read: (text: string) => Value): (shared: SharedText) => Value {
  const known = new Map<string, { readonly value: Value }>()
  return ({ key, bytes }) => {
    const found = known.get(key) ?? { value: read(Buffer.from(bytes).toString()) }
    known.delete(key)
    known.set(key, found)
    for (const oldest of known.keys()) {
      if (known.size <= RETAINED) break
      known.delete(oldest)
    }
    return found.value
  }
}
