import { encodeId } from '@postroad/contract'
import { asSystem } from '../../../../as-system.ts'
import type { Deps } from '../../../../context.ts'
import { dayText, type EmailText } from '../../../../domain/people/email-text.ts'
import { monthOf, nextMonthAt } from '../../../../domain/workspace/month.ts'
import { inTransaction } from '../../../../transaction.ts'
import { audit } from '../../../workspace/audit/index.ts'
import { notifyManagers } from '../../../people/notices/index.ts'
import { recordNotified } from './queries.ts'

/** Once a month: an audit row and an email to the owners and admins, in the transaction that records that. */
export function notifyUsedUp(deps: Deps, { workspaceId, max }: { workspaceId: string; max: number }): Promise<void> {
  const now = deps.clock.now()
  const month = monthOf(now)
  return inTransaction(asSystem(deps, { workspaceId, projectId: '', requestId: 'allowance' }), async (tx) => {
    if ((await recordNotified(tx.db, { workspaceId, month, now: new Date(now) })) === 0) return
    await audit(tx, {
      action: 'delivery_allowance_used',
      target: encodeId('workspace', workspaceId),
      details: { month: month.slice(0, 7), deliveries: max },
    })
    await notifyManagers(tx, {
      kind: 'delivery_allowance_used',
      message: emailOf({ max, upgradeUrl: deps.upgradeUrl(), nextMonth: nextMonthAt(now) }),
      usefulMs: nextMonthAt(now) - now,
    })
  })
}

function emailOf({ max, upgradeUrl, nextMonth }: { max: number; upgradeUrl: string; nextMonth: number }): EmailText {
  return {
    subject: 'Your monthly delivery quota is used up',
    lines: [
      `Your plan allows ${max.toLocaleString('en')} deliveries a month, and they are used up. Postroad still accepts and stores events, but their deliveries are paused.`,
      `Nothing is lost: Postroad sends the paused deliveries, oldest first, when the next month starts on ${dayText(nextMonth)}, or as soon as you have a larger plan.`,
    ],
    action: { label: 'Change the plan', url: upgradeUrl },
  }
}
