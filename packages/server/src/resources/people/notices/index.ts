import type { Ctx } from '../../../context.ts'
import type { EmailText } from '../../../domain/people/email-text.ts'
import { queueMail } from '../mails/index.ts'
import { listManagers, listOwners } from './queries.ts'

type Notice = {
  /** The subject of the notice, for the log: `destination_disabled`. */
  readonly kind: string
  readonly message: EmailText
  /** The time for which the notice is useful; it is not sent later. */
  readonly usefulMs: number
}

/**
 * Queues one email to each owner and admin of the workspace, in the caller's transaction. Any room may call it: it only reads addresses
 * and queues emails.
 */
export async function notifyManagers(tx: Ctx, { kind, message, usefulMs }: Notice): Promise<void> {
  for (const { email } of await listManagers(tx.db, tx.workspaceId)) {
    // oxlint-disable-next-line no-await-in-loop -- one transaction has one connection
    await queueMail(tx, { kind, to: email, message, usefulMs })
  }
}

/** Like `notifyManagers`, to the owners alone. */
export async function notifyOwners(tx: Ctx, { kind, message, usefulMs }: Notice): Promise<void> {
  for (const { email } of await listOwners(tx.db, tx.workspaceId)) {
    // oxlint-disable-next-line no-await-in-loop -- one transaction has one connection
    await queueMail(tx, { kind, to: email, message, usefulMs })
  }
}
