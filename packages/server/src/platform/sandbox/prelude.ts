/**
 * The code that runs in the sandbox beside the program: it parses the event, calls `transform`, and writes the result and what the
 * program logged. A program may change what it uses, and then breaks only its own event, because every event starts from an image.
 */
export const PRELUDE = `(() => {
  'use strict'
  const { parse, stringify } = JSON
  const { min, imul } = Math
  const LINES_MAX = 100
  const CHARS_MAX = 2000
  let transform
  let settled
  let lines = []
  let dropped = 0

  for (const name of ['performance', 'SharedArrayBuffer', 'WeakRef', 'FinalizationRegistry']) delete globalThis[name]

  const shown = (value) => {
    if (typeof value === 'string') return value
    if (value instanceof Error) return String(value)
    try {
      const text = stringify(value)
      return text === undefined ? String(value) : text
    } catch {
      return '(a value that cannot be shown)'
    }
  }
  const log = (...values) => {
    if (lines.length >= LINES_MAX) dropped += 1
    else lines[lines.length] = values.map(shown).join(' ').slice(0, CHARS_MAX)
  }
  globalThis.console = { log, debug: log, info: log, warn: log, error: log }

  // Chance follows from the id of the event, so that every attempt makes the same request.
  let state = 1
  Math.random = () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }

  const failed = (error) => {
    let name = ''
    let message = ''
    let stack = ''
    if (error instanceof Error) {
      name = String(error.name)
      message = String(error.message)
      stack = String(error.stack)
    } else message = shown(error)
    settled = { kind: 'threw', name: name.slice(0, 100), message: message.slice(0, CHARS_MAX), stack: stack.slice(0, 4000) }
  }
  const done = (value) => {
    if (value === null) settled = { kind: 'null' }
    else if (value === undefined) settled = { kind: 'nothing' }
    else if (typeof value !== 'object') settled = { kind: 'no_object', type: typeof value }
    else {
      const text = stringify(value)
      settled = text === undefined ? { kind: 'nothing' } : { kind: 'made', text }
    }
  }
  const guarded = (value) => {
    try {
      done(value)
    } catch (error) {
      failed(error)
    }
  }

  globalThis.__take = (found) => {
    if (typeof found === 'function') transform = found
  }
  return {
    take: (exported) => {
      delete globalThis.__take
      if (transform === undefined && typeof exported === 'function') transform = exported
      return transform === undefined ? 'no' : 'yes'
    },
    run: (text, form, seed) => {
      state = seed
      try {
        const event = parse(text)
        const { id, dataset, received_at, data } = event
        if (form === 'data') event.body = data
        else if (form === 'envelope') event.body = { id, dataset, received_at, data }
        const value = transform(event)
        if (value instanceof Promise) value.then(guarded, failed)
        else done(value)
      } catch (error) {
        failed(error)
      }
    },
    // The text of a result is apart, because it is JSON already and can be large.
    report: () => {
      const { text, ...about } = settled ?? { kind: 'unsettled' }
      return stringify({ ...about, lines, dropped })
    },
    text: () => settled.text,
  }
})()`

/** Hands a \`transform\` that is not exported to the prelude. It stays on the last line, so no line of the author moves. */
export const TAKE = "\n;globalThis.__take?.(typeof transform === 'function' ? transform : undefined)"
