import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { encodeId } from '@postroad/contract'
import { Rng } from '../../sim/rng.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { promise } from '../checks.ts'
import { counted } from '../figures.ts'
import { startKeyedLoad, type KeyedLoad } from '../keyed-load.ts'
import { Ledger } from '../ledger.ts'
import { createNemesis, type Blow } from '../nemesis.ts'
import { storedEvents, type StoredRow } from '../queries.ts'
import { defineScenario, type Outcome, type Request } from '../scenario.ts'
import type { Receipt } from '../sink.ts'
import type { Stage } from '../stage.ts'
import { storm, weather } from '../storm.ts'

/** Repeats reach different processes, and one of them dies while the other continues. */
const PROCESSES = 2
const WORKER_MS_MAX = 500

/** Senders repeat their requests with equal keys while the server dies under them: one key is one submission, with one answer. */
export const idem = defineScenario({
  name: 'idem',
  about: 'repeats with equal idempotency keys, under kill9',
  processes: PROCESSES,
  play,
})

async function play(stage: Stage, request: Request): Promise<Outcome> {
  const clock = systemClock()
  const { seed, signal, ratePerSecond } = request
  const blows = new Ledger<Blow>(join(stage.folder, 'blows.jsonl'))
  const receipts = new Ledger<Receipt>(join(stage.folder, 'receipts.jsonl'))
  try {
    const load = startKeyedLoad({ folder: stage.folder, seed, ratePerSecond, url: stage.endpoint })
    const nemesis = createNemesis({ stage, rng: new Rng(seed + 2), blows, answers: load.answers, receipts, signal })
    const rng = new Rng(seed + 3)
    const killWorker = async (): Promise<void> => {
      await sleep(rng.int(0, WORKER_MS_MAX), undefined, { signal })
      if (stage.server.killWorker(rng)) blows.note({ target: 'worker', at: clock.now() })
    }
    const stopped = await weather(load, async () => {
      const why = await storm(request, { nemesis, meanwhile: killWorker })
      await stage.ready()
      request.say('healed; waiting until every sender has its answer')
      return why
    })
    const database = stage.openDatabase()
    try {
      return judge(
        { load, stored: await storedEvents(database, { workspaceId: stage.workspaceId }), blows: blows.entries },
        stopped,
      )
    } finally {
      await database.close()
    }
  } finally {
    blows.close()
    receipts.close()
  }
}

type Seen = { readonly load: KeyedLoad; readonly stored: readonly StoredRow[]; readonly blows: readonly Blow[] }

function judge({ load, stored, blows }: Seen, stopped: string | null): Outcome {
  const answers = load.answers.entries
  const good = answers.filter(({ status }) => status === 200 || status === 201)
  const answered = Map.groupBy(good, ({ event }) => event)
  const submissions = Map.groupBy(stored, ({ event }) => event ?? '')
  const records = new Set(stored.map((row) => (row.record_id === null ? '' : encodeId('record', row.record_id))))
  const sha = new Map(load.sent.entries.map(({ event, sha256 }) => [event, sha256]))
  const ordinary = new Set<number | string>([200, 201, 409, 503, 'broken'])
  const findings = [
    promise(
      'one key, several submissions',
      [...submissions].flatMap(([event, rows]) => (rows.length > 1 ? [event] : [])),
    ),
    promise(
      'one key, several answers',
      [...answered].flatMap(([event, all]) => (new Set(all.map(({ record }) => record)).size > 1 ? [event] : [])),
    ),
    promise(
      'one key, several times 201',
      [...answered].flatMap(([event, all]) => (all.filter(({ status }) => status === 201).length > 1 ? [event] : [])),
    ),
    promise(
      'answered, not stored',
      good.flatMap(({ event, record }) => (record === null || !records.has(record) ? [event] : [])),
    ),
    promise(
      'sent, never answered',
      load.sent.entries.flatMap(({ event }) => (answered.has(event) ? [] : [event])),
    ),
    promise(
      'stored, never sent',
      [...submissions.keys()].filter((event) => !sha.has(event)),
    ),
    promise(
      'bytes changed in the store',
      stored.flatMap(({ event, sha256 }) => (sha.get(event ?? '') === sha256 ? [] : [event ?? ''])),
    ),
    promise(
      'answers other than 200, 201, 409 and 503',
      answers.flatMap(({ event, status }) => (ordinary.has(status) ? [] : [`${event} ${status}`])),
    ),
    promise(
      '409 and 503 without Retry-After',
      answers.flatMap(({ event, status, retryAfter }) =>
        (status === 409 || status === 503) && retryAfter === null ? [event] : [],
      ),
    ),
  ]
  const said = (status: number | string): number => answers.filter((answer) => answer.status === status).length
  const figures = [
    counted('keys / submissions', `${sha.size} / ${submissions.size}`),
    counted('requests', answers.length),
    counted('201 / 200 / 409 / 503 / no answer', [201, 200, 409, 503, 'broken'].map(said).join(' / ')),
    counted(
      'keys whose first answer was lost',
      [...answered.values()].filter((all) => all.every(({ status }) => status === 200)).length,
    ),
    counted(
      'server killed / one of its processes',
      `${blows.filter(({ target }) => target === 'server').length} / ${blows.filter(({ target }) => target === 'worker').length}`,
    ),
  ]
  return { findings, figures, stopped }
}
