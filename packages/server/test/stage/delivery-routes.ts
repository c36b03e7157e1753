import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import { NEXT } from '../../src/domain/delivery/delivery-state.ts'
import { sql, type Database } from '../../src/platform/db.ts'
import { aDestination, post, statement } from './fixtures.ts'
import { aSink, type Answer, type Sink, type World } from './harness.ts'
import { onWorldStage } from './world-stage.ts'

/** Destinations with separate datasets, so that tests share one world, and receivers for their deliveries. */

export type Delivery = Answer['body']

export class Route {
  readonly dataset: string
  readonly destination: Answer['body']
  readonly secret: string
  readonly #world: World

  constructor(at: World, made: { dataset: string; destination: Answer['body']; secret: string }) {
    this.#world = at
    this.dataset = made.dataset
    this.destination = made.destination
    this.secret = made.secret
  }

  /** Sends one event; returns the id of the record, which is the event id. */
  async send(body = '{"n":1}', headers: Record<string, string> = {}): Promise<string> {
    const answer = await post(`${this.#world.endpoint}/${this.dataset}`, body, { headers })
    assert.equal(answer.status, 201)
    return answer.body.records[0].id
  }

  async delivery(recordId: string): Promise<Delivery> {
    const { body } = await this.#world.admin('GET', `deliveries?record_id=${recordId}`)
    return (await this.#world.admin('GET', `deliveries/${body.deliveries[0].id}`)).body.delivery
  }

  /** The delivery of a record once the world is idle. It must be in one of these states. */
  async in(recordId: string, ...states: string[]): Promise<Delivery> {
    await this.#world.idle()
    const delivery = await this.delivery(recordId)
    assert.ok(states.includes(delivery.state), `the delivery is ${delivery.state}, not ${states.join(' or ')}`)
    return delivery
  }

  async patch(members: object): Promise<Answer['body']> {
    const answer = await this.#world.admin('PATCH', `destinations/${this.destination.id}`, members)
    assert.equal(answer.status, 200)
    return answer.body.destination
  }

  async remove(): Promise<void> {
    assert.equal((await this.#world.admin('DELETE', `destinations/${this.destination.id}`)).status, 200)
  }

  replay(delivery: Delivery): Promise<Answer> {
    return this.#world.admin('POST', `deliveries/${delivery.id}/replay`)
  }
}

let datasets = 0

/** A destination at this URL that gets the events of `send`, and nothing else. */
export async function aRoute(world: World, url: string, members: object = {}): Promise<Route> {
  datasets += 1
  const dataset = `d${datasets}`
  return new Route(world, { dataset, ...(await aDestination(world, { url, datasets: [dataset], ...members })) })
}

export async function aTestSink(t: TestContext): Promise<Sink> {
  const sink = await aSink()
  t.after(() => sink.stop())
  return sink
}

export type Held = { readonly url: string; readonly held: ServerResponse[]; until(count: number): Promise<void> }

/** A receiver that answers nothing by itself: the test answers the requests that it has collected. */
export async function aReceiver(
  t: TestContext,
  handle: (request: IncomingMessage, response: ServerResponse) => void = () => undefined,
): Promise<Held> {
  const held: ServerResponse[] = []
  const arrived = new Set<() => void>()
  const server = createServer((request, response) => {
    request.resume()
    request.on('end', () => {
      held.push(response)
      handle(request, response)
      for (const look of arrived) look()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    held,
    until: (count) =>
      new Promise((resolve) => {
        const look = (): void => void (held.length >= count && resolve())
        arrived.add(look)
        look()
      }),
  }
}

/** Moves the clock to the next attempt of the delivery. */
export function advanceTo(world: World, delivery: Delivery): void {
  world.clock.advance(Date.parse(delivery.next_attempt_at) - world.clock.now())
}

export const secondsUntil = (world: World, delivery: Delivery): number =>
  (Date.parse(delivery.next_attempt_at) - world.clock.now()) / 1_000

export function assertAbout(seconds: number, expected: number): void {
  assert.ok(
    seconds >= expected * 0.8 - 0.001 && seconds <= expected * 1.2 + 0.001,
    `${seconds} s is not ${expected} s ± 20 %`,
  )
}

/** Records every change of state in the database from now on. */
async function watchMoves(database: Database): Promise<void> {
  await statement(database, 'create table moves (old text, new text, primary key (old, new))')
  // The server works as a separate role (docs/adr/0026).
  await statement(database, 'grant all on moves to public')
  await statement(
    database,
    `create function note_move() returns trigger language plpgsql as $$
       begin insert into moves values (old.state, new.state) on conflict do nothing; return null; end $$`,
  )
  await statement(
    database,
    `create trigger note_move after update of state on deliveries
       for each row when (old.state <> new.state) execute function note_move()`,
  )
}

/** The stage that all tests of a file share, with every change of state recorded from the start. */
export function onDeliveryStage(prepare: Parameters<typeof onWorldStage>[0]): void {
  onWorldStage(
    async (made) => {
      await watchMoves(made.database)
      await prepare(made)
    },
    { loops: [] },
  )
}

/** The changes of state since the stage was made, each once, as `from → to`. */
export async function movesSeen(database: Database): Promise<readonly string[]> {
  const moves = await database.many<{ old: string; new: string }>(sql`select old, new from moves`)
  return moves.map((move) => `${move.old} → ${move.new}`).toSorted()
}

/** The transitions of the table. */
export const MOVES: readonly string[] = Object.entries(NEXT)
  .flatMap(([from, all]) => all.map((to) => `${from} → ${to}`))
  .toSorted()
