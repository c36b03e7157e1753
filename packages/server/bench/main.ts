import { writeFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { readConditions, type Conditions } from './conditions.ts'
import { delivery } from './rows/delivery.ts'
import { footprint } from './rows/footprint.ts'
import { hostile } from './rows/hostile.ts'
import { ingest } from './rows/ingest.ts'
import { ladder } from './rows/ladder.ts'
import { latency } from './rows/latency.ts'
import { policies } from './rows/policies.ts'
import { openStage, type Stage } from './stage.ts'
import { tableOf, type Figure } from './table.ts'

const ROWS: Readonly<Record<string, (stage: Stage) => Promise<readonly Figure[]>>> = { ingest, ladder, latency, delivery, hostile, policies, footprint }
const PAGE = new URL('../../../docs/bench.md', import.meta.url)
const USAGE = `bench [--only ${Object.keys(ROWS).join('|')}] [--seconds S] [--rounds R] [--json] [--profile FOLDER]`

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    seconds: { type: 'string', default: '4' },
    rounds: { type: 'string', default: '3' },
    json: { type: 'boolean', default: false },
    /** Node's CPU profiles of every server of the run are written there. */
    profile: { type: 'string' },
  },
})
const seconds = Number(values.seconds)
const rounds = Number(values.rounds)
const names = values.only === undefined ? Object.keys(ROWS) : values.only.split(',')
if (!(seconds > 0) || !Number.isInteger(rounds) || rounds < 1 || names.some((name) => !Object.hasOwn(ROWS, name))) {
  console.error(USAGE)
  process.exit(2)
}

const stage = openStage({ seconds, rounds, profile: values.profile })
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void stage.close().finally(() => process.exit(130)))

try {
  const conditions = await readConditions(stage)
  const figures: Figure[] = []
  for (const name of names) {
    stage.say(`measuring ${name} …`)
    // oxlint-disable-next-line no-await-in-loop -- one row at a time, or they would measure each other
    figures.push(...((await ROWS[name]?.(stage)) ?? []))
  }
  const page = pageOf(figures, conditions)
  console.log(values.json ? JSON.stringify({ conditions, figures }, null, 2) : page)
  if (values.only === undefined) await writeFile(PAGE, `# Figures\n\n${page}\n`)
} finally {
  await stage.close()
}

function pageOf(figures: readonly Figure[], conditions: Conditions): string {
  return [
    tableOf(figures),
    '',
    `Printed by \`npm run bench${seconds === 4 && rounds === 3 ? '' : ` -- --seconds ${seconds} --rounds ${rounds}`}\`: medians of ${rounds} rounds of ${seconds} s, contenders in turns.`,
    `${conditions.cores} cores (${conditions.processor}) for the server, PostgreSQL, the load generator and the sink together.`,
    `Node ${conditions.node}, embedded PostgreSQL ${conditions.postgres} with its default settings.`,
    `Durability: ${conditions.durability}; one forced write of 8 KiB to the same disk takes ${conditions.forcedWriteMs.toFixed(2)} ms.`,
    '',
    'Events are 1 KiB of JSON with the code host\'s HMAC, 64 connections. Bare `node:http` parses the same JSON and answers 201 at once;',
    'bare batched inserts store the same rows by the same driver, 64 to a batch, two batches at a time.',
    'The whole ladder is a signature, three criteria, five mappings, an allowlist of three ranges and an idempotency key that is new each',
    'time; each part is also measured alone beside an endpoint that checks the signature only. Encryption has no row, because no event is',
    'encrypted on its way: payloads and the answers of repeats are stored as they are, and the sealed secrets of an endpoint are opened when',
    'its settings are read, those of a destination once a second at most.',
    `Deliveries: a backlog of ${(seconds * 5_000).toLocaleString('en-US')}, 100 requests at once, rate from the first tenth to the last. Postroad signs each and keeps`,
    'every attempt; the rivals send the same body, unsigned, from a database of their own in the same PostgreSQL (graphile-worker with a',
    'local queue of 500, which completes jobs one by one unless told to do so in batches; pg-boss with four fetchers of 25).',
  ].join('\n')
}
