import { attacks } from './rows/attacks.ts'
import { backlog } from './rows/backlog.ts'
import { consoleInBrowser, ENDPOINTS, EVENTS } from './rows/console.ts'
import { delivery } from './rows/delivery.ts'
import { fanOut } from './rows/fan-out.ts'
import { footprint } from './rows/footprint.ts'
import { hostile } from './rows/hostile.ts'
import { idle } from './rows/idle.ts'
import { ingest } from './rows/ingest.ts'
import { ladder } from './rows/ladder.ts'
import { latency } from './rows/latency.ts'
import { neighbor } from './rows/neighbor.ts'
import { processes } from './rows/processes.ts'
import { policies } from './rows/policies.ts'
import { quiet } from './rows/quiet.ts'
import { routes } from './rows/routes.ts'
import { routing } from './rows/routing.ts'
import { search } from './rows/search.ts'
import { start } from './rows/start.ts'
import { transforms } from './rows/transforms.ts'
import { waiting } from './rows/waiting.ts'
import { workflows } from './rows/workflows.ts'
import type { Stage } from './stage.ts'
import type { Figure } from './table.ts'

/** Rows that run together, and the page that they are written to. */
export type Part = {
  readonly command: string
  readonly rows: Readonly<Record<string, (stage: Stage) => Promise<readonly Figure[]>>>
  readonly page: URL
  /** The measuring conditions, for readers of the page. */
  readonly notes: (seconds: number, records: readonly number[]) => readonly string[]
}

const pageAt = (name: string): URL => new URL(`../../../docs/${name}`, import.meta.url)

/** The rows of `npm run bench`. */
const WHOLE: Part = {
  command: 'npm run bench',
  rows: { ingest, ladder, routing, latency, delivery, hostile, policies, transforms, footprint, start },
  page: pageAt('bench.md'),
  notes: (seconds) => [
    'Each installation has the day tables of a month, as after a month of events, and the older tables are empty.',
    "Events are 1 KiB of JSON with the code host's HMAC, 64 connections. Bare `node:http` parses the same JSON and answers 201 at once;",
    'bare batched inserts store the same rows by the same driver, 64 to a batch, two batches at a time.',
    'The whole ladder is a signature, three criteria, five mappings, an allowlist of three ranges and a new idempotency key each',
    'time. Each part is also measured alone beside an endpoint that checks only the signature. Encryption has no row, because no event is',
    'encrypted on its way: payloads and the answers to repeats are stored unencrypted. The sealed secrets of an endpoint are opened when',
    'its settings are read, those of a destination at most once a second.',
    'Many destinations and rules: one rule files each event. Half of the other destinations take other datasets, half of them other values.',
    `Deliveries: a backlog of ${(seconds * 5_000).toLocaleString('en-US')}, 100 requests at once, rate from the first tenth to the last. Postroad signs each delivery and stores`,
    'every attempt; the rivals send the same body, unsigned, from a separate database in the same PostgreSQL (graphile-worker with a',
    'local queue of 500, which completes jobs one by one unless set to do so in batches; pg-boss with four fetchers of 25).',
  ],
}

/** The rows of `npm run bench -- delivery`. Both parts together would take too long. */
const DELIVERY: Part = {
  command: 'npm run bench -- delivery',
  rows: { 'fan-out': fanOut, processes, neighbor, backlog, idle },
  page: pageAt('bench-delivery.md'),
  notes: (seconds) => [
    `Fan-out: ${(seconds * 5_000).toLocaleString('en-US')} deliveries, of a tenth as many events to ten destinations with 10 requests at once each, or of as many events to one with 100.`,
    'Processes: a backlog of events that go to eight destinations each, 16 requests at once to each; measured over the second half, because',
    'the processes share the destinations among them in the first seconds. All processes, PostgreSQL and the sink share the cores above, so more',
    'processes than cores gain nothing when receivers answer immediately. A process has at most 2,000 requests at once, so receivers that take a',
    'second limit it to 2,000/s, and each further process adds as much until the cores are busy.',
    '1 dead of 100: 198 events a second to 99 destinations in turn, and 50 a second to the hundredth, which accepts requests and never answers;',
    'it occupies its 100 slots all the time. In the comparison, the same events go to a hundredth destination that answers.',
    `Backlog: due deliveries of 1,000 records in turn are written by SQL; 100 requests at once, observed for ${seconds * 5} s from the 2,000th on, memory four`,
    "times a second. PostgreSQL's memory counts shared pages once.",
    `Idle: ${seconds * 5} s without an event, a few seconds after the start; the transactions are those of all work of the server.`,
    'The last three are measured once each, right after the figure beside them.',
  ],
}

/** The rows of `npm run bench -- workflows`. */
const WORKFLOWS: Part = {
  command: 'npm run bench -- workflows',
  rows: { workflows, waiting },
  page: pageAt('bench-workflows.md'),
  notes: (seconds) => [
    'Starts: signed events of 1 KiB, 64 connections; no process runs the instances meanwhile.',
    `Steps: a backlog of ${(seconds * 500).toLocaleString('en-US')} instances with five steps, rate from the first tenth to the last. A step of Postroad files an event: a submission, a record`,
    'and the row of the step. A step of the rivals inserts one small row, and the rivals run 100 workflows at once from a separate database in',
    'the same PostgreSQL. DBOS starts its workflows while it runs them; the others have them stored before.',
    `Waits: transactions a second beyond those without a waiting workflow, over ${seconds * 5} s, once each. Postroad waits for an event, DBOS for a message,`,
    'and OpenWorkflow sleeps.',
    `Idle: ${seconds * 5} s without an event, 15 s after the search index has processed the events, once each. 100,000 events are stored before the figure beside, and as many again start the instances.`,
  ],
}

/** The rows of `npm run bench -- search`. */
const SEARCH: Part = {
  command: 'npm run bench -- search',
  rows: { search },
  page: pageAt('bench-search.md'),
  notes: (_seconds, records) => [
    `Questions: ${records.map((count) => count.toLocaleString('en-US')).join(', ')} events of four weeks, about 560 bytes of JSON with four headers each, in one project. Each question is`,
    'asked about twenty of them, evenly spread, by the admin API: call after call, until 20 events are found or everything was searched. Scanned, read',
    'and calls are the most of these twenty. In SQL, the same is asked once of the same tables. All must find',
    'as many events as Postroad, or the run fails. OpenSearch has one shard, the payload as a `wildcard` field, and each field and header as a `keyword`;',
    'it takes part when `BENCH_OPENSEARCH_URL` is the address of a server, and is not asked again after an answer that took 10 s.',
    'SQL and OpenSearch are not asked about more events than `--compared-records`.',
    'Ingest: signed events of 1 KiB, 64 connections; the backlog is 300,000 events. Aim: the index costs at most 15 %.',
  ],
}

/** The rows of `npm run bench -- console`. */
const CONSOLE: Part = {
  command: 'npm run bench -- console',
  rows: { console: consoleInBrowser },
  page: pageAt('bench-console.md'),
  notes: () => [
    `Chromium without a window shows the console of a server with ${EVENTS.toLocaleString('en-US')} stored events and ${ENDPOINTS} endpoints. A first load starts with an empty cache.`,
    'The still page has one script of as many bytes, which draws one line. A bare read is a fetch of the list by the same page, and its JSON.',
    'All figures end with the frame after the first row is in the document.',
  ],
}

/** The rows of `npm run bench -- attacks`. */
const ATTACKS: Part = {
  command: 'npm run bench -- attacks',
  rows: { attacks },
  page: pageAt('bench-attacks.md'),
  notes: () => [],
}

/** The rows of `npm run bench -- routes`. */
const ROUTES: Part = {
  command: 'npm run bench -- routes',
  rows: { routes },
  page: pageAt('bench-routes.md'),
  notes: () => [
    'Each route is called with the largest page and with the largest members that it accepts, about the largest resources that were created before,',
    'in a project with 50 events of about 1 MiB. The processor time of the loop, and of the whole process with its threads, is the least of three',
    'requests. The client is another process.',
  ],
}

/** The rows of `npm run bench -- quiet`. */
const QUIET: Part = {
  command: 'npm run bench -- quiet',
  rows: { quiet },
  page: pageAt('bench-quiet.md'),
  notes: (seconds) => [
    `Signed events of 1 KiB to one destination that answers at once, each rate for ${seconds * 15} s, the highest after ${(seconds * 15) / 2} s of the same. The`,
    'transactions, forced writes and processor time are those of the whole installation, its background work included.',
    'Memory counts shared pages once.',
  ],
}

/** The part with this name on the command line; undefined when there is none. */
export function partOf(word: string | undefined): Part | undefined {
  if (word === undefined) return WHOLE
  return {
    attacks: ATTACKS,
    console: CONSOLE,
    delivery: DELIVERY,
    quiet: QUIET,
    routes: ROUTES,
    search: SEARCH,
    workflows: WORKFLOWS,
  }[word]
}

/** Every row, by name. */
export const ROWS: Part['rows'] = {
  ...WHOLE.rows,
  ...ATTACKS.rows,
  ...CONSOLE.rows,
  ...DELIVERY.rows,
  ...QUIET.rows,
  ...ROUTES.rows,
  ...SEARCH.rows,
  ...WORKFLOWS.rows,
}
