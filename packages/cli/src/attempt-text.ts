import type { RouteAnswer, Routes } from '@postroad/contract'
import { plainLines } from './text/plain.ts'
import { style } from './text/style.ts'
import { fields, table } from './text/table.ts'
import { moment } from './text/time.ts'

type Answer = RouteAnswer<Routes['attempts']['get']>
type Request = NonNullable<Answer['attempt']['request']>

/** One attempt: the request as it was sent, and its body if it can be rendered. */
export function attemptText({ attempt, body }: Answer): string {
  const { id, delivery_id, number, started_at, request, outcome, response_status, error_code } = attempt
  // A destination beyond HTTP has no status.
  const without = outcome === 'succeeded' ? 'accepted' : (error_code?.replaceAll('_', ' ') ?? 'none')
  const head = fields([
    ['Attempt', `${style.strong(id)}  ${style.dim(`number ${number}`)}`],
    ['Delivery', delivery_id],
    ['Started', moment(started_at)],
    ['Answer', response_status === null ? without : String(response_status)],
  ])
  if (request === null) return [head, 'Postroad stored no request for this attempt.'].join('\n\n')
  return [head, requestTable(request), ...(body === null ? [] : bodyLines(body))].join('\n\n')
}

/** The URL, the headers, and the size and digest of the body. */
export function requestTable({ method, url, headers, body_bytes, body_sha256, ...body }: Request): string {
  const form = [body.body_form, body.body_reason && REASONS[body.body_reason]].filter((one) => one !== null).join(': ')
  const rows = [
    ...Object.entries(headers),
    ...(form === '' ? [] : [['form', form] as const]),
    ['body', `${body_bytes} bytes`],
    ['SHA-256', body_sha256],
  ] as const
  return table([
    { head: method, cells: rows.map(([name = '']) => name), paint: style.dim },
    { head: url, cells: rows.map(([, value = '']) => value), least: 20 },
  ])
}

const REASONS = { mapped: 'a mapping made the record', no_request: 'no sender sent the event' } as const

const DIFFERENCES = {
  template_changed: 'The template or the transform has changed. Postroad sent a different body.',
  template_failed: 'The template or the transform has changed and no longer renders this event.',
  destination_deleted: 'The destination and its template were deleted, so the body cannot be shown.',
} as const

function bodyLines({ text, difference }: NonNullable<Answer['body']>): readonly string[] {
  const note = difference === null ? 'Postroad sent this body.' : DIFFERENCES[difference]
  return [note, ...(text === null ? [] : [plainLines(text)])]
}
