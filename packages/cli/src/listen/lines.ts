import { ORIGIN_WORDS } from '@postroad/contract/origins'
import { io, say } from '../io.ts'
import { cut, plain } from '../text/plain.ts'
import { style } from '../text/style.ts'
import { duration, moment } from '../text/time.ts'
import { isAnswer } from './forward.ts'
import type { Forwarded, Heard } from './heard.ts'
import type { Note, View } from './listener.ts'

/** One line for each event, once it is answered. */
export function lineView(target: URL): View {
  return {
    arrived: () => undefined,
    answered: (event) => say(eventLine(event)),
    note: (note) => say(paintOf(note)(noteText(note, target))),
    close: () => undefined,
  }
}

/** One line of JSON for each event and each note. */
export function jsonView(): View {
  return {
    arrived: () => undefined,
    answered: (event) => say(JSON.stringify(eventJson(event))),
    note: (note) => say(JSON.stringify({ type: note.kind, ...without(note) })),
    close: () => undefined,
  }
}

const without = ({ kind: _kind, ...rest }: Note): object => rest

export function eventJson(event: Forwarded): object {
  const { id, submission, receivedAt, dataset, endpoint, origin, verification, title, result } = event
  return {
    type: 'forwarded',
    event_id: id,
    submission_id: submission,
    received_at: receivedAt,
    dataset,
    endpoint,
    origin,
    verification,
    title,
    ...(result === undefined
      ? {}
      : isAnswer(result)
        ? { status: result.status, duration_ms: result.ms }
        : { status: null, duration_ms: result.ms, error: result.error }),
  }
}

/** The event in one line, no wider than the terminal. */
export function eventLine(event: Forwarded, width: number = io().stdout.columns ?? Infinity): string {
  const { result } = event
  const status = result === undefined ? '···' : isAnswer(result) ? String(result.status) : 'ERR'
  const took = result === undefined ? '' : duration(result.ms)
  const end = result === undefined || isAnswer(result) ? event.id : result.error
  const rest = `${took.padStart(8)}  ${headOf(event)}  ${end}`
  const time = event.receivedAt.slice(11, 23)
  const shown = cut(rest, Math.max(10, width - time.length - status.length - 4))
  return `${style.dim(time)}  ${paintResult(event)(status)}  ${shown}`
}

const NAME_COLUMNS = 26

/** The title of the event, or the dataset of one without a title, its endpoint or origin, and the state of its verification. */
export function headOf({ title, dataset, endpoint, origin, verification }: Heard): string {
  const sender = endpoint ?? (origin === null ? 'ingest key' : ORIGIN_WORDS[origin.kind])
  const state = origin === null && verification !== null ? `  ${verification}` : ''
  return `${cut(plain(title ?? dataset), NAME_COLUMNS).padEnd(NAME_COLUMNS)}  ${plain(sender)}${state}`
}

export function paintResult({ result }: Forwarded): (text: string) => string {
  if (result === undefined) return style.dim
  if (!isAnswer(result) || result.status >= 500) return style.bad
  return result.status >= 400 ? style.waits : style.good
}

const paintOf = (note: Note): ((text: string) => string) =>
  note.kind === 'gap' ? style.bad : note.kind === 'lost' || note.kind === 'receiver_down' ? style.waits : style.dim

/** A note as a sentence. */
export function noteText(note: Note, target: URL): string {
  switch (note.kind) {
    case 'connected':
      return note.again
        ? `Reconnected after ${duration(note.lost_ms)}. The stream continues after the last event.`
        : 'Connected. Waiting for events.'
    case 'lost':
      return `The connection was lost: ${note.why}. Reconnecting…`
    case 'gap':
      return `GAP: the events from ${moment(note.from)} to ${moment(note.to)} are no longer stored.`
    case 'receiver_down':
      return `${target.href}: ${note.why}. Events wait and are sent when it responds.`
    case 'receiver_up':
      return `${target.href} answers again.`
    case 'stopping':
      return `Waiting for ${note.open} responses. Press Ctrl-C again to stop immediately.`
  }
}
