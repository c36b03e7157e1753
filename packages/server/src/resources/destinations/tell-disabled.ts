import { encodeId } from '@postroad/contract'
import { asSystem } from '../../as-system.ts'
import type { Deps } from '../../context.ts'
import type { Letter } from '../../domain/letter.ts'
import type { Db } from '../../platform/db.ts'
import { audit } from '../audit/index.ts'
import { queueMail } from '../mails/index.ts'
import { listManagers } from '../members/index.ts'
import { findDestination } from './queries.ts'

const USEFUL_MS = 7 * 86_400_000

type Disabled = Parameters<Deps['tellDisabled']>[1]

/**
 * No member switched it off, so its owners and admins hear of it by mail, and the audit row names the attempt that ended it:
 * all in the transaction that settles that attempt.
 */
export async function tellDisabled(deps: Deps, db: Db, at: Disabled): Promise<void> {
  const { workspaceId, projectId, destinationId, attemptId, reason } = at
  const tx = { ...asSystem(deps, { workspaceId, projectId, requestId: attemptId }), db }
  const details = { reason, attempt: encodeId('attempt', attemptId) }
  await audit(tx, { action: 'disable_destination', target: encodeId('destination', destinationId), details })
  const destination = await findDestination(db, { workspaceId, projectId, id: destinationId })
  for (const { email } of await listManagers(db, workspaceId)) {
    // oxlint-disable-next-line no-await-in-loop -- one transaction has one connection
    await queueMail(tx, { kind: 'destination_disabled', to: email, letter: letterOf(destination?.name ?? '', reason), usefulMs: USEFUL_MS })
  }
}

function letterOf(name: string, reason: Disabled['reason']): Letter {
  const why = { gone: 'It answered 410 Gone, which says that it wants no more deliveries.', failing: 'Nothing that was sent to it in the last five days has succeeded.' }
  return {
    subject: `The destination ${name} was switched off`,
    lines: [
      `Postroad has switched off the destination ${name}. ${why[reason]}`,
      'Nothing is lost: what waits for it, and what still comes in for it, is paused. When it works again, switch it on; all of that is sent then.',
    ],
  }
}
