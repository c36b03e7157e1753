import type { Decision, RouteAnswer, Routes } from '@postroad/contract'
import { holdText } from '@postroad/contract/holds'
import { wordOf } from '@postroad/contract/lights'
import { SCHEME_NAMES } from '@postroad/contract/schemes'
import { signOf } from '@postroad/contract/filter'
import { toneOf } from '../../../data/tone.ts'
import { makerOf } from '../../../parts/event-origin.ts'
import type { Tone } from '../../../ui/glyph.tsx'

export type Answer = RouteAnswer<Routes['search']['correlate']>
/** The story of one event. */
export type Story = Answer & { readonly submission: NonNullable<Answer['submission']> }

export const isStory = (answer: Answer): answer is Story => answer.submission !== null

export type StoryDelivery = Story['deliveries'][number]
type Failure = NonNullable<NonNullable<Decision['criteria']>['failed']>

export type Bar = { readonly fromMs: number; readonly toMs: number; readonly kind: 'ok' | 'fail' | 'sending' }

/** One line of the path of an event. Times start when the first byte was read. */
export type Step = {
  readonly id: string
  readonly tone: Tone
  readonly title: string
  readonly text: string
  /** The resource that the text ends with, on its screen. */
  readonly link?: { readonly screen: string; readonly id: string; readonly text: string }
  readonly codes?: readonly { readonly text: string; readonly good: boolean }[]
  readonly nextAt?: string | null
  readonly nextText?: string
  readonly tookMs: number | null
  readonly bars: readonly Bar[]
  /** A rule, criterion or destination that did not match. */
  readonly missed?: boolean
}

/** Received, verified, filed, routed, and one line for each destination, matched or not, on one clock. An event with an origin has no request to verify. */
export function stepsOf(story: Story, webhookName: (id: string) => string): readonly Step[] {
  const { submission, records, deliveries } = story
  const zero = Date.parse(submission.received_at)
  const arrived = story.timeline.find(({ kind }) => kind === 'submission')?.duration_ms ?? 0
  const plain = { tookMs: null, bars: [] } as const
  // One commit stores the submission, its records and its deliveries.
  const stored = { tookMs: arrived, bars: [] } as const
  return [
    ...arrivalOf(submission, { arrived, webhookName }),
    {
      ...(records.length > 0 ? stored : plain),
      id: 'filed',
      tone: records.length > 0 ? 'ok' : 'rejected',
      title: 'Dataset',
      text:
        records.length > 0
          ? `stored in ${[...new Set(records.map(({ dataset }) => dataset))].join(', ')}`
          : 'in no dataset, because nothing matched',
    },
    {
      ...(deliveries.length > 0 ? stored : plain),
      id: 'routed',
      tone: deliveries.length > 0 ? 'ok' : 'none',
      title: 'Routed',
      text: routedText(submission.decision, deliveries.length),
    },
    ...deliveries.map((delivery) => deliveryStep(delivery, { zero, name: nameIn(submission.decision, delivery) })),
    ...missesOf(submission.decision),
  ]
}

/** How the event came to be: the part of the project that made it, or its request and the signature of that. */
function arrivalOf(
  { origin, webhook_id, verified_scheme: scheme, verification }: Story['submission'],
  { arrived, webhookName }: { readonly arrived: number; readonly webhookName: (id: string) => string },
): readonly Step[] {
  const bars = [{ fromMs: 0, toMs: Math.max(1, arrived), kind: 'ok' }] as const
  if (origin !== null) {
    return [
      {
        id: 'received',
        tone: 'ok',
        title: 'Made',
        text: madeBy(origin.kind),
        link: makerOf(origin),
        tookMs: arrived,
        bars,
      },
    ]
  }
  const target = webhook_id === null ? 'with an ingest key' : `to endpoint “${webhookName(webhook_id)}”`
  const tone = verification === 'unattempted' ? 'none' : 'ok'
  return [
    { id: 'received', tone: 'ok', title: 'Received', text: `POST ${target}`, tookMs: arrived, bars },
    {
      id: 'verified',
      tone,
      title: STATES[verification],
      text: verifiedText({ verified_scheme: scheme, verification }),
      tookMs: null,
      bars: [],
    },
  ]
}

/** `by an AI run`, without the noun, which is a link. */
const madeBy = (kind: string): string => (kind === 'ai_run' ? 'by an' : 'by a')

/** How far the sender is proven. */
const STATES = { verified: 'Verified', authenticated: 'Authenticated', unattempted: 'Unattempted' } as const

function verifiedText({
  verified_scheme: scheme,
  verification,
}: Pick<Story['submission'], 'verified_scheme' | 'verification'>): string {
  if (scheme === 'none') return 'no signature required'
  return scheme === 'service_signature'
    ? 'signature of the ingest key'
    : `${SCHEME_NAMES[scheme]}${verification === 'verified' ? ' signature' : ''}`
}

function routedText({ rules = [] }: Decision, deliveries: number): string {
  const matched = rules.filter((rule) => rule.matched).length
  const byRules = rules.length === 0 ? '' : `${matched} of ${rules.length} ${rules.length === 1 ? 'rule' : 'rules'}, `
  return `${byRules}${deliveries === 0 ? 'no destination' : `${deliveries} ${deliveries === 1 ? 'destination' : 'destinations'}`}`
}

function nameIn({ destinations }: Decision, { destination_id }: StoryDelivery): string {
  return destinations.find((one) => one.destination_id === destination_id)?.destination ?? destination_id
}

function deliveryStep(delivery: StoryDelivery, { zero, name }: { readonly zero: number; readonly name: string }): Step {
  const { id, state, attempts, next_attempt_at, pause_reason, held_by, duration_ms } = delivery
  const text =
    held_by !== null
      ? `held: ${holdText(held_by)}`
      : state === 'paused'
        ? `paused: ${(pause_reason ?? '').replaceAll('_', ' ')}`
        : attempts.length === 0 || state === 'cancelled'
          ? wordOf(state)
          : ''
  return {
    id,
    tone: toneOf(delivery),
    title: name,
    text,
    codes: codesOf(attempts),
    nextAt: held_by !== null ? held_by.next_probe_at : state === 'retrying' ? next_attempt_at : null,
    nextText: held_by === null ? 'next attempt' : ', next probe',
    tookMs: state === 'delivered' ? duration_ms : null,
    bars: attempts.map(({ started_at, duration_ms: ms, outcome }) => {
      const fromMs = Math.max(0, Date.parse(started_at) - zero)
      return {
        fromMs,
        toMs: fromMs + Math.max(1, ms ?? 1),
        kind: outcome === 'succeeded' ? 'ok' : outcome === null ? 'sending' : 'fail',
      }
    }),
  }
}

const CODES_SHOWN = 4

/** The responses to the last attempts. Equal ones in a row appear once: `503 ×2`. */
function codesOf(attempts: StoryDelivery['attempts']): NonNullable<Step['codes']> {
  const codes: { readonly text: string; readonly good: boolean; times: number }[] = []
  for (const { response_status, error_code, outcome } of attempts) {
    const text = String(response_status ?? error_code?.replaceAll('_', ' ') ?? (outcome === null ? 'sending' : outcome))
    const last = codes.at(-1)
    if (last?.text === text) last.times += 1
    else codes.push({ text, good: outcome === 'succeeded', times: 1 })
  }
  return codes
    .slice(-CODES_SHOWN)
    .map(({ text, good, times }) => ({ text: times === 1 ? text : `${text} ×${times}`, good }))
}

function miss(id: string, title: string, text: string): Step {
  return { id, tone: 'rejected', title, text, tookMs: null, bars: [], missed: true }
}

/** The items, rules and destinations that did not match, each with the condition that failed. */
function missesOf({ criteria, items = [], rules = [], destinations }: Decision): readonly Step[] {
  return [
    ...(criteria?.matched === false ? [miss('criteria', 'Criteria', failureSentence(criteria.failed))] : []),
    ...missedItems(items),
    ...rules
      .filter(({ matched }) => !matched)
      .map(({ rule_id, rule, failed }) => miss(rule_id, rule, failureSentence(failed))),
    ...destinations
      .filter(({ matched }) => !matched)
      .map(({ destination_id, destination, reason, failed, record_id }) =>
        miss(
          `${destination_id}-${record_id}`,
          destination,
          failed === null ? REASONS[reason] : failureSentence(failed),
        ),
      ),
  ]
}

const ITEMS_NAMED = 3

/** Items of one list that failed for one reason are one line. People count from 1. */
function missedItems(items: NonNullable<Decision['items']>): readonly Step[] {
  const alike = Map.groupBy(
    items.filter(({ matched }) => !matched),
    ({ failed }) => failureSentence(failed),
  )
  return [...alike].map(([sentence, group]) => {
    const named = group.slice(0, ITEMS_NAMED).map(({ index }) => index + 1)
    const title = group.length === 1 ? `Item ${named.join()}` : `Items ${named.join(', ')}`
    const others = group.length > ITEMS_NAMED ? `and ${group.length - ITEMS_NAMED} more: ` : ''
    return miss(`item-${named[0]}`, title, `${others}${sentence}`)
  })
}

const REASONS: Readonly<Record<Decision['destinations'][number]['reason'], string>> = {
  matched: 'matched',
  dataset_not_subscribed: 'does not receive this dataset',
  condition_failed: 'a condition did not match',
  destination_disabled: 'was turned off',
}

/** `data.amount > 1000, saw 42`. */
function failureSentence(failed: Failure | null): string {
  if (failed === null) return 'did not match'
  const wanted = failed.op === 'exists' ? 'exists' : `${signOf(failed.op)} ${shown(failed.expected)}`
  return `wanted ${failed.path} ${wanted}, saw ${'saw' in failed && failed.saw !== undefined ? shown(failed.saw) : 'nothing there'}`
}

function shown(value: unknown): string {
  const text = typeof value === 'string' ? `“${value}”` : JSON.stringify(value)
  return text.length > 60 ? `${text.slice(0, 60)}…` : text
}

/** The least time that the whole line shows, so that a bar of less than a millisecond does not fill it. */
const DRAWN_MIN_MS = 40

/** The place of a moment on the line, 0 to 1. Waits between attempts are cut short, so that the attempts stay visible. */
export function scaleOf(steps: readonly Step[]): {
  readonly at: (ms: number) => number
  readonly cuts: readonly number[]
} {
  const bars = steps.flatMap((step) => step.bars).toSorted((a, b) => a.fromMs - b.fromMs)
  const spans: { from: number; to: number }[] = []
  for (const { fromMs, toMs } of bars) {
    const last = spans.at(-1)
    if (last !== undefined && fromMs <= last.to + Math.max(200, (last.to - last.from) * 0.6))
      last.to = Math.max(last.to, toMs)
    else spans.push({ from: fromMs, to: toMs })
  }
  const cut = Math.min(0.12, 0.5 / Math.max(1, spans.length - 1))
  const drawn = Math.max(
    DRAWN_MIN_MS,
    spans.reduce((sum, { from, to }) => sum + Math.max(1, to - from), 0),
  )
  const room = Math.max(0.3, 1 - cut * spans.length)
  const starts = spans.map((_span, index) =>
    spans.slice(0, index).reduce((sum, { from, to }) => sum + (Math.max(1, to - from) / drawn) * room + cut, 0),
  )
  return {
    cuts: starts.slice(1).map((start) => start - cut / 2),
    at: (ms) => {
      const index = Math.max(
        0,
        spans.findLastIndex(({ from }) => from <= ms),
      )
      const span = spans[index] ?? { from: 0, to: 1 }
      return Math.min(1, (starts[index] ?? 0) + ((Math.min(ms, span.to) - span.from) / drawn) * room)
    },
  }
}
