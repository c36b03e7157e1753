import { encodeId } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { isInvited } from '../invites/index.ts'
import { findUserByEmail, insertUser } from '../users/index.ts'

/** Whether an unknown address may become an account, because it has an invite. */
export function mayBegin(tx: Pick<Ctx, 'database' | 'clock'>, email: string): Promise<boolean> {
  return isInvited(tx.database, { email, now: new Date(tx.clock.now()) })
}

/** The account of an address that was just proven: the existing one, or a new one without a workspace. */
export async function accountOfProven(
  tx: Ctx,
  { email, name }: { email: string; name?: string | undefined },
): Promise<string> {
  const found = await findUserByEmail(tx.db, email)
  if (found !== undefined) return found.id
  const id = tx.uuid()
  await insertUser(tx.db, { id, name: name ?? email.split('@')[0] ?? email, email, now: new Date(tx.clock.now()) })
  tx.log.info('account.created', { user: encodeId('user', id), by: 'invite' })
  return id
}
