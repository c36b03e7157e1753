import { backlog } from './rows/backlog.ts'
import { delivery } from './rows/delivery.ts'
import { fanOut } from './rows/fan-out.ts'
import { footprint } from './rows/footprint.ts'
import { hostile } from './rows/hostile.ts'
import { idle } from './rows/idle.ts'
import { ingest } from './rows/ingest.ts'
import { ladder } from './rows/ladder.ts'
import { latency } from './rows/latency.ts'
import { neighbour } from './rows/neighbour.ts'
import { processes } from './rows/processes.ts'
import { policies } from './rows/policies.ts'
import type { Stage } from './stage.ts'
import type { Figure } from './table.ts'

/** Rows that are run together, and the page that they are written to. */
export type Part = {
  readonly command: string
  readonly rows: Readonly<Record<string, (stage: Stage) => Promise<readonly Figure[]>>>
  readonly page: URL
  /** How the figures are measured, for who reads the page. */
  readonly notes: (seconds: number) => readonly string[]
}

const pageAt = (name: string): URL => new URL(`../../../docs/${name}`, import.meta.url)

/** What `npm run bench` runs. */
const WHOLE: Part = {
  command: 'npm run bench',
  rows: { ingest, ladder, latency, delivery, hostile, policies, footprint },
  page: pageAt('bench.md'),
  notes: (seconds) => [
    'Each installation has the tables of a month of days, as after a month of events, and the older ones are empty.',
    "Events are 1 KiB of JSON with the code host's HMAC, 64 connections. Bare `node:http` parses the same JSON and answers 201 at once;",
    'bare batched inserts store the same rows by the same driver, 64 to a batch, two batches at a time.',
    'The whole ladder is a signature, three criteria, five mappings, an allowlist of three ranges and an idempotency key that is new each',
    'time; each part is also measured alone beside an endpoint that checks the signature only. Encryption has no row, because no event is',
    'encrypted on its way: payloads and the answers of repeats are stored as they are, and the sealed secrets of an endpoint are opened when',
    'its settings are read, those of a destination once a second at most.',
    `Deliveries: a backlog of ${(seconds * 5_000).toLocaleString('en-US')}, 100 requests at once, rate from the first tenth to the last. Postroad signs each and stores`,
    'every attempt; the rivals send the same body, unsigned, from a separate database in the same PostgreSQL (graphile-worker with a',
    'local queue of 500, which completes jobs one by one unless set to do so in batches; pg-boss with four fetchers of 25).',
  ],
}

/** What `npm run bench -- delivery` runs: both together would take longer than anybody waits. */
const DELIVERY: Part = {
  command: 'npm run bench -- delivery',
  rows: { 'fan-out': fanOut, processes, neighbour, backlog, idle },
  page: pageAt('bench-delivery.md'),
  notes: (seconds) => [
    `Fan-out: ${(seconds * 5_000).toLocaleString('en-US')} deliveries, of a tenth as many events to ten destinations with 10 requests at once each, or of as many events to one with 100.`,
    'Processes: a backlog of events that go to eight destinations each, 16 requests at once to each; measured over the second half, as',
    'the processes share the destinations among them in the first seconds. All processes, PostgreSQL and the sink share the cores above, so the ratio is no limit.',
    '1 dead of 100: 198 events a second to 99 destinations in turn, and 50 a second to the hundredth, which takes requests and never answers;',
    'it occupies its 100 places all the time. Beside it, the same events go to a hundredth that answers.',
    `Backlog: deliveries that are due are written by SQL, of 1,000 records in turn; 100 requests at once, watched for ${seconds * 5} s from the 2,000th on, memory four`,
    "times a second. PostgreSQL's memory counts shared pages once.",
    `Idle: ${seconds * 5} s without an event, a few seconds after the start; transactions are those of all that the server does.`,
    'The last three are measured once each, right after the figure beside them.',
  ],
}

/** The part of a word of the command line; undefined when there is none of that name. */
export function partOf(word: string | undefined): Part | undefined {
  if (word === undefined) return WHOLE
  return word === 'delivery' ? DELIVERY : undefined
}

/** Every row there is, by name. */
export const ROWS: Part['rows'] = { ...WHOLE.rows, ...DELIVERY.rows }
