import { z } from 'zod'
import { DatasetName, Timestamp } from './list.ts'

/** The body of every delivery: exactly these members in this order, and the same bytes on every attempt and replay. */
export const Envelope = z.object({
  id: z.string().describe('The record (event) id, the same on every retry and replay. Use it to detect duplicates.'),
  dataset: DatasetName,
  received_at: Timestamp,
  data: z.unknown().describe("The record's payload as routed."),
})

/** Headers of a delivery (decisions §6), by their meaning. */
export const DELIVERY_HEADERS = {
  eventId: 'Service-Event-Id',
  deliveryId: 'Service-Delivery-Id',
  attempt: 'Service-Attempt',
  dataset: 'Service-Dataset',
  hops: 'Service-Hops',
  chain: 'Service-Chain',
  batchId: 'Service-Batch-Id',
  batchSize: 'Service-Batch-Size',
} as const

/** The response of ingest: 201, or 200 on a repeat. */
export const Accepted = z.object({
  id: z.string().describe('The id of the submission.'),
  status: z.literal('accepted'),
  dataset: z.string().nullable(),
  received_at: Timestamp,
  duplicate: z.boolean(),
  records: z.array(z.object({ id: z.string(), dataset: z.string() })),
  routed: z
    .array(z.object({ rule_id: z.string(), rule: z.string(), dataset: z.string(), record_id: z.string() }))
    .optional()
    .describe('Present on POST /v1/ingest/{ingest_key}; empty when no rule matched.'),
})
export type Accepted = z.infer<typeof Accepted>
