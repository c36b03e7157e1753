import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Rng } from '../../sim/rng.ts'
import { SEALED_COLUMNS, secretPlace } from '../../src/resources/secret-place.ts'
import { createCipher, type Cipher } from '../../src/platform/cipher.ts'
import { openKeyFile } from '../../src/platform/key-file.ts'
import { promise } from '../checks.ts'
import { counted } from '../figures.ts'
import { Ledger } from '../ledger.ts'
import { startLoad, type Answer } from '../load.ts'
import { createNemesis, type Blow } from '../nemesis.ts'
import { sealedValues } from '../queries.ts'
import { acceptedAfterEnd, proven, refusedInTime, Rotated, startProbes, type Probe } from '../rotation.ts'
import { defineScenario, type Outcome, type Request } from '../scenario.ts'
import type { Receipt } from '../sink.ts'
import type { Stage } from '../stage.ts'
import { storm, weather } from '../storm.ts'

const ENDPOINTS = 3
const SENDERS = 8
/** Time for rotations, and for requests with the rotated credentials. */
const CALM_MS = 2_000
const COMMAND_MS_MIN = 300
const COMMAND_MS_MAX = 2_500

/** URLs, secrets and the key that seals them are replaced under load, while the server and the command are killed. */
export const rotate = defineScenario({
  name: 'rotate',
  about: 'rotations of URLs, secrets and the key ring, under kill9',
  play,
})

async function play(stage: Stage, request: Request): Promise<Outcome> {
  const { seed, signal, ratePerSecond } = request
  const blows = new Ledger<Blow>(join(stage.folder, 'blows.jsonl'))
  const receipts = new Ledger<Receipt>(join(stage.folder, 'receipts.jsonl'))
  const probes = new Ledger<Probe>(join(stage.folder, 'probes.jsonl'))
  const keys = new KeyTurns(stage, new Rng(seed + 5))
  try {
    const endpoints = await Promise.all(
      Array.from({ length: ENDPOINTS }, (_none, index) =>
        anEndpoint(stage, { probes, rng: new Rng(seed + 10 + index) }),
      ),
    )
    const load = startLoad({
      folder: stage.folder,
      seed,
      ratePerSecond,
      urlOf: () => stage.endpoint,
      percent: { events: 100 },
    })
    const senders = startProbes({ endpoints, probes, rng: new Rng(seed + 3), senders: SENDERS })
    const turns = startTurns(endpoints, signal)
    const nemesis = createNemesis({ stage, rng: new Rng(seed + 2), blows, answers: load.answers, receipts, signal })
    const stopped = await weather(load, () =>
      weather(senders, () =>
        weather(turns, async () => {
          const ended = await storm(request, { nemesis, meanwhile: () => turnBesideServer({ stage, keys, signal }) })
          await untilProven(probes, signal)
          return ended
        }),
      ),
    )
    await stage.ready().catch(() => undefined)
    request.say('healed; the last rotation of the key')
    const wrong = await keys.finish()
    return judge(
      { endpoints, probes: probes.entries, answers: load.answers.entries, blows: blows.entries, keys, wrong },
      stopped,
    )
  } finally {
    for (const ledger of [blows, receipts, probes]) ledger.close()
  }
}

const PROVEN_LOOKS_MAX = 60
const PROVEN_LOOK_MS = 500

/** A short storm on a slow machine may end before a credential has expired, so the rotations continue until a probe saw one. */
async function untilProven(probes: Ledger<Probe>, signal: AbortSignal): Promise<void> {
  for (let looks = 0; looks < PROVEN_LOOKS_MAX; looks += 1) {
    const { accepted, refused } = proven(probes.entries)
    if (accepted > 0 && refused > 0) return
    // oxlint-disable-next-line no-await-in-loop -- looks again a moment later
    await sleep(PROVEN_LOOK_MS, undefined, { signal })
  }
}

async function anEndpoint(stage: Stage, { probes, rng }: { probes: Ledger<Probe>; rng: Rng }): Promise<Rotated> {
  const secret = `secret of ${rng.int(0, 1_000_000)}`
  const made = await stage.admin('POST', 'webhooks', {
    name: `rotated ${rng.int(0, 1_000_000)}`,
    verification: { scheme: 'hmac', secret },
  })
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the contract's answer
  const { webhook } = made as { readonly webhook: { readonly id: string; readonly public_url: string } }
  return new Rotated({ stage, rng, probes, id: webhook.id, url: webhook.public_url, secret })
}

/** Each endpoint is rotated repeatedly until the end. */
function startTurns(endpoints: readonly Rotated[], signal: AbortSignal): { stop(): Promise<void> } {
  const over = new AbortController()
  const until = AbortSignal.any([over.signal, signal])
  const all = Promise.allSettled(
    endpoints.map(async (endpoint) => {
      // oxlint-disable-next-line no-await-in-loop -- one after the other; the end of the run ends it too
      while (!until.aborted) await endpoint.turn(until)
    }),
  )
  return {
    stop: async () => {
      over.abort()
      await all
    },
  }
}

/**
 * A command that finds no server starts PostgreSQL itself, and the server waits for it. So the command is started beside a
 * server.
 */
async function turnBesideServer({
  stage,
  keys,
  signal,
}: {
  stage: Stage
  keys: KeyTurns
  signal: AbortSignal
}): Promise<void> {
  await stage.ready()
  await keys.turn()
  await stage.ready()
  await sleep(CALM_MS, undefined, { signal })
}

/** Runs `rotate-key` beside everything else, kills every second run, and checks whether all values open. */
class KeyTurns {
  readonly #stage: Stage
  readonly #rng: Rng
  readonly unreadable = new Set<string>()
  runs = 0
  looks = 0

  constructor(stage: Stage, rng: Rng) {
    this.#stage = stage
    this.#rng = rng
  }

  async turn(): Promise<void> {
    this.runs += 1
    await this.#stage.command(
      ['rotate-key', '--json'],
      this.runs % 2 === 1 ? this.#rng.int(COMMAND_MS_MIN, COMMAND_MS_MAX) : undefined,
    )
    // PostgreSQL may be down at the moment. Only the last check must succeed.
    await this.#look().catch(() => undefined)
  }

  /** Runs one rotation to its end. Returns the errors found then. */
  async finish(): Promise<readonly string[]> {
    const { code, printed, said } = await this.#stage.command(['rotate-key', '--json'])
    const unseen = await this.#look().then(
      () => [],
      (error: unknown) => [String(error)],
    )
    const held = openKeyFile(this.#stage.dataDir).keys().length
    return [
      ...(code === 0 ? [] : [`exit code ${code}: ${printed}${said}`]),
      ...(held === 1 ? [] : [`${held} keys in the file`]),
      ...unseen,
    ]
  }

  /** Reads only the file and the rows, while no `rotate-key` runs: after each run, all values must open. */
  async #look(): Promise<void> {
    const database = this.#stage.openDatabase()
    try {
      const cipher = createCipher(openKeyFile(this.#stage.dataDir).keys())
      for (const column of SEALED_COLUMNS) {
        // oxlint-disable-next-line no-await-in-loop -- one look at a time
        const rows = await sealedValues(database, column)
        const wrong = rows.filter(({ id, sealed }) => !opens(cipher, { sealed, place: secretPlace(column, id) }))
        for (const { id } of wrong) this.unreadable.add(secretPlace(column, id))
      }
      this.looks += 1
    } finally {
      await database.close()
    }
  }
}

function opens(cipher: Cipher, { sealed, place }: { readonly sealed: Buffer; readonly place: string }): boolean {
  try {
    cipher.open(sealed, place)
    return true
  } catch {
    return false
  }
}

type Evidence = {
  readonly endpoints: readonly Rotated[]
  readonly probes: readonly Probe[]
  readonly answers: readonly Answer[]
  readonly blows: readonly Blow[]
  readonly keys: KeyTurns
  readonly wrong: readonly string[]
}

function judge({ endpoints, probes, answers, blows, keys, wrong }: Evidence, stopped: string | null): Outcome {
  const { accepted, refused } = proven(probes)
  const findings = [
    promise('refused while valid', refusedInTime(probes)),
    promise('accepted after its expiry', acceptedAfterEnd(probes)),
    promise('sealed values that nobody can open', [...keys.unreadable]),
    promise('wrong after the last rotation of the key', wrong),
    promise(
      'good requests refused',
      answers
        .filter(({ status }) => typeof status === 'number' && status !== 201 && status !== 503)
        .map((one) => JSON.stringify(one)),
    ),
    promise(
      'a run that proves nothing',
      accepted > 0 && refused > 0 && keys.looks > 0
        ? []
        : [`${accepted} accepted, ${refused} refused, ${keys.looks} looks`],
    ),
  ]
  const figures = [
    counted(
      'rotations of URLs and secrets',
      endpoints.reduce((sum, endpoint) => sum + endpoint.rotations, 0),
    ),
    counted('rightly accepted / rightly refused', `${accepted} / ${refused} of ${probes.length}`),
    counted('rotations of the key, half of them killed', keys.runs),
    counted('good requests acknowledged', answers.filter(({ status }) => status === 201).length),
    counted('blows', blows.length),
  ]
  return { findings, figures, stopped }
}
