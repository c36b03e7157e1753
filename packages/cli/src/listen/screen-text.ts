import { ORIGIN_WORDS } from '@postroad/contract/origins'
import { indentJson } from '../text/indent-json.ts'
import { cut, plain, plainLines } from '../text/plain.ts'
import { style } from '../text/style.ts'
import { duration, moment } from '../text/time.ts'
import { isAnswer } from './forward.ts'
import type { Forwarded } from './heard.ts'
import { eventLine } from './lines.ts'

export type Screen = {
  /** Oldest first. */
  readonly events: readonly Forwarded[]
  /** The selected event; the newest one while `follows`. */
  readonly selected: number
  readonly follows: boolean
  readonly open: boolean
  /** The first line of the details that is shown. */
  readonly scroll: number
  readonly title: string
  readonly note: string
  readonly counts: { readonly answered: number; readonly failed: number; readonly dropped: number }
}

export type Size = { readonly columns: number; readonly rows: number }

const HEAD_ROWS = 2
const FOOT_ROWS = 1

/** The lines of the whole screen: as many as it has rows, and none wider than it. */
export function screenLines(screen: Screen, { columns, rows }: Size): readonly string[] {
  const room = Math.max(1, rows - HEAD_ROWS - FOOT_ROWS)
  const body = screen.open ? detailPart(screen, { columns, rows: room }) : listPart(screen, { columns, rows: room })
  const { answered, failed } = screen.counts
  const state = `${answered} answered${failed === 0 ? '' : `, ${failed} failed`}${screen.follows ? '' : '  (paused: End follows again)'}`
  return [
    style.strong(cut(screen.title, columns)),
    style.dim(cut(screen.note === '' ? state : `${state}  ${screen.note}`, columns)),
    ...body,
    ...Array.from({ length: Math.max(0, room - body.length) }, () => ''),
    style.dim(cut(screen.open ? DETAIL_KEYS : LIST_KEYS, columns)),
  ]
}

const LIST_KEYS = '↑↓ select   Enter details   r resend   End follow   q quit'
const DETAIL_KEYS = '↑↓ scroll   Esc list   r resend   q quit'

function listPart({ events, selected }: Screen, { columns, rows }: Size): readonly string[] {
  if (events.length === 0)
    return ['', cut('  Waiting for events. Send one from another terminal: postroad send', columns)]
  // The selected event is always visible; the newest ones are at the bottom.
  const first = Math.max(0, Math.min(selected, events.length - rows, selected))
  const from = selected >= events.length - rows ? Math.max(0, events.length - rows) : first
  return events.slice(from, from + rows).map((event, at) => {
    const line = eventLine(event, columns - 2)
    return from + at === selected ? `${style.strong('›')} ${line}` : `  ${line}`
  })
}

function detailPart({ events, selected, scroll }: Screen, { columns, rows }: Size): readonly string[] {
  const event = events[selected]
  if (event === undefined) return []
  const lines = detailLines(event)
  const from = Math.min(scroll, Math.max(0, lines.length - rows))
  return lines.slice(from, from + rows).map((line) => cut(line, columns))
}

/** The request and the answer, as they were received. */
export function detailLines(event: Forwarded): readonly string[] {
  const { id, submission, receivedAt, dataset, endpoint, origin, verification, title, out, result, sends } = event
  const type = out.headers['content-type'] ?? ''
  return [
    `Event     ${id}`,
    `Request   ${submission}`,
    `Received  ${moment(receivedAt)}`,
    `Dataset   ${plain(dataset)}`,
    origin === null
      ? `Endpoint  ${plain(endpoint ?? 'none: it arrived with an ingest key')}`
      : `Made by   ${ORIGIN_WORDS[origin.kind]} ${origin.id}`,
    ...(origin !== null || verification === null ? [] : [`Sender    ${verification}`]),
    ...(title === null ? [] : [`Title     ${plain(title)}`]),
    ...(out.query === '' ? [] : [`Query     ${plain(out.query)}`]),
    `Answer    ${answerText(result)}${sends > 1 ? `, sent ${sends} times` : ''}`,
    '',
    ...Object.entries(out.headers).map(([name, value]) => `${name}: ${plain(value)}`),
    '',
    ...bodyLines(out.body.toString(), type),
    ...(result === undefined || !isAnswer(result)
      ? []
      : ['', 'The answer', ...bodyLines(result.body, result.headers['content-type'] ?? '')]),
  ]
}

function answerText(result: Forwarded['result']): string {
  if (result === undefined) return 'none yet'
  return isAnswer(result) ? `${result.status} in ${duration(result.ms)}` : plain(result.error)
}

function bodyLines(text: string, type: string): readonly string[] {
  if (text === '') return ['(no body)']
  return plainLines(/json/.test(type) ? indented(text) : text).split('\n')
}

function indented(text: string): string {
  try {
    JSON.parse(text)
    return indentJson(text)
  } catch {
    return text
  }
}
