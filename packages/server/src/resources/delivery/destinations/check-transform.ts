import type { BodyForm, DestinationConfig } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { batchOf, takesRequests } from '../../../domain/delivery/destination-kind.ts'
import { refuse } from '../../../domain/refusal.ts'
import { lockTransform } from '../transforms/index.ts'

type Settings = {
  readonly transform_id: string | null
  readonly config: DestinationConfig
  readonly body: BodyForm
  readonly payload_template: unknown
}

/** Refuses a transform beside settings that would make it have no effect. */
export function checkTransform({ transform_id, config, body, payload_template }: Settings): void {
  if (transform_id === null) return
  if (!takesRequests(config))
    throw refuse(
      'invalid_request',
      `transform_id: a transform makes HTTP requests, and a destination of the kind ${config.kind} gets messages; send null.`,
    )
  if (payload_template !== null)
    throw refuse('invalid_request', 'transform_id and payload_template exclude each other; send null for one of them.')
  if (batchOf(config) !== undefined)
    throw refuse('invalid_request', 'transform_id: a transform makes one request of one event; leave config.batch out.')
  if (body !== 'envelope' && body !== 'data')
    throw refuse('invalid_request', `transform_id: a transform changes the body envelope or data, not ${body}.`)
}

/** Refuses a transform that the project does not have, and locks any other one against deletion until the transaction ends. */
export async function lockTransformOf(tx: Ctx, id: string | null): Promise<void> {
  if (id !== null && !(await lockTransform(tx.db, { ...tx, id, against: 'deletion' })))
    throw refuse('invalid_request', 'transform_id: this project has no transform with this id.')
}
