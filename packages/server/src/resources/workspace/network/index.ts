import { encodeId } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { compileIpAllowlist } from '../../../domain/ip-range.ts'
import { refuse } from '../../../domain/refusal.ts'
import { inTransaction } from '../../../transaction.ts'
import type { Room } from '../../verbs.ts'
import { audit } from '../audit/index.ts'
import { clearList, findNetwork, putNetwork, type NetworkRow } from './queries.ts'

export { admitFrom } from './admit-from.ts'

export const network: Room<'network'> = {
  get: async (ctx) => ({ network: present(ctx, await findNetwork(ctx.db, ctx.workspaceId)) }),

  /** The list must admit the person who saves it, so that a typing error does not lock them out. */
  update: (ctx, { ip_allowlist: list }) => {
    if (compileIpAllowlist(list)?.(ctx.ip) === false) throw refuse('own_address_missing', lockOutSentence(ctx))
    return inTransaction(ctx, async (tx) => {
      const { workspaceId, actor } = tx
      const userId = 'userId' in actor ? actor.userId : null
      const held = await findNetwork(tx.db, workspaceId)
      const row = await putNetwork(tx.db, { workspaceId, list, now: new Date(tx.clock.now()), userId })
      await audit(tx, {
        action: 'update_network_access',
        target: encodeId('workspace', workspaceId),
        details: { ip_allowlist: list },
        change: { before: { ip_allowlist: held?.ip_allowlist ?? [] }, after: { ip_allowlist: list } },
      })
      return { network: present(tx, row) }
    })
  },
}

/** For operators: opens a workspace to all addresses if its members locked themselves out. An open one stays open. */
export function clearNetwork(ctx: Ctx): Promise<void> {
  return inTransaction(ctx, async (tx) => {
    const { workspaceId } = tx
    if ((await clearList(tx.db, { workspaceId, now: new Date(tx.clock.now()) })) === 0) return
    await audit(tx, { action: 'clear_network_access', target: encodeId('workspace', workspaceId) })
  })
}

function lockOutSentence({ ip }: Ctx): string {
  return ip === undefined
    ? 'The address that you send from is unknown, so every list would lock you out. Ask the operator to check TRUST_PROXY.'
    : `The list does not contain ${ip}, the address that you send from, so it would lock you out. Add that address, then save the list again.`
}

function present({ ip }: Ctx, row: NetworkRow | undefined) {
  const by = row?.updated_by ?? null
  return {
    ip_allowlist: [...(row?.ip_allowlist ?? [])],
    your_address: ip ?? null,
    updated_at: row?.updated_at.toISOString() ?? null,
    updated_by: by === null ? null : encodeId('user', by),
  }
}
