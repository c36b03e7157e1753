import { sql, type Db, type Sql } from '../../../../platform/db.ts'
import type { IdRange } from '../../../id-range.ts'
import type { HeldFilter } from '../../delivery-holds/index.ts'
import { columns, type At, type DeliveryRow } from '../queries.ts'

type DeliveryFilter = {
  readonly state: DeliveryRow['state'] | null
  readonly destinationId: string | null
  readonly recordIds: readonly string[] | null
  /** Only deliveries that are held back in this way; `crowded`: the lanes in which many wait. */
  readonly held: (HeldFilter & { readonly crowded: ReadonlySet<string> }) | null
}

/** Each state as a literal of the statement, so that its index serves: a parameter could be any state. */
const IN_STATE: Readonly<Record<DeliveryRow['state'], Sql>> = {
  pending: sql`and state = 'pending' and next_attempt_at is not null`,
  sending: sql`and state = 'sending'`,
  delivered: sql`and state = 'delivered'`,
  retrying: sql`and state = 'retrying' and next_attempt_at is not null`,
  failed: sql`and state = 'failed'`,
  paused: sql`and state = 'paused'`,
  cancelled: sql`and state = 'cancelled'`,
}

type Asked = At &
  DeliveryFilter &
  IdRange & {
    /** Only deliveries to these few destinations, instead of `destinationId`. */
    readonly destinationIds?: readonly string[]
    readonly before: string | null
    readonly limit: number
  }

const pageColumns: Sql = sql`
  workspace_id, project_id, id, record_id, destination_id, state, pause_reason, attempt_count, next_attempt_at,
  last_status, last_error, created_at, updated_at
`

const isBehind: Sql = sql`
  and order_key is not null
  and exists (
        select 1
          from deliveries earlier
         where earlier.workspace_id = deliveries.workspace_id
           and earlier.destination_id = deliveries.destination_id
           and earlier.order_key = deliveries.order_key
           and earlier.order_key is not null
           and earlier.order_seq < deliveries.order_seq
           and earlier.state in ('pending', 'sending', 'retrying', 'paused')
      )
`

type Lane = { readonly destinationId: string; readonly until: Date }

/**
 * The newest deliveries that are due in each of these lanes. Where few wait, all of them are read by the index of due deliveries and sorted.
 * Where many wait, the lane is read from its newest delivery on: nearly all of them wait, and the index of due deliveries is not used.
 */
// oxlint-disable-next-line max-params -- the columns, the lanes, and further conditions
const dueIn = (
  at: Asked,
  { lanes, many }: { readonly lanes: readonly Lane[]; readonly many: boolean },
  further: Sql,
) => sql`
  select found.*
    from unnest(${lanes.map((lane) => lane.destinationId)}::uuid[], ${lanes.map((lane) => lane.until)}::timestamptz[])
      as given (destination_id, until)
   cross join lateral (
           select *
             from (
                    select ${pageColumns}
                      from deliveries
                     where workspace_id = ${at.workspaceId}
                       and project_id = ${at.projectId}
                       ${isAsked(at)}
                       and destination_id = given.destination_id
                       and state in ('pending', 'retrying')
                       ${
                         many
                           ? sql`and coalesce(next_attempt_at, 'infinity') <= given.until ${further} order by id desc limit ${at.limit}`
                           : sql`and next_attempt_at <= given.until ${further} offset 0`
                       }
                  ) waiting
            order by id desc
            limit ${at.limit}
         ) found
`

const pausedIn = (at: Asked, off: readonly string[]): Sql => sql`
  select found.*
    from unnest(${off}::uuid[]) as given (destination_id)
   cross join lateral (
           select ${pageColumns}
             from deliveries
            where workspace_id = ${at.workspaceId}
              and project_id = ${at.projectId}
              ${isAsked(at)}
              and destination_id = given.destination_id
              and state = 'paused'
              and pause_reason = 'destination_disabled'
            order by id desc
            limit ${at.limit}
         ) found
`

/** Deliveries that are held back are searched lane by lane, in parts that each have their index. */
function pageRows(at: Asked): Sql {
  if (at.destinationIds !== undefined) return newestTo(at, at.destinationIds)
  if (at.held === null) return newestRows(at)
  const { lanes, off, ordered, crowded, now } = at.held
  const isWanted = (id: string): boolean => at.destinationId === null || id === at.destinationId
  const inOrder = ordered.map((destinationId) => ({ destinationId, until: now }))
  const parts = [true, false].flatMap((many) => {
    const those = (all: readonly Lane[]): readonly Lane[] =>
      all.filter(({ destinationId: id }) => isWanted(id) && crowded.has(id) === many)
    return [
      { lanes: those(lanes), many, further: sql`` },
      { lanes: those(inOrder), many, further: isBehind },
    ]
  })
  const union = parts
    .filter((part) => part.lanes.length > 0)
    .reduce<Sql>(
      (before, { further, ...part }) => sql`${before} union all (${dueIn(at, part, further)})`,
      sql`(${pausedIn(at, off.filter(isWanted))})`,
    )
  return sql`
    select ${pageColumns}
      from (${union}) held_back
     order by id desc
     limit ${at.limit}
  `
}

const isAsked = (at: Asked): Sql => sql`
                ${at.state === null ? sql`` : IN_STATE[at.state]}
                ${at.recordIds === null ? sql`` : sql`and record_id = any (${at.recordIds}::uuid[])`}
                ${at.before === null ? sql`` : sql`and id < ${at.before}`}
                ${at.fromId === null ? sql`` : sql`and id >= ${at.fromId}`}
                ${at.toId === null ? sql`` : sql`and id < ${at.toId}`}
`

const newestRows = (at: Asked): Sql => sql`
             select ${pageColumns}
               from deliveries
              where workspace_id = ${at.workspaceId}
                and project_id = ${at.projectId}
                ${isAsked(at)}
                ${at.destinationId === null ? sql`` : sql`and destination_id = ${at.destinationId}`}
              order by id desc
              limit ${at.limit}
`

/** Reads the newest of each destination by its index, and selects the newest of those. */
const newestTo = (at: Asked, ids: readonly string[]): Sql => sql`
             select found.*
               from unnest(${ids}::uuid[]) as given (destination_id)
              cross join lateral (
                      select ${pageColumns}
                        from deliveries
                       where workspace_id = ${at.workspaceId}
                         and project_id = ${at.projectId}
                         and destination_id = given.destination_id
                         ${isAsked(at)}
                       order by id desc
                       limit ${at.limit}
                    ) found
              order by id desc
              limit ${at.limit}
`

/** Newest first; `before` is the id to continue after. The page is found first, and its records one by one: a plan for all days would join all of them. */
export function listDeliveries(db: Db, at: Asked): Promise<readonly DeliveryRow[]> {
  return db.many<DeliveryRow>(sql`
    select ${columns}
      from (${pageRows(at)}
           ) d
     cross join lateral (
             select dataset
               from records
              where workspace_id = d.workspace_id
                and project_id = d.project_id
                and id = d.record_id
             offset 0
           ) r
     order by d.id desc
  `)
}
