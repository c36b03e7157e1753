import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Rng } from '../../sim/rng.ts'
import { promise } from '../checks.ts'
import { counted } from '../figures.ts'
import { Ledger } from '../ledger.ts'
import { startLoad, type Load } from '../load.ts'
import { createNemesis, type Blow } from '../nemesis.ts'
import { countStored, giveRoom, limitToTeam, usedEvents } from '../queries.ts'
import { defineScenario, type Outcome, type Request } from '../scenario.ts'
import type { Receipt } from '../sink.ts'
import type { Stage } from '../stage.ts'
import { storm, weather } from '../storm.ts'

/** The monthly events of the team plan. */
const QUOTA = 500_000
/** Many simultaneous events meet at the limit, and the server dies while there is still room, or just after. */
const TOGETHER = 50
const OFFSET_MS_MAX = 400
const PROCESSES = 2
const GIFT_MIN = 20
const GIFT_MAX = 200
const PATIENCE_MS = 90_000

/** The server dies repeatedly at the limit of a quota. In the end exactly as many events are stored as had room. */
export const quota = defineScenario({
  name: 'quota',
  about: 'the limit of a monthly quota, under kill9',
  processes: PROCESSES,
  play,
})

async function play(stage: Stage, request: Request): Promise<Outcome> {
  const { seed, signal, ratePerSecond } = request
  const blows = new Ledger<Blow>(join(stage.folder, 'blows.jsonl'))
  const receipts = new Ledger<Receipt>(join(stage.folder, 'receipts.jsonl'))
  const rng = new Rng(seed + 3)
  const at = { workspaceId: stage.workspaceId }
  let given = 0
  const give = async (gift: number): Promise<void> => {
    const events = rng.int(GIFT_MIN, GIFT_MAX)
    await persist(stage, { signal, work: (database) => giveRoom(database, { ...at, gift, events }) })
    given += events
  }
  try {
    await persist(stage, { signal, work: (database) => limitToTeam(database, { ...at, events: QUOTA }) })
    const load = startLoad({
      folder: stage.folder,
      seed,
      ratePerSecond,
      urlOf: () => stage.endpoint,
      percent: { events: 100 },
      together: TOGETHER,
    })
    const nemesis = createNemesis({ stage, rng: new Rng(seed + 2), blows, answers: load.answers, receipts, signal })
    const stopped = await weather(load, async () => {
      const why = await storm(request, { nemesis, meanwhile: give, offsetMsMax: OFFSET_MS_MAX })
      await stage.ready()
      request.say('healed; waiting until the quota is used up')
      const last = await load.answers.next(({ status }) => status === 429, { patienceMs: PATIENCE_MS, signal })
      return why ?? (last === undefined ? 'The quota was not used up.' : null)
    })
    const [stored, used] = await Promise.all([
      persist(stage, { signal, work: (database) => countStored(database, at) }),
      persist(stage, { signal, work: (database) => usedEvents(database, at) }),
    ])
    return judge({ load, stored, used, given, blows: blows.entries }, stopped)
  } finally {
    blows.close()
    receipts.close()
  }
}

/** Repeats the work until PostgreSQL, which may be down at the moment, has done it. */
async function persist<T>(
  stage: Stage,
  of: { readonly signal: AbortSignal; readonly work: (database: ReturnType<Stage['openDatabase']>) => Promise<T> },
): Promise<T> {
  for (;;) {
    const database = stage.openDatabase()
    try {
      // oxlint-disable-next-line no-await-in-loop -- one try at a time
      return await of.work(database)
    } catch {
      // oxlint-disable-next-line no-await-in-loop -- as above
      await sleep(100, undefined, { signal: of.signal })
    } finally {
      // oxlint-disable-next-line no-await-in-loop -- as above
      await database.close()
    }
  }
}

type Seen = {
  readonly load: Load
  readonly stored: number
  readonly used: number
  readonly given: number
  readonly blows: readonly Blow[]
}

function judge({ load, stored, used, given, blows }: Seen, stopped: string | null): Outcome {
  const answers = load.answers.entries
  const said = (status: number | string): number => answers.filter((answer) => answer.status === status).length
  const ordinary = new Set<number | string>([201, 429, 503, 'broken'])
  const findings = [
    promise('more stored than the quota allows', differing(stored > given, `${stored} of ${given}`)),
    promise('fewer stored than the quota allows', differing(stored < given, `${stored} of ${given}`)),
    promise('more acknowledged than stored', differing(said(201) > stored, `${said(201)} of ${stored}`)),
    promise('counted wrongly', differing(used !== QUOTA, `${used} of ${QUOTA}`)),
    promise(
      'answers other than 201, 429 and 503',
      answers.flatMap(({ event, status }) => (ordinary.has(status) ? [] : [`${event} ${status}`])),
    ),
    promise(
      '429 and 503 without Retry-After',
      answers.flatMap(({ event, status, retryAfter }) =>
        (status === 429 || status === 503) && retryAfter === null ? [event] : [],
      ),
    ),
  ]
  const figures = [
    counted('events sent', load.sent.entries.length),
    counted('room given / stored', `${given} / ${stored}`),
    counted('201 / 429 / 503 / no answer', [201, 429, 503, 'broken'].map(said).join(' / ')),
    counted('blows', blows.length),
  ]
  return { findings, figures, stopped }
}

function differing(isBroken: boolean, example: string): readonly string[] {
  return isBroken ? [example] : []
}
