import type { Ctx } from '../../../context.ts'
import type { Letter } from '../../../domain/people/letter.ts'
import { queueMail } from '../mails/index.ts'
import { listManagers } from './queries.ts'

type Notice = {
  /** What the notice is about, for the log: `destination_disabled`. */
  readonly kind: string
  readonly letter: Letter
  /** For how long anybody has a use for it. It is not sent later. */
  readonly usefulMs: number
}

/**
 * Queues one mail to each owner and admin of the workspace, in the caller's transaction. Any room may call it: it reads
 * addresses and queues mail, and knows nothing of what happened.
 */
export async function notifyManagers(tx: Ctx, { kind, letter, usefulMs }: Notice): Promise<void> {
  for (const { email } of await listManagers(tx.db, tx.workspaceId)) {
    // oxlint-disable-next-line no-await-in-loop -- one transaction has one connection
    await queueMail(tx, { kind, to: email, letter, usefulMs })
  }
}
