import { LIMITS, type RouteRequest, type Routes } from '@postroad/contract'
import { pathProblem } from '@postroad/contract/dot-path'
import type { Destination } from '../../../data/lists.ts'
import { draftOf, sentOf, type ConditionDraft } from '../../../parts/condition-draft.ts'
import { headersIn, headersText } from '../../../parts/headers-text.ts'
import { listIn } from '../../../parts/text-list.ts'
import { readSchedule, scheduleText } from './schedule-text.ts'

type SigningHeader = Destination['signing']['header']
type SigningScheme = Destination['signing']['scheme']
type RatePer = NonNullable<Destination['rate_limit']>['per']

/** A destination in a form. */
export type DestinationDraft = {
  readonly name: string
  readonly url: string
  /** The config as JSON; empty for the kind http. */
  readonly config: string
  /** null: every dataset. */
  readonly datasets: string | null
  readonly conditions: readonly ConditionDraft[]
  /** `Name: value`, one a line. */
  readonly headers: string
  /** null: the default schedule. */
  readonly schedule: string | null
  readonly timeoutMs: string
  readonly maxInFlight: string
  /** '' : no limit. */
  readonly rateCount: string
  readonly ratePer: RatePer
  /** The most events in a request; '': one. Only for the kind http. */
  readonly batchMax: string
  readonly batchLingerMs: string
  /** The path of the ordering key; null: side by side. */
  readonly orderPath: string | null
  readonly signing: SigningHeader
  readonly scheme: SigningScheme
}

export const NEW_DRAFT: DestinationDraft = {
  name: '',
  url: '',
  config: '',
  datasets: null,
  conditions: [],
  headers: '',
  schedule: null,
  timeoutMs: String(LIMITS.deliveryTimeoutMsDefault),
  maxInFlight: String(LIMITS.maxInFlightDefault),
  rateCount: '',
  ratePer: 'second',
  batchMax: '',
  batchLingerMs: '1000',
  orderPath: null,
  signing: 'both',
  scheme: 'hmac',
}

export function draftOfDestination({
  name,
  url,
  config,
  datasets,
  conditions,
  headers,
  retry,
  timeout_ms,
  max_in_flight,
  rate_limit,
  ordering,
  signing,
}: Destination): DestinationDraft {
  return {
    name,
    url,
    config: config.kind === 'http' ? '' : JSON.stringify(config, undefined, 2),
    datasets: datasets?.join(', ') ?? null,
    conditions: conditions.map(draftOf),
    headers: headersText(headers),
    schedule: retry.schedule_seconds === null ? null : scheduleText(retry.schedule_seconds),
    timeoutMs: String(timeout_ms),
    maxInFlight: String(max_in_flight),
    rateCount: rate_limit === null ? '' : String(rate_limit.count),
    ratePer: rate_limit?.per ?? 'second',
    batchMax: config.kind === 'http' && config.batch !== undefined ? String(config.batch.max) : '',
    batchLingerMs: config.kind === 'http' && config.batch !== undefined ? String(config.batch.linger_ms) : '1000',
    orderPath: ordering === 'none' ? null : ordering.path,
    signing: signing.header,
    scheme: signing.scheme,
  }
}

/** ed25519 signs only the Standard Webhooks headers. */
function headerFor({ signing, scheme }: DestinationDraft): SigningHeader {
  if (scheme === 'ed25519') return 'standard'
  return scheme === 'both' && signing === 'service' ? 'both' : signing
}

type Body = RouteRequest<Routes['destinations']['create']>

/** The request body of a draft, or the sentence about its fault. The server checks the rest. */
export function bodyOf(draft: DestinationDraft): { readonly body: Body } | { readonly problem: string } {
  const headers = headersIn(draft.headers)
  if (typeof headers === 'string') return { problem: headers }
  const schedule = draft.schedule === null ? null : readSchedule(draft.schedule)
  if (schedule !== null && 'problem' in schedule) return schedule
  const datasets = draft.datasets === null ? null : listIn(draft.datasets)
  if (datasets?.length === 0) return { problem: 'Enter at least one dataset, or choose all datasets.' }
  const config = configIn(draft)
  if (config === undefined)
    return { problem: 'The configuration is not valid JSON. Check the commas, quotation marks and braces.' }
  const orderPath = draft.orderPath?.trim() ?? null
  const wrongPath = orderPath === null ? undefined : pathProblem(orderPath)
  if (wrongPath !== undefined) return { problem: wrongPath }
  return {
    body: {
      name: draft.name.trim() === '' ? hostIn(draft.url) : draft.name,
      url: draft.url.trim(),
      ...config,
      datasets,
      conditions: draft.conditions.map(sentOf),
      headers,
      retry: { schedule_seconds: schedule === null ? null : [...schedule.seconds] },
      timeout_ms: Number(draft.timeoutMs),
      max_in_flight: Number(draft.maxInFlight),
      rate_limit: draft.rateCount === '' ? null : { count: Number(draft.rateCount), per: draft.ratePer },
      ordering: orderPath === null ? 'none' : { path: orderPath },
      signing: { header: headerFor(draft), scheme: draft.scheme },
    },
  }
}

/** The server checks the members. */
function configIn({ config: text, batchMax, batchLingerMs }: DestinationDraft): Pick<Body, 'config'> | undefined {
  if (text.trim() === '') {
    const batch = { max: Number(batchMax), linger_ms: Number(batchLingerMs) }
    return { config: { kind: 'http', ...(batchMax === '' ? {} : { batch }) } }
  }
  try {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the server refuses every other form with a sentence
    return { config: JSON.parse(text) as Exclude<Body['config'], undefined> }
  } catch {
    return undefined
  }
}

export function hostIn(url: string): string {
  return URL.canParse(url.trim()) ? new URL(url.trim()).host : ''
}
