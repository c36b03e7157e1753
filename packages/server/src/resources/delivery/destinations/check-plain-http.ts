import type { DestinationAuth } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { refuse } from '../../../domain/refusal.ts'

type Sent = { readonly url?: string | undefined; readonly auth?: DestinationAuth | undefined }

/**
 * Refuses plain http to a host that is not in OUTBOUND_ALLOW, whatever address its name resolves to. Skips URLs that are saved already:
 * they are checked at every use. It resolves names, so it runs before the transaction.
 */
export async function checkPlainHttp(
  ctx: Pick<Ctx, 'validatePlainHttp'>,
  { sent, held }: { sent: Sent; held: readonly string[] },
): Promise<void> {
  const tokenUrl = sent.auth?.kind === 'oauth2_client_credentials' ? sent.auth.token_url : undefined
  const places = [
    { member: 'url', url: sent.url },
    { member: 'auth.token_url', url: tokenUrl },
  ]
  const refused = await Promise.all(
    places.map(async ({ member, url }) => {
      const why = url === undefined || held.includes(url) ? undefined : await ctx.validatePlainHttp(url)
      return why === undefined ? [] : [`${member}: ${why}`]
    }),
  )
  const [first] = refused.flat()
  if (first !== undefined) throw refuse('invalid_url', first)
}
