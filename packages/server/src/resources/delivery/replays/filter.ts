import { encodeId, type Conditions } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { uuidv7Floor } from '../../../platform/ids.ts'
import type { Wanted } from '../deliveries/index.ts'
import type { StoredFilter } from './queries.ts'

/** The stored filter of a replay as the filter of a scan. */
export function wantedBy({
  state,
  destination_id,
  record_id,
  webhook_id,
  dataset,
  conditions,
  q,
}: StoredFilter): Wanted {
  return {
    states: state,
    stuck: null,
    held: null,
    destinationId: destination_id ?? null,
    recordId: record_id ?? null,
    webhookId: webhook_id ?? null,
    dataset: dataset ?? null,
    ruleId: null,
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- stored as the contract took them
    conditions: conditions as Conditions,
    text: q ?? null,
  }
}

/** The last id before the range of a replay; null: no lower bound. */
export function afterOf({ from }: Pick<StoredFilter, 'from'>): string | null {
  return from === undefined ? null : uuidv7Floor(Date.parse(from))
}

/** The first id after the range of a replay. Deliveries created from now on are left out. */
export function uptoOf(ctx: Pick<Ctx, 'uuid'>, { to }: Pick<StoredFilter, 'to'>): string {
  const now = ctx.uuid()
  const end = to === undefined ? now : uuidv7Floor(Date.parse(to))
  return end < now ? end : now
}

/** The filter of the request, with public ids. */
export function presentFilter(filter: StoredFilter): Record<string, unknown> {
  const { destination_id, record_id, webhook_id } = filter
  return {
    ...filter,
    ...(destination_id === undefined ? {} : { destination_id: encodeId('destination', destination_id) }),
    ...(record_id === undefined ? {} : { record_id: encodeId('record', record_id) }),
    ...(webhook_id === undefined ? {} : { webhook_id: encodeId('webhook', webhook_id) }),
  }
}
