import { readFileSync } from 'node:fs'
import { LIMITS } from '@postroad/contract'
import { z } from 'zod'
import type { Plans } from './domain/workspace/plan.ts'

const FILE = new URL('../plans.json', import.meta.url)

const INGEST_PER_SECOND = 500
const INGEST_BURST = 1_000

const Amount = z.int().min(0).nullable()

const Limits = z.strictObject({
  ingest_per_second: z.number().min(0).default(INGEST_PER_SECOND),
  ingest_burst: z.int().min(1).default(INGEST_BURST),
  events_per_month: Amount,
  deliveries_per_month: Amount,
  retention_days: z.int().min(1),
  audit_retention_days: z.int().min(LIMITS.auditDaysMin).nullable().default(LIMITS.auditDaysMin),
  members: Amount,
  stream_connections: Amount,
})

const File = z.object({ self_hosted: Limits }).catchall(Limits)

/** Reads the operator's plans, once. An invalid file stops the start with its errors. */
export function readPlans(): Plans {
  const read = File.safeParse(JSON.parse(readFileSync(FILE, 'utf8')))
  if (!read.success) throw new Error(`plans.json is invalid: ${z.prettifyError(read.error)}`)
  return read.data
}
