import type { EventOrigin, RecordFrame, RouteAnswer, Routes } from '@postroad/contract'
import type { Client } from '@postroad/sdk'
import type { Answer, NoAnswer, Outgoing } from './forward.ts'

type Endpoint = RouteAnswer<Routes['webhooks']['list']>['webhooks'][number]

/** An event of the stream, as the views show it. */
export type Heard = {
  readonly id: string
  readonly submission: string
  readonly receivedAt: string
  readonly dataset: string
  /** The slug of the endpoint that received it; null: it arrived with an ingest key, or has an origin. */
  readonly endpoint: string | null
  /** The part of the project that made it; null: a sender sent it. */
  readonly origin: EventOrigin
  /** How far its sender is proven; null: an older server does not send it. */
  readonly verification: NonNullable<RecordFrame['verification']> | null
  readonly title: string | null
}

/** An event that `listen` forwards, and its newest answer. */
export type Forwarded = Heard & {
  readonly out: Outgoing
  result: Answer | NoAnswer | undefined
  /** How often it was sent. */
  sends: number
}

export type Naming = (record: RecordFrame) => Heard

/** Names events by their endpoints, which are read once; a later endpoint is shown by its id. */
export async function namingOf(client: Client): Promise<Naming> {
  const { TITLE_MEMBERS } = await import('@postroad/contract')
  const { valueAt } = await import('@postroad/contract/filter')
  const endpoints = new Map<string, Endpoint>()
  for await (const endpoint of client.webhooks.list({ limit: 200 })) endpoints.set(endpoint.id, endpoint)
  const titleOf = ({ header_title, webhook_id, data }: RecordFrame): string | null => {
    if (header_title !== null && header_title !== undefined) return header_title
    const setting = endpoints.get(webhook_id ?? '')?.event_title ?? null
    const paths = setting === null ? TITLE_MEMBERS : 'path' in setting ? [setting.path] : []
    for (const path of paths) {
      const value = valueAt(data, path)
      if (typeof value === 'string' || typeof value === 'number') return String(value)
    }
    return null
  }
  return (record) => ({
    id: record.id,
    submission: record.submission_id ?? '',
    receivedAt: record.received_at,
    dataset: record.dataset,
    endpoint: endpoints.get(record.webhook_id ?? '')?.slug ?? record.webhook_id ?? null,
    origin: record.origin ?? null,
    verification: record.verification ?? null,
    title: titleOf(record),
  })
}
