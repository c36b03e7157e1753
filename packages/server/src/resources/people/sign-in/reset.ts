import { encodeId } from '@postroad/contract'
import { refuse } from '../../../domain/refusal.ts'
import { lookUpToken, useToken } from '../one-time-tokens/index.ts'
import { hashNewPassword } from '../passwords/index.ts'
import { findUser } from '../users/index.ts'
import { replacePassword } from '../account/index.ts'
import { atTheDoor, throttleNetwork, welcome, type Visit } from './visit.ts'

/** Sets a new password with an emailed link, ends every session, and signs in again. A refused password does not use the link up. */
export async function resetPassword(
  visit: Visit,
  { token, newPassword }: { token: string; newPassword: string },
): Promise<string> {
  await throttleNetwork(visit)
  const link = { purpose: 'reset_password', token, now: visit.clock.now() } as const
  const userId = (await lookUpToken(visit.database, link))?.user_id
  const user = userId === undefined || userId === null ? undefined : await findUser(visit.database, userId)
  if (user === undefined) throw refuse('link_over')
  const hash = await hashNewPassword(visit, { password: newPassword, email: user.email })
  return atTheDoor(visit, async (tx) => {
    if ((await useToken(tx.db, link)) === undefined) throw refuse('link_over')
    await replacePassword(tx, { user, hash, keep: null })
    return welcome(visit, tx, {
      userId: user.id,
      method: 'link',
      did: { action: 'reset_password', target: encodeId('user', user.id) },
    })
  })
}
