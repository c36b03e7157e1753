import type { About, Table } from './about.ts'
import { about as aiProviders } from './automation/ai-providers/about.ts'
import { about as ingestKeys } from './capture/ingest-keys/about.ts'
import { about as quarantine } from './capture/quarantine/about.ts'
import { about as webhooks } from './capture/webhooks/about.ts'
import { about as destinations } from './delivery/destinations/about.ts'
import { about as mails } from './people/mails/about.ts'
import { about as forwarders } from './serving/forwarders/about.ts'
import { about as sources } from './sources/sources/about.ts'
import { about as wsTriggers } from './sources/ws-triggers/about.ts'
import { about as audit } from './workspace/audit/about.ts'
import { about as idempotencyRecords } from './workspace/idempotency-records/about.ts'
import { about as snapshots } from './workspace/snapshots/about.ts'

/** Every room with tables of workspaces, or with sealed values. `npm run check` names a room that is missing. */
export const ROOMS = {
  aiProviders,
  ingestKeys,
  quarantine,
  webhooks,
  destinations,
  mails,
  forwarders,
  sources,
  wsTriggers,
  audit,
  idempotencyRecords,
  snapshots,
} as const satisfies Readonly<Record<string, About>>

type Tables<Of> = Of extends { readonly tables: infer All } ? All : never
type Sealed<All> = {
  [Name in keyof All]: All[Name] extends { readonly sealed: readonly (infer Column extends string)[] }
    ? `${Name & string}.${Column}`
    : never
}[keyof All]
type OfEach<All> = All extends unknown ? Sealed<All> : never

/** `webhooks.secret`: every column with sealed values. */
export type SealedColumn = OfEach<Tables<(typeof ROOMS)[keyof typeof ROOMS]>>

/** Every table, by name. */
export const TABLES: Readonly<Record<string, Table>> = Object.assign(
  {},
  ...Object.values(ROOMS).map(({ tables }) => tables),
)
