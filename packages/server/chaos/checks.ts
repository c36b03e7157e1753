import type { DestinationFact, Evidence } from './evidence.ts'
import type { Answer } from './load.ts'
import type { Receipt } from './sink.ts'

/** One promise, and how many times it was broken. `examples` help to investigate it. */
export type Finding = {
  readonly check: string
  readonly found: number
  /** The largest count that passes. A promise allows 0. */
  readonly allowed: number
  readonly ok: boolean
  readonly examples: readonly string[]
}

type Check = (facts: Facts) => Finding

/** The evidence, with lookups that several checks use. */
export type Facts = Evidence & {
  readonly acked: ReadonlyMap<string, string>
  readonly refused: ReadonlySet<string>
  readonly sentSha: ReadonlyMap<string, string>
  readonly datasetOf: ReadonlyMap<string, string>
  /** Receipts that were answered 2xx, by record and destination name. */
  readonly received: ReadonlyMap<string, readonly Receipt[]>
}

const at = (record: string, destination: string): string => `${record} ${destination}`

export function factsOf(evidence: Evidence): Facts {
  const records = evidence.stored.flatMap((row) =>
    row.record_id === null || row.dataset === null ? [] : [[row.record_id, row.dataset] as const],
  )
  const successes = evidence.receipts.filter(
    (receipt) => typeof receipt.answered === 'number' && receipt.answered < 300,
  )
  return {
    ...evidence,
    acked: new Map(
      evidence.answers
        .filter((answer) => answer.status === 201)
        .map((answer) => [answer.event, answer.record ?? 'no record']),
    ),
    refused: new Set(evidence.answers.filter((answer) => answer.status === 503).map((answer) => answer.event)),
    sentSha: new Map(evidence.sent.map((sent) => [sent.event, sent.sha256])),
    datasetOf: new Map(records),
    received: Map.groupBy(successes, (receipt) => at(receipt.record, receipt.destination)),
  }
}

/** Every promise of the road from a 201 to a delivery, in the order of the road. Any scenario may check them. */
export const ROAD_CHECKS: readonly Check[] = [
  none('acknowledged, not stored', ({ acked, datasetOf }) =>
    [...acked].filter(([, record]) => !datasetOf.has(record)).map(show),
  ),
  none('acknowledged, not listed by the API', ({ acked, listed }) =>
    [...acked].filter(([, record]) => !listed.has(record)).map(show),
  ),
  none('acknowledged, never delivered', (facts) => undelivered(facts, facts.acked.values())),
  none('stored, never delivered', (facts) => undelivered(facts, facts.datasetOf.keys())),
  none('stored, never sent', ({ stored, sentSha }) => stored.filter((row) => !sentSha.has(row.event ?? '')).map(show)),
  none('stored twice', ({ stored }) => repeated(stored.map((row) => row.event ?? ''))),
  none('stored without a record', ({ stored }) => stored.filter((row) => row.record_id === null).map(show)),
  none('answered 503, yet stored', ({ stored, refused }) =>
    stored.filter((row) => refused.has(row.event ?? '')).map(show),
  ),
  none('fan-out stored only in part', halfFanOuts),
  none('bytes changed in the store', ({ stored, sentSha }) =>
    stored.filter((row) => row.sha256 !== sentSha.get(row.event ?? '')).map(show),
  ),
  none('bytes changed at a receiver', ({ receipts, sentSha }) =>
    receipts.filter((one) => one.data_sha256 !== sentSha.get(one.event ?? '')).map(show),
  ),
  none('other bytes on a repeat', ({ receipts }) => conflicting(receipts.map((one) => [one.record, one.body_sha256]))),
  none('other event id on a repeat', ({ receipts }) =>
    conflicting(receipts.map((one) => [one.event ?? '', one.record])),
  ),
  none('delivery id used twice', ({ receipts }) => repeated(receipts.map((one) => one.attempt))),
  none('signature not valid', ({ receipts }) => receipts.filter((one) => one.signature !== 'valid').map(show)),
  none('delivered to the wrong destination', strays),
  none('received without an attempt row', ({ receipts, attempts }) => {
    const known = new Set(attempts.map((attempt) => attempt.id))
    return receipts.filter((one) => !known.has(one.attempt)).map(show)
  }),
  none('recorded as delivered, never received', ({ deliveries, destinations, received }) => {
    const names = new Map(destinations.map((destination) => [destination.id, destination.name]))
    return deliveries
      .filter(
        (row) => row.state === 'delivered' && !received.has(at(row.record_id, names.get(row.destination_id) ?? '')),
      )
      .map(show)
  }),
  none('attempts left open', ({ attempts }) => attempts.filter((attempt) => attempt.outcome === null).map(show)),
  none('deliveries left unfinished', ({ deliveries }) =>
    deliveries.filter((row) => row.state !== 'delivered').map(show),
  ),
  none('findings of the doctor', ({ doctor }) => doctor),
  none('answers other than 201 and 503 with Retry-After', ({ answers }) =>
    answers
      .filter((answer) => !isCutAsSlow(answer))
      .filter(
        ({ status, retryAfter }) =>
          typeof status === 'number' && status !== 201 && (status !== 503 || retryAfter === null),
      )
      .map(show),
  ),
  none('hanging requests', ({ answers }) => answers.filter((answer) => answer.status === 'hung').map(show)),
  none('unexpected process deaths', ({ lives }) => lives.filter((life) => life.end === 'unasked').map(show)),
  none('rejections, exceptions and errors in the log', ({ cries }) => cries),
]

const SLOW_MS = 10_000

/** A sender that a busy machine delayed this long is cut like any slow sender, and sent no complete request. */
function isCutAsSlow({ status, at: answeredAt, sentAt }: Answer): boolean {
  return status === 408 && answeredAt - sentAt >= SLOW_MS
}

/** Only requests that were in flight when something was killed may arrive twice. */
export const duplicatesBounded: Check = ({ received, blows, destinations }) => {
  const repeats = [...received].filter(([, receipts]) => receipts.length > 1)
  const found = repeats.reduce((sum, [, receipts]) => sum + receipts.length - 1, 0)
  const allowed = blows.length * destinations.reduce((sum, destination) => sum + destination.maxInFlight, 0)
  return {
    check: 'duplicates (at most blows × in flight)',
    found,
    allowed,
    ok: found <= allowed,
    examples: repeats.slice(0, 3).map(([key]) => key),
  }
}

/** Before the first kill nothing arrives twice: no repeat may have both receipts before `first`. */
export function duplicatesBefore(first: number): Check {
  return none('duplicates before anything was killed', ({ received }) =>
    [...received].flatMap(([key, receipts]) =>
      receipts.filter(({ at: seenAt }) => seenAt < first).length > 1 ? [key] : [],
    ),
  )
}

/** A promise. `broken` returns the cases that break it. */
function none(check: string, broken: (facts: Facts) => readonly string[]): Check {
  return (facts) => promise(check, broken(facts))
}

/** The finding of a promise. `found` are the cases that break it. */
export function promise(check: string, found: readonly string[]): Finding {
  return { check, found: found.length, allowed: 0, ok: found.length === 0, examples: found.slice(0, 3) }
}

function undelivered({ datasetOf, destinations, received }: Facts, records: Iterable<string>): readonly string[] {
  return [...records].flatMap((record) =>
    destinations
      .filter(
        (destination) => isMatched(destination, datasetOf.get(record)) && !received.has(at(record, destination.name)),
      )
      .map((destination) => at(record, destination.name)),
  )
}

function halfFanOuts({ datasetOf, destinations, deliveries }: Facts): readonly string[] {
  const rows = Map.groupBy(deliveries, (row) => row.record_id)
  return [...datasetOf].flatMap(([record, dataset]) => {
    const expected = destinations
      .filter((destination) => isMatched(destination, dataset))
      .map((destination) => destination.id)
    const found = (rows.get(record) ?? []).map((row) => row.destination_id)
    return expected.toSorted().join() === found.toSorted().join()
      ? []
      : [`${record} has ${found.length} deliveries of ${expected.length}`]
  })
}

function strays({ receipts, destinations, datasetOf }: Facts): readonly string[] {
  const named = new Map(destinations.map((destination) => [destination.name, destination]))
  return receipts
    .filter((one) => {
      const destination = named.get(one.destination)
      return destination === undefined || !isMatched(destination, datasetOf.get(one.record))
    })
    .map(show)
}

/** An acknowledged event that is not stored matches everything, so it is missing everywhere. */
function isMatched({ datasets }: DestinationFact, dataset: string | undefined): boolean {
  return datasets === null || dataset === undefined || datasets.includes(dataset)
}

function repeated(values: readonly string[]): readonly string[] {
  return [...Map.groupBy(values, (value) => value)].filter(([, same]) => same.length > 1).map(([value]) => value)
}

/** Keys with more than one value. */
function conflicting(pairs: readonly (readonly [key: string, value: string])[]): readonly string[] {
  const distinct = new Set(pairs.map((pair) => pair.join(' ')))
  return repeated([...distinct].map((pair) => pair.split(' ')[0] ?? ''))
}

function show(what: unknown): string {
  return typeof what === 'string' ? what : JSON.stringify(what)
}
