import type { RouteAnswer, Routes } from '@postroad/contract'
import { requestTable } from './attempt-text.ts'
import { heldText, nextProbeText } from './text/held.ts'
import { cut, plain, plainLines } from './text/plain.ts'
import { stateStyle, stateText } from './text/state.ts'
import { style } from './text/style.ts'
import { fields, table } from './text/table.ts'
import { duration, listMoment, moment } from './text/time.ts'

type Delivery = RouteAnswer<Routes['deliveries']['get']>['delivery']
type Attempt = Delivery['attempts'][number]

type Shown = {
  /** The name of the destination; undefined when it was deleted. */
  readonly name: string | undefined
  /** The name by which this command line was called, for the hint. */
  readonly next: string
}

const BODY_LINES_MAX = 20
const LINE_COLUMNS_MAX = 400
const ENDED: readonly Delivery['state'][] = ['delivered', 'failed', 'cancelled']

/** A delivery with all its attempts, the last response of the destination, and the next step. */
export function deliveryText(delivery: Delivery, { name, next }: Shown): string {
  const { id, state, pause_reason, record_id, dataset, destination_id, created_at, attempts, event } = delivery
  const why = pause_reason === null ? '' : `: ${pause_reason.replaceAll('_', ' ')}`
  const rows: [string, string][] = [
    ['Delivery', style.strong(id)],
    ['State', stateStyle(delivery)(stateText(delivery)) + why],
    ['Event', `${record_id}  ${style.dim(`in ${dataset}`)}`],
    ...(event.title === null ? [] : [['Title', plain(event.title)] as [string, string]]),
    ['Destination', `${destination_id}  ${style.dim(name === undefined ? 'deleted' : plain(name))}`],
    ['Created', moment(created_at)],
  ]
  rows.push(...waitRows(delivery, next))
  if (ENDED.includes(state)) rows.push(['Next', `${next} deliveries replay ${id}`])
  return [
    fields(rows),
    ...(attempts.length === 0 ? [] : [attemptsTable(attempts)]),
    ...lastRequest(attempts, next),
    ...lastWords(attempts),
  ].join('\n\n')
}

/** Why a delivery waits: the cause at its destination, or its next attempt. A time in the past is shown as "now". */
function waitRows({ destination_id, held_by, next_attempt_at }: Delivery, next: string): [string, string][] {
  if (held_by === null)
    return next_attempt_at === null
      ? []
      : [['Next attempt', Date.parse(next_attempt_at) <= Date.now() ? 'now' : moment(next_attempt_at)]]
  const probe = nextProbeText(held_by)
  const rows: [string, string][] = [['Held by', heldText(held_by)]]
  if (probe !== undefined) rows.push(['Next probe', probe], ['Next', `${next} destinations probe ${destination_id}`])
  return rows
}

function attemptsTable(attempts: readonly Attempt[]): string {
  const paint = (cell: string, row: number): string => (attempts[row]?.outcome === 'failed' ? style.bad(cell) : cell)
  return table([
    { head: '#', cells: attempts.map(({ number }) => String(number)), align: 'right' },
    { head: 'Started (UTC)', cells: attempts.map(({ started_at }) => listMoment(started_at)), paint: style.dim },
    {
      head: 'Took',
      cells: attempts.map(({ duration_ms }) => (duration_ms === null ? '' : duration(duration_ms))),
      align: 'right',
    },
    { head: 'Sent as', cells: attempts.map(({ trigger }) => trigger) },
    { head: 'Answer', cells: attempts.map(outcomeText), least: 12, paint },
    { head: 'Attempt', cells: attempts.map(({ id }) => id), spare: true },
  ])
}

function outcomeText({ outcome, response_status: status, error_code: code }: Attempt): string {
  if (outcome === null) return 'in progress'
  if (outcome === 'interrupted') return 'unknown: the server stopped during the attempt'
  if (outcome === 'succeeded' && status === null) return 'accepted'
  const words = code === null || code === 'bad_status' ? '' : code.replaceAll('_', ' ')
  return [status === null ? '' : String(status), words].filter((part) => part !== '').join(' ')
}

/** The request of the last attempt, as it was sent. */
function lastRequest(attempts: readonly Attempt[], next: string): readonly string[] {
  const last = attempts.at(-1)
  if (last === undefined || last.request === null) return []
  return [`${requestTable(last.request)}\n${style.dim(`Its body: ${next} deliveries attempt ${last.id}`)}`]
}

/** The error of the last attempt as a sentence, and the body of its response, if there are any. */
function lastWords(attempts: readonly Attempt[]): readonly string[] {
  const last = attempts.at(-1)
  const detail = last?.outcome === 'failed' ? (last.error_detail ?? '') : ''
  const body = last?.response_body?.trim() ?? ''
  return [
    ...(detail === '' ? [] : [plain(detail)]),
    ...(body === '' ? [] : [`${style.dim('The last response')}\n${excerpt(body)}`]),
  ]
}

function excerpt(body: string): string {
  const lines = plainLines(body)
    .split('\n')
    .map((line) => cut(line, LINE_COLUMNS_MAX))
  return lines.length <= BODY_LINES_MAX
    ? lines.join('\n')
    : [...lines.slice(0, BODY_LINES_MAX), style.dim('… add --json for the rest')].join('\n')
}
