import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { decodeId } from '@postroad/contract'
import { Rng } from '../../sim/rng.ts'
import { promise } from '../checks.ts'
import { counted } from '../figures.ts'
import { startFlood, type Forged, type Forgery } from '../flood.ts'
import { Ledger } from '../ledger.ts'
import { startLoad, type Answer } from '../load.ts'
import { createNemesis, type Blow } from '../nemesis.ts'
import { loggedRejections, type LoggedRow } from '../queries.ts'
import { defineScenario, type Outcome, type Request } from '../scenario.ts'
import type { Receipt } from '../sink.ts'
import type { Stage } from '../stage.ts'
import { storm, weather } from '../storm.ts'

const FORGERS = 16
const CALM_MS = 2_000
const CATCH_UP_MS = 15_000
const LOOK_MS = 200
const STILL_LOOKS = 12
const MINUTE_MS = 60_000

/** Forgeries from many addresses beside good requests: first in calm, when the log must be exact, then under kill9. */
export const rejections = defineScenario({
  name: 'rejections',
  about: 'a flood of forged requests beside good ones, under kill9',
  play,
})

async function play(stage: Stage, request: Request): Promise<Outcome> {
  const { seed, signal, ratePerSecond } = request
  const blows = new Ledger<Blow>(join(stage.folder, 'blows.jsonl'))
  const receipts = new Ledger<Receipt>(join(stage.folder, 'receipts.jsonl'))
  const forged = {
    calm: new Ledger<Forged>(join(stage.folder, 'calm.jsonl')),
    stormy: new Ledger<Forged>(join(stage.folder, 'stormy.jsonl')),
  }
  try {
    const targets = { calm: await targetsOn(stage), stormy: await targetsOn(stage) }
    const load = startLoad({
      folder: stage.folder,
      seed,
      ratePerSecond,
      urlOf: () => stage.endpoint,
      percent: { events: 100 },
    })
    const stopped = await weather(load, async () => {
      request.say(`calm flood, ${CALM_MS / 1_000} s`)
      const calm = startFlood({ forgeries: targets.calm, forged: forged.calm, seed: seed + 100, connections: FORGERS })
      await weather(calm, () => sleep(CALM_MS, undefined, { signal }))
      await logOnce(stage, { complete: (rows) => isExact(rows, forged.calm.entries), signal })
      const stormy = startFlood({
        forgeries: targets.stormy,
        forged: forged.stormy,
        seed: seed + 200,
        connections: FORGERS,
      })
      return weather(stormy, () =>
        storm(request, {
          nemesis: createNemesis({ stage, rng: new Rng(seed + 2), blows, answers: load.answers, receipts, signal }),
        }),
      )
    })
    await stage.ready()
    request.say('healed; waiting until the log no longer changes')
    const rows = await logOnce(stage, { complete: untilUnchanged(), signal })
    return judge(
      {
        rows,
        calm: forged.calm.entries,
        stormy: forged.stormy.entries,
        answers: load.answers.entries,
        blows: blows.entries,
      },
      stopped,
    )
  } finally {
    for (const ledger of [blows, receipts, forged.calm, forged.stormy]) ledger.close()
  }
}

/** Endpoints that refuse requests, each for different reasons, and a URL that does not exist. */
async function targetsOn(stage: Stage): Promise<readonly Forgery[]> {
  const endpoint = async (members: object) => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the contract's answer
    const { webhook } = (await stage.admin('POST', 'webhooks', {
      name: 'forged',
      slug: `forged-${made++}`,
      ...members,
    })) as { readonly webhook: { readonly id: string; readonly public_url: string } }
    return { webhook: decodeId('webhook', webhook.id) ?? '', url: webhook.public_url }
  }
  const [signed, open, off] = [
    await endpoint({ verification: { scheme: 'hmac', secret: 'k' } }),
    await endpoint({}),
    await endpoint({ enabled: false }),
  ]
  return [
    { ...signed, reason: 'bad_signature', headers: { 'x-signature': '00' }, body: '{}' },
    { ...signed, reason: 'missing_header', headers: {}, body: '{}' },
    { ...open, reason: 'invalid_body', headers: {}, body: '{' },
    { ...off, reason: 'endpoint_disabled', headers: {}, body: '{}' },
    { webhook: 'nobody', reason: 'unknown', url: `${signed.url}x`, headers: {}, body: '{}' },
  ]
}

let made = 0

/** The log once it is complete, or after the maximum wait. */
async function logOnce(
  stage: Stage,
  of: { complete: (rows: readonly LoggedRow[]) => boolean; signal: AbortSignal },
): Promise<readonly LoggedRow[]> {
  const database = stage.openDatabase()
  try {
    for (const end = performance.now() + CATCH_UP_MS; ;) {
      // oxlint-disable-next-line no-await-in-loop -- one look at a time
      const rows = await loggedRejections(database, { workspaceId: stage.workspaceId })
      if (of.complete(rows) || performance.now() > end) return rows
      // oxlint-disable-next-line no-await-in-loop -- as above
      await sleep(LOOK_MS, undefined, { signal: of.signal })
    }
  } finally {
    await database.close()
  }
}

/** True when nothing was added for longer than a server counts before it writes. */
function untilUnchanged(): (rows: readonly LoggedRow[]) => boolean {
  let [before, looks] = ['', 0]
  return (rows) => {
    const now = JSON.stringify(rows.map((row) => row.count).toSorted((a, b) => a - b))
    looks = now === before ? looks + 1 : 0
    before = now
    return looks >= STILL_LOOKS
  }
}

type Told = { readonly webhook: string; readonly reason: string }
const keyOf = ({ webhook, reason }: Told): string => `${webhook} ${reason}`

/** How many forgeries were sent, and how many were refused, by endpoint and reason. */
function tally(entries: readonly Forged[]): ReadonlyMap<string, { sent: number; refused: number }> {
  const sums = new Map<string, { sent: number; refused: number }>()
  for (const entry of entries) {
    if (entry.webhook === 'nobody') continue
    const sum = sums.get(keyOf(entry)) ?? { sent: 0, refused: 0 }
    sums.set(keyOf(entry), sum)
    if (entry.status === null) sum.sent += 1
    else if (typeof entry.status === 'number' && entry.status >= 400 && !isAway(entry)) sum.refused += 1
  }
  return sums
}

/** A server whose database is unreachable answers 503 before it knows the endpoint, and does not log that. */
function isAway({ status, reason }: Forged): boolean {
  return status === 503 && reason !== 'endpoint_disabled'
}

function countsOf(rows: readonly LoggedRow[]): ReadonlyMap<string, number> {
  return new Map(rows.map((row) => [keyOf({ webhook: row.webhook_id, reason: row.reason }), row.count]))
}

function isExact(rows: readonly LoggedRow[], entries: readonly Forged[]): boolean {
  const counts = countsOf(rows)
  return [...tally(entries)].every(([key, { refused }]) => counts.get(key) === refused)
}

function isNoRefusal(status: Forged['status']): boolean {
  return typeof status === 'number' && (status < 400 || (status >= 500 && status !== 503))
}

type Evidence = {
  readonly rows: readonly LoggedRow[]
  readonly calm: readonly Forged[]
  readonly stormy: readonly Forged[]
  readonly answers: readonly Answer[]
  readonly blows: readonly Blow[]
}

function judge({ rows, calm, stormy, answers, blows }: Evidence, stopped: string | null): Outcome {
  const counts = countsOf(rows)
  const all = [...calm, ...stormy]
  const sums = tally(all)
  const minutes = Math.floor((all.at(-1)?.at ?? 0) / MINUTE_MS) - Math.floor((all[0]?.at ?? 0) / MINUTE_MS) + 1
  const findings = [
    promise(
      'logged in calm, but not once per refusal',
      [...tally(calm)]
        .filter(([key, { refused }]) => counts.get(key) !== refused)
        .map(([key, { refused }]) => `${key}: ${counts.get(key)} of ${refused}`),
    ),
    promise(
      'logged more often than sent',
      [...counts]
        .filter(([key, count]) => count > (sums.get(key)?.sent ?? 0))
        .map(([key, count]) => `${key}: ${count} of ${sums.get(key)?.sent}`),
    ),
    promise(
      'more rows than minutes',
      rows
        .filter((row) => row.rows > minutes)
        .map((row) => `${row.webhook_id} ${row.reason}: ${row.rows} rows in ${minutes} minutes`),
    ),
    promise(
      'logged without a forgery',
      [...counts.keys()].filter((key) => !sums.has(key)),
    ),
    promise(
      'forgeries that were not refused',
      all.filter(({ status }) => isNoRefusal(status)).map((one) => JSON.stringify(one)),
    ),
    promise(
      'good requests refused',
      answers
        .filter(({ status }) => typeof status === 'number' && status !== 201 && status !== 503)
        .map((one) => JSON.stringify(one)),
    ),
  ]
  const refused = [...tally(stormy).values()].reduce((sum, one) => sum + one.refused, 0)
  const logged = [...tally(stormy).keys()].reduce((sum, key) => sum + (counts.get(key) ?? 0), 0)
  const figures = [
    counted(
      'forgeries in calm, under kill9',
      `${calm.length / 2}, ${stormy.filter(({ status }) => status === null).length}`,
    ),
    counted(
      'rows of the log',
      rows.reduce((sum, row) => sum + row.rows, 0),
    ),
    counted('under kill9: refused, logged', `${refused}, ${logged}`),
    counted('good requests acknowledged', answers.filter(({ status }) => status === 201).length),
    counted('blows', blows.length),
  ]
  return { findings, figures, stopped }
}
