import { readFileSync } from 'node:fs'
import { LIMITS } from '@postroad/contract'
import { z } from 'zod'
import { ConfigError, type Config } from './config.ts'
import { BURST_DEFAULT, DESCENDANTS_DEFAULT, WORK_DEFAULT, type Plans } from './domain/workspace/plan.ts'
import { UNPAID_PLAN } from './domain/workspace/subscription.ts'

const FILE = new URL('../plans.json', import.meta.url)

const Amount = z.int().min(0).nullable()

const Limits = z.strictObject({
  ingest_per_second: z.number().min(0).default(BURST_DEFAULT.ingest_per_second),
  ingest_burst: z.int().min(1).default(BURST_DEFAULT.ingest_burst),
  work_ms_per_second: z.number().min(0).default(WORK_DEFAULT.work_ms_per_second),
  work_burst_ms: z.int().min(1).default(WORK_DEFAULT.work_burst_ms),
  events_per_month: Amount,
  deliveries_per_month: Amount,
  retention_days: z.int().min(1),
  audit_retention_days: z.int().min(LIMITS.auditDaysMin).nullable().default(LIMITS.auditDaysMin),
  members: Amount,
  stream_connections: Amount,
  max_in_flight: z.int().min(LIMITS.maxInFlightMin).max(LIMITS.maxInFlightMax).nullable().default(null),
  descendants_per_event: Amount.default(DESCENDANTS_DEFAULT),
})

const File = z.object({ self_hosted: Limits }).catchall(Limits)

/** Reads the operator's plans, once. An invalid file, or a price of a plan that is not in it, stops the start. */
export function readPlans({ STRIPE_PRICES: prices }: Pick<Config, 'STRIPE_PRICES'>): Plans {
  const read = File.safeParse(JSON.parse(readFileSync(FILE, 'utf8')))
  if (!read.success) throw new Error(`plans.json is invalid: ${z.prettifyError(read.error)}`)
  const needed = prices === undefined ? [] : [...Object.keys(prices), UNPAID_PLAN]
  const missing = needed.find((name) => !Object.hasOwn(read.data, name))
  if (missing !== undefined)
    throw new ConfigError(
      `STRIPE_PRICES is set, so plans.json must have its plans, and the plan ${UNPAID_PLAN} for workspaces whose subscription ended. It has no plan ${missing}.`,
    )
  return read.data
}
