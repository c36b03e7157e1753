import { encodeId } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import type { EmailText } from '../../../domain/people/email-text.ts'
import { refuse } from '../../../domain/refusal.ts'
import { inTransaction } from '../../../transaction.ts'
import { audit } from '../../workspace/audit/index.ts'
import { notifyOwners } from '../notices/index.ts'
import { refusedAs } from './present.ts'
import { lockRequest, setDecided, type SsoRequestRow } from './queries.ts'

type Decision = { readonly id: string; readonly status: 'approved' | 'declined'; readonly reason: string }

const USEFUL_MS = 7 * 86_400_000

/** Stores an operator's decision in the workspace of the request: `ctx` names both. The owners receive it by email. */
export function decideRequest(ctx: Ctx, { id, status, reason }: Decision): Promise<void> {
  return inTransaction(ctx, async (tx) => {
    const { workspaceId, actor } = tx
    if (actor.kind !== 'operator') throw refuse('agent_not_permitted')
    const held = await lockRequest(tx.db, { workspaceId, id })
    if (held === undefined) throw refuse('not_found')
    if (held.status !== 'pending') throw refusedAs(held.status)
    await setDecided(tx.db, { workspaceId, id, status, reason, userId: actor.userId, now: new Date(tx.clock.now()) })
    await audit(tx, {
      action: 'decide_sso_request',
      target: encodeId('ssoRequest', id),
      details: { status, reason },
    })
    await notifyOwners(tx, {
      kind: 'sso_request_decided',
      message: emailOf({ kinds: held.kinds, domains: held.domains, status, reason, url: tx.baseUrl() }),
      usefulMs: USEFUL_MS,
    })
  })
}

const ASKED = {
  sso: 'single sign-on with',
  organization: 'an organization for',
  google_workspace: 'a link to the Google Workspace of',
} as const

function emailOf({
  kinds,
  domains,
  status,
  reason,
  url,
}: Omit<Decision, 'id'> & Pick<SsoRequestRow, 'kinds' | 'domains'> & { url: string }): EmailText {
  const asked = `${kinds.map((kind) => ASKED[kind]).join(' and ')} ${domains.join(', ')}`
  return {
    subject: kinds.includes('sso') ? `Your SSO request was ${status}` : `Your request was ${status}`,
    lines: [`The operator ${status} your request for ${asked}.`, `Reason: ${reason}`],
    action: { label: 'Open Postroad', url },
  }
}
