import type { DestinationKind } from '@postroad/contract'
import type { Deps } from '../../../context.ts'
import { createCallSender } from './calls.ts'
import { createHttpSender } from './http.ts'
import { createBatchSender } from './http-batches.ts'
import { createLinkSender } from './over-links.ts'
import { createS3Sender } from './s3.ts'
import { SNS } from './sns.ts'
import { SQS } from './sqs.ts'
import { createPubsub } from './pubsub.ts'
import type { Prepared, SendPrepared } from './types.ts'

export type Senders = {
  readonly of: Readonly<Record<DestinationKind, SendPrepared>>
  /** Sends incomplete batches immediately, because the process is about to stop. */
  readonly endWaits: () => void
}

/** The sender of each kind of destination. */
export function createSenders(deps: Deps): Senders {
  const http = createHttpSender(deps)
  const overLinks = createLinkSender(deps)
  const s3 = createS3Sender(deps)
  const batches = createBatchSender(deps, http)
  const of = {
    http: (prepared: Prepared) => (prepared.target.batch === undefined ? http : batches.send)(prepared),
    postroad: http,
    postgres: overLinks,
    redis_stream: overLinks,
    amqp: overLinks,
    nats: overLinks,
    kafka: overLinks,
    smtp: overLinks,
    sqs: createCallSender(deps, SQS),
    sns: createCallSender(deps, SNS),
    pubsub: createCallSender(deps, createPubsub()),
    s3: s3.send,
  }
  const endWaits = (): void => {
    s3.endWaits()
    batches.endWaits()
  }
  return { of, endWaits }
}
