import type { DestinationAuth, DestinationConfig } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { guardedUrl, guardSentence } from '../../../domain/delivery/destination-kind.ts'
import { refuse } from '../../../domain/refusal.ts'

type Sent = { readonly url?: string | undefined; readonly auth?: DestinationAuth | undefined }

/**
 * Refuses plain http to a host that is not in OUTBOUND_ALLOW, whatever address its name resolves to. Skips URLs that are saved already:
 * they are checked at every use. It resolves names, so it runs before the transaction.
 */
export async function checkPlainHttp(
  ctx: Pick<Ctx, 'validatePlainHttp'>,
  { config, sent, held }: { config: DestinationConfig; sent: Sent; held: readonly string[] },
): Promise<void> {
  const tokenUrl = sent.auth?.kind === 'oauth2_client_credentials' ? sent.auth.token_url : undefined
  const places = [
    { member: 'url', url: sent.url, guarded: sent.url && guardedUrl(config, sent.url) },
    { member: 'auth.token_url', url: tokenUrl, guarded: tokenUrl },
  ]
  const refused = await Promise.all(
    places.map(async ({ member, url, guarded }) => {
      if (url === undefined || guarded === undefined || held.includes(url)) return []
      const why = await ctx.validatePlainHttp(guarded)
      return why === undefined ? [] : [`${member}: ${guardSentence(config, why)}`]
    }),
  )
  const [first] = refused.flat()
  if (first !== undefined) throw refuse('invalid_url', first)
}
