import { encodeId } from '@postroad/contract'
import { asSystem } from '../../../as-system.ts'
import type { Deps } from '../../../context.ts'
import type { EmailText } from '../../../domain/people/email-text.ts'
import type { Db } from '../../../platform/db.ts'
import { audit } from '../../workspace/audit/index.ts'
import { notifyManagers } from '../../people/notices/index.ts'
import { findDestination } from './queries.ts'

const USEFUL_MS = 7 * 86_400_000

/** `gone`: the destination answered 410; `failing`: no delivery has succeeded for days. */
export type DisabledDestination = {
  readonly workspaceId: string
  readonly projectId: string
  readonly destinationId: string
  readonly attemptId: string
  readonly reason: 'gone' | 'failing'
}

/**
 * No member disabled the destination, so Postroad emails the owners and admins. The email and the audit row, which names the last
 * attempt, are written in the transaction that settles that attempt.
 */
export async function notifyDisabled(deps: Deps, db: Db, at: DisabledDestination): Promise<void> {
  const { workspaceId, projectId, destinationId, attemptId, reason } = at
  const tx = { ...asSystem(deps, { workspaceId, projectId, requestId: attemptId }), db }
  const details = { reason, attempt: encodeId('attempt', attemptId) }
  await audit(tx, { action: 'disable_destination', target: encodeId('destination', destinationId), details })
  const destination = await findDestination(db, { workspaceId, projectId, id: destinationId })
  const message = emailOf(destination?.name ?? '', reason)
  await notifyManagers(tx, { kind: 'destination_disabled', message, usefulMs: USEFUL_MS })
}

function emailOf(name: string, reason: DisabledDestination['reason']): EmailText {
  const why = {
    gone: 'It returned 410 Gone, which means that it accepts no more deliveries.',
    failing: 'No delivery to it has succeeded in the last five days.',
  }
  return {
    subject: `The destination ${name} was turned off`,
    lines: [
      `Postroad has turned off the destination ${name}. ${why[reason]}`,
      'Nothing is lost: Postroad pauses the deliveries that wait for it and those of new events. When it works again, turn it on, and Postroad sends them all.',
    ],
  }
}
