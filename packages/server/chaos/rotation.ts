import { createHmac } from 'node:crypto'
import { Agent } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { decodeId } from '@postroad/contract'
import type { Rng } from '../sim/rng.ts'
import { systemClock } from '../src/platform/clock.ts'
import { exchange, type Reply } from './http.ts'
import type { Ledger } from './ledger.ts'
import { endOverlaps } from './queries.ts'
import type { Stage } from './stage.ts'

/** A URL or a secret, and its validity: certainly valid until `unsureFrom`, and certainly expired from `endedAt` on. */
export type Credential = { readonly value: string; readonly from: number; unsureFrom: number; endedAt: number }

/** One request with a URL and a secret of an endpoint. */
export type Probe = {
  readonly url: Credential
  readonly secret: Credential
  readonly sentAt: number
  readonly at: number
  readonly status: number | string
  /** The dataset that it was filed into; null: none. */ readonly dataset: string | null
}

type Webhook = { readonly public_url: string; readonly previous_public_url: string | null }

const clock = systemClock()
const credential = (value: string): Credential => ({
  value,
  from: clock.now(),
  unsureFrom: Infinity,
  endedAt: Infinity,
})

/** Longer than nodes take to learn of a change. The clocks of two processes differ by less than `SPARE_MS`. */
const DEADLINE_MS = 3_000
const SPARE_MS = 1_000
const CALL_AGAIN_MS = 100
const HEARD_MS = 60_000

/** An endpoint whose URL and secret are replaced repeatedly, with a ledger of their validity. */
export class Rotated {
  readonly #stage: Stage
  readonly #rng: Rng
  readonly #id: string
  readonly #probes: Ledger<Probe>
  readonly urls: Credential[]
  readonly secrets: Credential[]
  rotations = 0

  constructor(of: { stage: Stage; rng: Rng; probes: Ledger<Probe>; id: string; url: string; secret: string }) {
    this.#stage = of.stage
    this.#rng = of.rng
    this.#id = of.id
    this.#probes = of.probes
    this.urls = [credential(of.url)]
    this.secrets = [credential(of.secret)]
  }

  /** One more rotation, or the end of an overlap, which waits for it. */
  async turn(signal: AbortSignal): Promise<void> {
    const overlap_hours = this.#rng.chance(0.7) ? 24 : 0
    this.rotations += 1
    if (this.#rng.chance(0.25)) await this.#reachDeadline(signal)
    else if (this.#rng.chance(0.5)) await this.#rotateUrl(overlap_hours, signal)
    else await this.#rotateSecret(overlap_hours, signal)
  }

  async #rotateUrl(overlap_hours: number, signal: AbortSignal): Promise<void> {
    const began = clock.now()
    // If a kill leaves the outcome unknown, the endpoint itself shows it.
    const answer = await this.#stage
      .admin('POST', `webhooks/${this.#id}/rotate`, { overlap_hours })
      .catch(() => this.#look(signal))
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the contract's answer
    const { public_url, previous_public_url } = answer as Webhook
    const living = [public_url, previous_public_url]
    for (const url of this.urls) if (!living.includes(url.value)) end(url, { from: began, at: clock.now() })
    if (!this.urls.some(({ value }) => value === public_url)) this.urls.push(credential(public_url))
  }

  async #look(signal: AbortSignal): Promise<Webhook> {
    for (;;) {
      try {
        // oxlint-disable-next-line no-await-in-loop, typescript/no-unsafe-type-assertion -- until the server is back; the contract's answer
        return ((await this.#stage.admin('GET', `webhooks/${this.#id}`)) as { readonly webhook: Webhook }).webhook
      } catch {
        // oxlint-disable-next-line no-await-in-loop -- as above
        await sleep(CALL_AGAIN_MS, undefined, { signal })
      }
    }
  }

  async #rotateSecret(overlap_hours: number, signal: AbortSignal): Promise<void> {
    const began = clock.now()
    const value = `secret ${this.rotations}`
    const previous = this.secrets.at(-1)
    const send = (): Promise<boolean> =>
      this.#stage
        .admin('POST', `webhooks/${this.#id}/rotate-verification-secret`, { secret: value, overlap_hours })
        .then(
          () => true,
          () => false,
        )
    let tries = 1
    while (!(await send())) {
      tries += 1
      // oxlint-disable-next-line no-await-in-loop -- until the server is back
      await sleep(CALL_AGAIN_MS, undefined, { signal })
    }
    for (const secret of this.secrets) {
      if (secret !== previous || overlap_hours === 0) end(secret, { from: began, at: clock.now() })
      // Two requests may have been two rotations: then the previous secret is the new one, and this one has expired.
      else if (tries > 1) secret.unsureFrom = Math.min(secret.unsureFrom, began)
    }
    this.secrets.push(credential(value))
  }

  /**
   * The overlaps end by the clock: nobody writes anything when their time comes. This writes the near deadline to the database
   * without notifying the server. The server knows of it when it files into the dataset that was written together with it.
   */
  async #reachDeadline(signal: AbortSignal): Promise<void> {
    const began = clock.now()
    const previous = [...this.urls.slice(0, -1), ...this.secrets.slice(0, -1)].filter(
      ({ endedAt }) => endedAt === Infinity,
    )
    const dataset = `ends_${this.rotations}`
    const { value } = this.urls.at(-1) ?? { value: '' }
    const over = new AbortController()
    const heard = this.#probes.next((probe) => probe.url.value === value && probe.dataset === dataset, {
      patienceMs: HEARD_MS,
      signal: AbortSignal.any([over.signal, signal]),
    })
    heard.catch(() => undefined)
    const database = this.#stage.openDatabase()
    const deadline = began + DEADLINE_MS
    try {
      await endOverlaps(database, {
        workspaceId: this.#stage.workspaceId,
        webhookId: decodeId('webhook', this.#id) ?? '',
        dataset,
        end: new Date(deadline),
      })
      const heardAt = (await heard)?.at ?? Infinity
      for (const one of previous) end(one, { from: deadline - SPARE_MS, at: Math.max(deadline + SPARE_MS, heardAt) })
    } catch {
      // PostgreSQL was struck, so it is unknown whether there is a deadline.
      for (const one of previous) one.unsureFrom = Math.min(one.unsureFrom, began)
    } finally {
      over.abort()
      await database.close()
    }
    await sleep(Math.max(0, deadline + SPARE_MS - clock.now()), undefined, { signal })
  }
}

function end(one: Credential, when: { from: number; at: number }): void {
  one.unsureFrom = Math.min(one.unsureFrom, when.from)
  one.endedAt = Math.min(one.endedAt, when.at)
}

const LATEST = 4

/** Sends with the latest URLs and secrets of the endpoints, valid and expired ones, one request after the other. */
export function startProbes(of: { endpoints: readonly Rotated[]; probes: Ledger<Probe>; rng: Rng; senders: number }): {
  stop(): Promise<void>
} {
  const { endpoints, probes, rng } = of
  const agent = new Agent({ keepAlive: true, maxSockets: of.senders })
  const over = new AbortController()
  const send = async (): Promise<void> => {
    while (!over.signal.aborted) {
      const endpoint = rng.pick(endpoints)
      const [url, secret] = [rng.pick(endpoint.urls.slice(-LATEST)), rng.pick(endpoint.secrets.slice(-LATEST))]
      const sentAt = clock.now()
      const headers = {
        'content-type': 'application/json',
        'x-signature': createHmac('sha256', secret.value).update('{}').digest('hex'),
      }
      // oxlint-disable-next-line no-await-in-loop -- each sender sends one after the other
      const reply = await exchange({ method: 'POST', url: url.value, headers, body: '{}', agent, timeoutMs: 15_000 })
      probes.note({
        url,
        secret,
        sentAt,
        at: clock.now(),
        status: typeof reply === 'string' ? reply : reply.status,
        dataset: datasetIn(reply),
      })
      // oxlint-disable-next-line no-await-in-loop -- a server that is down fails immediately, and one that is up has other work too
      await sleep(20)
    }
  }
  const all = Array.from({ length: of.senders }, () => send())
  return {
    stop: async () => {
      over.abort()
      await Promise.all(all)
      agent.destroy()
    },
  }
}

function datasetIn(reply: Reply | 'broken' | 'hung'): string | null {
  return typeof reply === 'string' ? null : (/"dataset":"([^"]+)"/.exec(reply.body)?.[1] ?? null)
}

const isLiving = (one: Credential, { sentAt, at }: Probe): boolean => one.from <= sentAt && at < one.unsureFrom
const isRight = (probe: Probe): boolean => isLiving(probe.url, probe) && isLiving(probe.secret, probe)
const isOver = ({ url, secret, sentAt }: Probe): boolean => url.endedAt <= sentAt || secret.endedAt <= sentAt
const text = ({ url, secret, status, sentAt, at }: Probe): string =>
  JSON.stringify({ status, sentAt, at, url: { ...url, value: url.value.slice(-4) }, secret })

/** A 503 or no answer at all comes from the kills. Every other answer but 201 is a refusal. */
export function refusedInTime(probes: readonly Probe[]): readonly string[] {
  return probes
    .filter((probe) => typeof probe.status === 'number' && ![201, 503].includes(probe.status) && isRight(probe))
    .map(text)
}

export function acceptedAfterEnd(probes: readonly Probe[]): readonly string[] {
  return probes.filter((probe) => probe.status === 201 && isOver(probe)).map(text)
}

/** How many probes proved something: those that had to be accepted and were, and those that had to be refused and were. */
export function proven(probes: readonly Probe[]): { readonly accepted: number; readonly refused: number } {
  return {
    accepted: probes.filter((probe) => probe.status === 201 && isRight(probe)).length,
    refused: probes.filter((probe) => (probe.status === 404 || probe.status === 401) && isOver(probe)).length,
  }
}
