import assert from 'node:assert/strict'
import type { TestClock } from '../../src/platform/clock.ts'
import type { Ctx, Deps } from '../../src/context.ts'
import type { PauseReason } from '../../src/domain/delivery/delivery-state.ts'
import type { Answer, Held, LeaseInput, Settle } from '../../src/pipeline/deliver/ports.ts'
import { laneKey } from '../../src/pipeline/deliver/postgres-rows.ts'
import { sql } from '../../src/platform/db.ts'
import { uuidv7Floor } from '../../src/platform/ids.ts'
import { makeDays } from '../../src/platform/partitions.ts'
import { DAY_TABLES } from '../../src/workers/upkeep.ts'
import { destinations } from '../../src/resources/delivery/destinations/index.ts'
import { insertProject } from '../../src/resources/workspace/projects/index.ts'
import { insertEvents } from '../../src/resources/capture/submissions/insert/queries.ts'
import { insertWorkspace } from '../../src/resources/workspace/workspaces/index.ts'
import type { World } from './harness.ts'
import { statement } from './fixtures.ts'

export type ProjectAt = { readonly workspaceId: string; readonly projectId: string }
export type LaneAt = ProjectAt & { readonly destinationId: string; readonly lane: string }
export type Item = { readonly delivery_id: string; readonly record_id: string; readonly lane: string }

export type DeliveryRow = {
  readonly id: string
  readonly state: string
  readonly pause_reason: string | null
  readonly next_attempt_at: Date | null
  readonly attempt_count: number
  readonly failure_count: number
  readonly next_trigger: string
}

let made = 0

/**
 * The rows that a delivery store works on, created and changed as the rest of the product does it. Nothing is sent
 * here.
 */
export class StoreRows {
  readonly deps: Deps
  readonly clock: TestClock

  constructor(world: World) {
    this.deps = {
      ...world.app.deps,
      configChanged: () => undefined,
      lanesChanged: () => undefined,
      instancesDue: () => undefined,
    }
    this.clock = world.clock
  }

  get now(): Date {
    return new Date(this.clock.now())
  }

  /** Partitions as a server creates them. */
  async makeDays(daysAhead = 1): Promise<void> {
    await makeDays(this.deps.database, DAY_TABLES, { now: this.clock.now(), daysAhead })
  }

  /** The time is the present and rises, so that rows made later sort later. */
  #uuid(): string {
    made += 1
    return `${uuidv7Floor(this.clock.now()).slice(0, 13)}-7000-8000-${made.toString(16).padStart(12, '0')}`
  }

  async clear(): Promise<void> {
    for (const table of [
      'deliveries',
      'delivery_attempts',
      'records',
      'submissions',
      'destinations',
      'lanes',
      'lane_owners',
      'orphaned_requests',
    ]) {
      // oxlint-disable-next-line no-await-in-loop -- one table after the other
      await statement(this.deps.database, `delete from ${table}`)
    }
  }

  async aWorkspace(): Promise<ProjectAt> {
    const [workspaceId, projectId, now] = [this.#uuid(), this.#uuid(), this.now]
    await insertWorkspace(this.deps.database, { id: workspaceId, slug: `w${made}`, name: 'W', now })
    await insertProject(this.deps.database, { workspaceId, id: projectId, slug: 'p', name: 'P', isDefault: true, now })
    return { workspaceId, projectId }
  }

  ctx(at: ProjectAt, database = this.deps.database): Ctx {
    return {
      ...this.deps,
      ...at,
      database,
      db: database,
      actor: { kind: 'system', role: 'owner' },
      requestId: 'test',
      ip: undefined,
    }
  }

  async aLane(project?: ProjectAt, ordering: 'none' | { path: string } = 'none'): Promise<LaneAt> {
    const at = project ?? (await this.aWorkspace())
    made += 1
    const name = `d${made}`
    await destinations.create(this.ctx(at), {
      name,
      config: { kind: 'http' },
      url: 'https://example.com/',
      enabled: true,
      datasets: null,
      conditions: [],
      headers: {},
      auth: { kind: 'none' },
      tls: null,
      proxy: null,
      payload_template: null,
      transform_id: null,
      body: 'envelope',
      forward_headers: [],
      retry: { schedule_seconds: null },
      timeout_ms: 15_000,
      max_in_flight: 10,
      rate_limit: null,
      ordering,
      signing: { header: 'both' },
    })
    const row = await this.deps.database.one<{ id: string }>(
      sql`select id from destinations where name = ${name} and workspace_id = ${at.workspaceId}`,
    )
    return { ...at, destinationId: row.id, lane: laneKey({ workspaceId: at.workspaceId, destinationId: row.id }) }
  }

  /** One event with one record for each delivery, committed by the statement that ingest uses. */
  async ingest(
    at: LaneAt,
    options: {
      count?: number
      pauseReason?: PauseReason | null
      orderKeys?: readonly string[]
      /** The fence under which the commit starts first attempts. */
      starts?: number | null
    } = {},
  ): Promise<readonly Item[]> {
    const { count = 1, pauseReason = null, orderKeys = [], starts = null } = options
    const items = Array.from({ length: count }, () => ({
      delivery_id: this.#uuid(),
      record_id: this.#uuid(),
      lane: at.lane,
    }))
    await insertEvents(
      this.deps.database,
      items.map(({ delivery_id, record_id }, index) => ({
        workspaceId: at.workspaceId,
        projectId: at.projectId,
        submission: { ...SUBMISSION, id: this.#uuid(), rootId: record_id, receivedAt: this.clock.now() },
        records: [{ id: record_id, dataset: 'events', data: null }],
        deliveries: [
          {
            id: delivery_id,
            recordId: record_id,
            destinationId: at.destinationId,
            pauseReason,
            orderKey: orderKeys[index],
            start: starts === null ? undefined : { attemptId: this.#uuid(), fence: starts, at: this.now },
          },
        ],
        starts: [],
        runs: [],
        newDatasets: [],
      })),
    )
    return items
  }

  async attemptOf(deliveryId: string): Promise<string> {
    const row = await this.deps.database.one<{ id: string }>(
      sql`select id from delivery_attempts where delivery_id = ${deliveryId}`,
    )
    return row.id
  }

  async switchLane(at: LaneAt, enabled: boolean, database = this.deps.database): Promise<void> {
    await destinations.update(this.ctx(at, database), { id: at.destinationId, enabled })
  }

  async setSuspended({ workspaceId }: ProjectAt, suspended: boolean): Promise<void> {
    await this.deps.database.run(
      sql`update workspaces set suspended_at = ${suspended ? this.now : null} where id = ${workspaceId}`,
    )
  }

  deliveries(): Promise<readonly DeliveryRow[]> {
    return this.deps.database.many<DeliveryRow>(sql`
      select id, state, pause_reason, next_attempt_at, attempt_count, failure_count, next_trigger from deliveries order by id
    `)
  }

  async states(): Promise<readonly string[]> {
    return [...(await this.deliveries())].map((row) => row.state)
  }

  async delivery(id: string | undefined): Promise<DeliveryRow> {
    const row = (await this.deliveries()).find((one) => one.id === id)
    assert.ok(row)
    return row
  }
}

const SUBMISSION = {
  webhookId: null,
  ingestKeyId: null,
  hops: 0,
  chain: null,
  sourceIp: null,
  contentType: null,
  headers: '{}',
  query: null,
  path: null,
  body: '{}',
  bodyHex: null,
  bodySize: 2,
  decision: '{}',
  origin: null,
} as const

/** A sweep for any work, with room for everything. */
export const anyDue = (owner: string, serial = 1): LeaseInput => ({
  owner,
  lease_ms: 15_000,
  serial,
  doubtful_from: null,
  wanted: [],
  any_due: true,
  lanes_max: 100,
})

export function valueOf<T>(answer: Answer<T>): T {
  if (answer.outcome !== 'done') assert.fail(`the store answered ${answer.outcome}`)
  return answer.value
}

export function settleOf(
  begun: Held & { readonly delivery_id: string; readonly attempt_id: string },
  settle: Partial<Settle>,
): Settle {
  const { lane, fence, delivery_id, attempt_id } = begun
  const failed = {
    outcome: 'failed',
    next: 'retrying',
    error_code: null,
    next_attempt_in_ms: null,
    counts: true,
    disable_destination: null,
    result: null,
  } as const
  return { lane, fence, delivery_id, attempt_id, ...failed, ...settle }
}

export const delivered = { outcome: 'succeeded', next: 'delivered' } as const
export const retryIn = (ms: number) =>
  ({ outcome: 'failed', next: 'retrying', error_code: 'timeout', next_attempt_in_ms: ms }) as const
export const failed = { outcome: 'failed', next: 'failed', error_code: 'bad_status' } as const
export const interrupted = { outcome: 'interrupted', next: 'retrying', next_attempt_in_ms: 0 } as const
export const gone = {
  outcome: 'failed',
  next: 'paused',
  error_code: 'bad_status',
  disable_destination: 'gone',
} as const
export const failedProbe = { ...retryIn(0), counts: false } as const
export const hopeless = { ...gone, counts: false, disable_destination: 'failing' } as const
