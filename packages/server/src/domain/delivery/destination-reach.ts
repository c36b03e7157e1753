import type { HeldAuth } from './destination-auth.ts'

/** What is held of a destination's TLS and proxy, sealed as a whole. */
export type HeldTls = {
  readonly certificate?: string | undefined
  readonly private_key?: string | undefined
  readonly ca?: string | undefined
}
export type HeldProxy = {
  readonly url: string
  readonly username?: string | undefined
  readonly password?: string | undefined
}

/** How a destination is reached beyond its URL. */
export type Reach = { readonly auth: HeldAuth | null; readonly tls: HeldTls | null; readonly proxy: HeldProxy | null }

/** The texts that were sealed, or null where nothing was. */
export type ReachTexts = { readonly [Part in keyof Reach]: string | null }

/** What they say: they are written by `JSON.stringify` of the same, so nothing is checked again. */
export function reachOf({ auth, tls, proxy }: ReachTexts): Reach {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- sealed values open only as they were sealed
  return { auth: valueOf(auth), tls: valueOf(tls), proxy: valueOf(proxy) } as Reach
}

const valueOf = (text: string | null): unknown => (text === null ? null : JSON.parse(text))
