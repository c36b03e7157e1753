import { LIMITS, type RouteInput, type Routes } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { checkConditions } from '../../check-conditions.ts'
import { presentListed, scan, type DeliveryRow } from '../../delivery/deliveries/index.ts'
import { heldFilter } from '../../delivery/delivery-holds/index.ts'
import { readsPayloads, type PayloadFilter } from '../../capture/payloads/index.ts'
import { idRange } from '../../id-range.ts'
import { WorkCounter } from '../../../domain/work-budget.ts'
import { afterCursor } from '../../page.ts'
import { presentRecord, scanRecords, type RecordRow } from '../../capture/records/index.ts'
import { presentListedSubmission, scanUnfiled } from '../../capture/submissions/index.ts'
import type { Room } from '../../verbs.ts'
import { decodeEventCursor, encodeEventCursor, isByEvent, nextByEvent } from './by-event.ts'
import { pieces } from '../../search-pieces.ts'

type Verbs = Room<'search'>

const SCANNED_WITH_PAYLOADS_MAX = 500

type Asked = Pick<RouteInput<Routes['search']['deliveries']>, 'q' | 'in' | 'f' | 'header' | 'query'>

const filterOf = ({ q, in: textIn = ['payload'], f, header, query }: Asked): PayloadFilter => ({
  text: q ?? null,
  textIn,
  conditions: f,
  headerConditions: header,
  queryConditions: query,
})

type SearchState = NonNullable<RouteInput<Routes['search']['deliveries']>['state']>[number]

/** The requested states of the table, and the lanes of `stuck`, which is not a state. */
async function wantedStates(ctx: Ctx, asked: readonly SearchState[] | undefined) {
  const states = asked?.filter((state) => state !== 'stuck') ?? null
  const stuck = asked?.includes('stuck') === true ? await heldFilter(ctx, 'stuck') : null
  return { states, stuck }
}

export const deliveries: Verbs['deliveries'] = async (
  ctx,
  {
    limit,
    cursor,
    q,
    in: places,
    f,
    header,
    query,
    response,
    dataset,
    webhook,
    destination,
    state,
    held_by,
    rule,
    ...times
  },
) => {
  checkConditions(f, 'f')
  checkConditions(header, 'header')
  checkConditions(query, 'query')
  checkConditions(response, 'response')
  const { fromId, toId } = idRange(times)
  const wanted = {
    ...(await wantedStates(ctx, state)),
    held: held_by === undefined ? null : await heldFilter(ctx, held_by),
    destinationId: destination ?? null,
    recordId: null,
    webhookId: webhook ?? null,
    dataset: dataset ?? null,
    ruleId: rule ?? null,
    ...filterOf({ q, in: places, f, header, query }),
    responseConditions: response,
  }
  const scannedMax =
    readsPayloads(wanted) || wanted.ruleId !== null ? SCANNED_WITH_PAYLOADS_MAX : LIMITS.replayScannedPerPageMax
  const work = new WorkCounter(LIMITS.searchWorkMax)
  if (isByEvent(wanted)) {
    const before = cursor === undefined ? toId : decodeEventCursor(cursor)
    const { rows, ...looked } = await pieces<DeliveryRow>(
      ctx,
      { limit, before, work, encode: encodeEventCursor },
      (at) =>
        nextByEvent(ctx, {
          ...at,
          wanted,
          after: fromId,
          until: toId,
          scannedMax: SCANNED_WITH_PAYLOADS_MAX,
          work,
        }),
    )
    return { deliveries: await presentListed(ctx, rows), ...looked }
  }
  const { rows, ...looked } = await pieces<DeliveryRow>(
    ctx,
    { limit, before: afterCursor(cursor) ?? toId, work },
    (at) =>
      scan(ctx, { wanted, newestFirst: true, after: fromId, before: at.before, limit: at.limit, scannedMax, work }),
  )
  return { deliveries: await presentListed(ctx, rows), ...looked }
}

export const events: Verbs['events'] = async (
  ctx,
  { limit, cursor, q, in: places, f, header, query, dataset, webhook, destination, state, rule, repeated, ...times },
) => {
  checkConditions(f, 'f')
  checkConditions(header, 'header')
  checkConditions(query, 'query')
  const { fromId, toId } = idRange(times)
  const delivery =
    state === undefined && destination === undefined
      ? null
      : { ...(await wantedStates(ctx, state)), destinationId: destination ?? null }
  const wanted = {
    webhookId: webhook ?? null,
    ruleId: rule ?? null,
    repeated,
    dataset: dataset ?? null,
    delivery,
    ...filterOf({ q, in: places, f, header, query }),
  }
  const work = new WorkCounter(LIMITS.searchWorkMax)
  const asked = { limit, before: afterCursor(cursor) ?? toId, work, bytesOf: ({ data }: RecordRow) => data.length }
  const { rows, ...looked } = await pieces(ctx, asked, (at) =>
    scanRecords(ctx, {
      ...wanted,
      after: fromId,
      before: at.before,
      limit: at.limit,
      scannedMax: SCANNED_WITH_PAYLOADS_MAX,
      work,
    }),
  )
  return { records: rows.map(presentRecord), ...looked }
}

export const submissions: Verbs['submissions'] = async (
  ctx,
  { limit, cursor, q, in: places, f, header, query, webhook, repeated, ...times },
) => {
  checkConditions(f, 'f')
  checkConditions(header, 'header')
  checkConditions(query, 'query')
  const { fromId, toId } = idRange(times)
  const work = new WorkCounter(LIMITS.searchWorkMax)
  let [unreadable, unfiled] = [0, 0]
  const { rows, ...looked } = await pieces(ctx, { limit, before: afterCursor(cursor) ?? toId, work }, async (at) => {
    const found = await scanUnfiled(ctx, {
      webhookId: webhook ?? null,
      repeated,
      ...filterOf({ q, in: places, f, header, query }),
      after: fromId,
      before: at.before,
      limit: at.limit,
      scannedMax: LIMITS.replayScannedPerPageMax,
      work,
    })
    unreadable += found.unreadable
    unfiled += found.unfiled
    return found
  })
  return { submissions: rows.map(presentListedSubmission), ...looked, unfiled, unreadable }
}
