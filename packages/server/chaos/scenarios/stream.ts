import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { encodeId } from '@postroad/contract'
import { Rng } from '../../sim/rng.ts'
import { promise } from '../checks.ts'
import { counted } from '../figures.ts'
import { Ledger } from '../ledger.ts'
import { startLoad, type Load } from '../load.ts'
import { createNemesis, type Blow } from '../nemesis.ts'
import { storedEvents } from '../queries.ts'
import { defineScenario, type Outcome, type Request } from '../scenario.ts'
import type { Receipt } from '../sink.ts'
import type { Stage } from '../stage.ts'
import { storm, weather } from '../storm.ts'
import { openViewer, type Sight, type Viewer } from '../viewer.ts'

const VIEWERS = 6
const CATCH_UP_MS = 90_000

/** Clients of the live stream lose their connections and the server under them, and each sees every record in the end. */
export const stream = defineScenario({
  name: 'stream',
  about: 'clients of /v1/stream that disconnect and resume, under kill9',
  play,
})

async function play(stage: Stage, request: Request): Promise<Outcome> {
  const { seed, signal } = request
  const ledgers = {
    blows: new Ledger<Blow>(join(stage.folder, 'blows.jsonl')),
    receipts: new Ledger<Receipt>(join(stage.folder, 'receipts.jsonl')),
    sights: new Ledger<Sight>(join(stage.folder, 'sights.jsonl')),
  }
  const { blows, receipts, sights } = ledgers
  const viewers: Viewer[] = []
  try {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the contract's answer
    const { key } = (await stage.admin('POST', 'ingest-keys', { name: 'viewers' })) as { readonly key: string }
    const url = `${new URL(stage.endpoint).origin}/v1/stream`
    viewers.push(
      ...(await Promise.all(
        Array.from({ length: VIEWERS }, (_none, n) =>
          openViewer({ name: `viewer ${n + 1}`, url, key, sights, rng: new Rng(seed + 10 + n) }),
        ),
      )),
    )
    const load = startLoad({
      folder: stage.folder,
      seed,
      ratePerSecond: request.ratePerSecond,
      urlOf: () => stage.endpoint,
      percent: { events: 100 },
    })
    const nemesis = createNemesis({ stage, rng: new Rng(seed + 2), blows, answers: load.answers, receipts, signal })
    const stopped = await weather(load, () => storm(request, { nemesis }))
    await stage.ready()
    request.say('healed; waiting until every client has seen everything')
    const stored = await waitForSights(stage, { sights, viewers, signal })
    return judge({ load, stored, sights: sights.entries, blows: blows.entries, viewers }, stopped)
  } finally {
    await Promise.all(viewers.map((viewer) => viewer.stop()))
    for (const ledger of Object.values(ledgers)) ledger.close()
  }
}

type StoredRecord = { readonly record: string; readonly event: string | null }

/** Returns the stored records once every client has seen as many, or after the maximum wait. */
async function waitForSights(
  stage: Stage,
  of: { sights: Ledger<Sight>; viewers: readonly Viewer[]; signal: AbortSignal },
): Promise<readonly StoredRecord[]> {
  const database = stage.openDatabase()
  try {
    const rows = await storedEvents(database, { workspaceId: stage.workspaceId })
    const stored = rows.flatMap((row) =>
      row.record_id === null ? [] : [{ record: encodeId('record', row.record_id), event: row.event }],
    )
    const end = performance.now() + CATCH_UP_MS
    while (
      performance.now() < end &&
      new Set(of.sights.entries.map(({ client, record }) => `${client} ${record}`)).size <
        stored.length * of.viewers.length
    ) {
      // oxlint-disable-next-line no-await-in-loop -- one look at a time
      await sleep(200, undefined, { signal: of.signal })
    }
    return stored
  } finally {
    await database.close()
  }
}

type Seen = {
  readonly load: Load
  readonly stored: readonly StoredRecord[]
  readonly sights: readonly Sight[]
  readonly blows: readonly Blow[]
  readonly viewers: readonly Viewer[]
}

function judge(seen: Seen, stopped: string | null): Outcome {
  const { load, stored, sights, blows, viewers } = seen
  const timesSeen = new Map<string, number>()
  for (const { client, record } of sights)
    timesSeen.set(`${client} ${record}`, (timesSeen.get(`${client} ${record}`) ?? 0) + 1)
  const eventOf = new Map(stored.map(({ record, event }) => [record, event]))
  const shaOf = new Map(load.sent.entries.map(({ event, sha256 }) => [event, sha256]))
  const unseen = (records: readonly string[]): string[] =>
    viewers.flatMap(({ name }) => records.map((record) => `${name} ${record}`).filter((key) => !timesSeen.has(key)))
  const repeated = [...timesSeen].filter(([, times]) => times > 1).map(([key]) => key)
  // After a crash of the database a stream is at-least-once. A lost session is not a crash.
  const crashes = blows.filter(({ target }) => target === 'postmaster' || target === 'backend').length
  const findings = [
    promise(
      'acknowledged, never shown to a client',
      unseen(load.answers.entries.flatMap(({ status, record }) => (status === 201 && record !== null ? [record] : []))),
    ),
    promise('stored, never shown to a client', unseen(stored.map(({ record }) => record))),
    promise(
      'shown, not stored',
      sights.filter(({ record }) => !eventOf.has(record)).map(({ record }) => record),
    ),
    promise(
      'bytes changed on the stream',
      sights
        .filter(({ record, data_sha256 }) => shaOf.get(eventOf.get(record) ?? '') !== data_sha256)
        .map(({ record }) => record),
    ),
    promise('shown twice without a crash of the database', crashes > 0 ? [] : repeated),
  ]
  const figures = [
    counted(
      'events acknowledged / stored',
      `${load.answers.entries.filter(({ status }) => status === 201).length} / ${stored.length}`,
    ),
    counted(
      'clients, connections',
      `${viewers.length}, ${viewers.reduce((sum, viewer) => sum + viewer.connections(), 0)}`,
    ),
    counted('records shown, repeated', `${sights.length}, ${sights.length - timesSeen.size}`),
    counted('blows, crashes of the database', `${blows.length}, ${crashes}`),
  ]
  return { findings, figures, stopped }
}
