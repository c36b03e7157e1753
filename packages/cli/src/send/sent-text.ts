import type { Accepted, RouteAnswer, Routes } from '@postroad/contract'
import { plain } from '../text/plain.ts'
import { style } from '../text/style.ts'
import { fields } from '../text/table.ts'
import { moment } from '../text/time.ts'

export type Decision = RouteAnswer<Routes['submissions']['get']>['submission']['decision']
type Routed = Decision['destinations'][number]
type Failed = NonNullable<Routed['failed']>

export type Sent = {
  readonly accepted: Accepted
  readonly decision: Decision | undefined
  /** The name by which this command line was called, for the hint. */
  readonly next: string
}

/** The stored event, the destinations that get it or do not get it, and the next step. */
export function sentText({ accepted, decision, next }: Sent): string {
  const { id, received_at, records, duplicate } = accepted
  const [first] = records
  const stored: [string, string] = [duplicate ? 'Known' : 'Stored', `${id}  ${style.dim(moment(received_at))}`]
  if (first === undefined) return fields([stored, ['Filed', `nowhere${missedCriteria(decision)}`]])
  return fields([
    stored,
    ['Event', records.map((record) => `${record.id}  ${style.dim(`in ${record.dataset}`)}`).join('\n')],
    ...(decision === undefined ? [] : [destinationsField(decision, next)]),
    ['Next', `${next} events get ${first.id}`],
  ])
}

function missedCriteria(decision: Decision | undefined): string {
  const failed = decision?.criteria?.failed ?? decision?.items?.[0]?.failed
  return failed === null || failed === undefined
    ? ''
    : `, because the criteria of the endpoint require\n${conditionText(failed)}`
}

function destinationsField({ destinations }: Decision, next: string): [string, string] {
  if (destinations.length === 0)
    return ['Goes to', `no destination yet; create one: ${next} destinations create https://…`]
  return ['Goes to', destinations.map(routedText).join('\n')]
}

function routedText(routed: Routed): string {
  const name = plain(routed.destination)
  switch (routed.reason) {
    case 'matched':
      return `→ ${name}`
    case 'dataset_not_subscribed':
      return style.dim(`· not ${name}: it receives other datasets`)
    case 'destination_disabled':
      return style.dim(`· not ${name}: it is turned off`)
    case 'condition_failed':
      return style.dim(
        `· not ${name}: ${routed.failed === null ? 'a condition failed' : `only when ${conditionText(routed.failed)}`}`,
      )
  }
}

function conditionText({ path, op, expected, saw }: Failed): string {
  const wanted = expected === undefined ? '' : ` ${JSON.stringify(expected)}`
  const seen = saw === undefined ? 'there is no such value' : `it is ${JSON.stringify(saw)}`
  return plain(`${path} ${op}${wanted}; ${seen}`)
}
